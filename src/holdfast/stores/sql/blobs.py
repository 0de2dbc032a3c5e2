"""The blobs port over SQL."""

from __future__ import annotations

from holdfast.errors import NotFound
from holdfast.stores.sql import rows
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.erase import sweep


class SqlBlobs:
    """Compressed content by its SHA-256."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def put(self, data: bytes) -> str:
        packed = rows.blob_row(data)
        with self._db.writing():
            self._db.run(rows.INSERT_BLOB, packed)
        return packed[0].hex()

    async def fetch(self, hash: str) -> bytes:
        found = self._db.rows("SELECT data FROM blobs WHERE hash = ?", (_key(hash),))
        if not found:
            raise NotFound("blob", hash)
        return rows.unpack(found[0][0])

    async def sweep(self) -> int:
        with self._db.writing():
            return sweep(self._db)


def _key(hash: str) -> bytes:
    try:
        return bytes.fromhex(hash)
    except ValueError:
        raise NotFound("blob", hash) from None
