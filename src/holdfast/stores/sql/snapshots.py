"""The snapshots port over SQL."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.stores.sql.database import Database
from holdfast.stores.sql.lineage import number_of_session, of_session

_SAVE = (
    "INSERT INTO snapshots VALUES (?, ?, ?, ?) ON CONFLICT (session, seq) DO UPDATE SET "
    "version = excluded.version, data = excluded.data"
)
_NEWEST = (
    "SELECT seq, data FROM snapshots WHERE session = ? AND seq <= ? AND version = ? "
    "ORDER BY seq DESC LIMIT 1"
)


class SqlSnapshots:
    """One row for each session and entry."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def save(
        self, session: str, seq: int, version: int, data: bytes, *, drop: Sequence[int] = ()
    ) -> None:
        with self._db.writing():
            number = number_of_session(self._db, session)
            self._db.run_many(
                "DELETE FROM snapshots WHERE session = ? AND seq = ?",
                [(number, place) for place in drop],
            )
            self._db.run(_SAVE, (number, seq, version, data))

    async def newest(self, session: str, upto: int, version: int) -> tuple[int, bytes] | None:
        found: list[tuple[int, bytes]] = []
        with self._db.reading():
            for segment in of_session(self._db, session):
                last = min(upto, segment.last)
                found += self._db.rows(_NEWEST, (segment.number, last, version))
        return max(((seq, bytes(data)) for seq, data in found), default=None)

    async def places(self, session: str) -> tuple[int, ...]:
        with self._db.reading():
            number = number_of_session(self._db, session)
            rows = self._db.rows(
                "SELECT seq FROM snapshots WHERE session = ? ORDER BY seq", (number,)
            )
        return tuple(seq for (seq,) in rows)
