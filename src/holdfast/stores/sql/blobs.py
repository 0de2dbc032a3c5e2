"""The blobs port over SQL."""

from __future__ import annotations

from holdfast.errors import NotFound
from holdfast.stores.sql import rows
from holdfast.stores.sql.database import Database

UNUSED = (
    "NOT EXISTS (SELECT 1 FROM parts WHERE parts.blob = blobs.hash) "
    "AND NOT EXISTS (SELECT 1 FROM file_changes WHERE file_changes.before = blobs.hash) "
    "AND NOT EXISTS (SELECT 1 FROM file_changes WHERE file_changes.after = blobs.hash)"
)
"""What is true of a blob that nothing refers to."""


def drop_unused(db: Database, blob: bytes) -> bool:
    """Remove a blob that nothing refers to; whether it was one."""
    if not db.rows(f"SELECT 1 FROM blobs WHERE hash = ? AND {UNUSED}", (blob,)):
        return False
    db.run("DELETE FROM blobs WHERE hash = ?", (blob,))
    return True


def sweep(db: Database) -> int:
    """Remove blobs that nothing refers to; how many went."""
    ((many,),) = db.rows(f"SELECT count(*) FROM blobs WHERE {UNUSED}")
    if many:
        db.run(f"DELETE FROM blobs WHERE {UNUSED}")
    return many


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
