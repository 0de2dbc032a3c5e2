"""The file history port over SQL."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from holdfast.errors import Corrupt
from holdfast.model import wire
from holdfast.model.workspace import FileChange, FileState, KeptFiles
from holdfast.stores.sql import rows
from holdfast.stores.sql.blobs import drop_unused
from holdfast.stores.sql.database import Database, Row
from holdfast.stores.sql.lineage import number_of_session, of_session

_COLUMNS = "f.number, f.at, f.created, f.before, f.after, f.root, f.data, s.id"
_SELECT = f"SELECT {_COLUMNS} FROM file_changes f JOIN sessions s ON s.n = f.session"
_OLD = "created < ? AND number <= ? AND (before IS NOT NULL OR after IS NOT NULL)"
_HELD = (
    "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(data)), 0) FROM blobs WHERE hash "
    "IN (SELECT before FROM file_changes WHERE {0} UNION SELECT after FROM file_changes WHERE {0})"
)


class SqlFileHistory:
    """Rows of `file_changes`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def record(
        self, session: str, changes: Sequence[FileChange], contents: Sequence[bytes] = ()
    ) -> tuple[FileChange, ...]:
        packed = [rows.blob_row(data) for data in contents]
        with self._db.writing():
            place = number_of_session(self._db, session)
            self._db.run_many(rows.INSERT_BLOB, packed)
            return tuple(self._put(place, session, change) for change in changes)

    def _put(self, place: int, session: str, change: FileChange) -> FileChange:
        bare = replace(change, session="", number=0, root="", at=0, created=0)
        values = (
            place, change.at, change.created, _kept(change, change.before),
            _kept(change, change.after), wire.encode(change.root), wire.encode(bare),
        )  # fmt: skip
        number = change.number
        if number:
            self._db.run("DELETE FROM file_changes WHERE number = ?", (number,))
            self._db.run("INSERT INTO file_changes VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                         (number, *values))  # fmt: skip
        else:
            self._db.run(
                "INSERT INTO file_changes (session, at, created, before, after, root, data) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            ((number,),) = self._db.rows("SELECT max(number) FROM file_changes")
        return replace(change, session=session, number=number)

    async def remove(self, session: str, numbers: Sequence[int]) -> None:
        with self._db.writing():
            place = number_of_session(self._db, session)
            for number in numbers:
                gone = contents_of(self._db, "session = ? AND number = ?", (place, number))
                self._db.run(
                    "DELETE FROM file_changes WHERE session = ? AND number = ?", (place, number)
                )
                for blob in gone:
                    drop_unused(self._db, blob)

    async def changes(
        self, session: str, *, after: int = 0, limit: int = 4096
    ) -> tuple[FileChange, ...]:
        found: list[Row] = []
        with self._db.reading():
            for segment in of_session(self._db, session):
                found += self._db.rows(
                    f"{_SELECT} WHERE f.session = ? AND f.at >= ? AND f.at <= ? AND f.number > ? "
                    "ORDER BY f.number LIMIT ?",
                    (segment.number, segment.first - 1, segment.last, after, limit),
                )
        unique = {row[0]: row for row in found}
        return tuple(_change(unique[number], session) for number in sorted(unique))[:limit]

    async def beside(
        self, session: str, root: str, *, after: int = 0, limit: int = 4096
    ) -> tuple[FileChange, ...]:
        with self._db.reading():
            found = self._db.rows(
                f"{_SELECT} WHERE f.root = ? AND f.number > ? AND s.id <> ? "
                "ORDER BY f.number LIMIT ?",
                (wire.encode(root), after, session, limit),
            )
        return tuple(_change(row, row[7]) for row in found)

    async def forget(self, before: int, keep: int) -> KeptFiles:
        with self._db.writing():
            newest = self._db.rows(
                "SELECT number FROM file_changes ORDER BY number DESC LIMIT 1 OFFSET ?", (keep,)
            )
            if not newest:
                return KeptFiles()
            bounds = (before, newest[0][0])
            old = self._db.rows(f"SELECT number, data FROM file_changes WHERE {_OLD}", bounds)
            blobs = contents_of(self._db, _OLD, bounds)
            for number, data in old:
                told = replace(_decoded(data), forgotten=True)
                self._db.run(
                    "UPDATE file_changes SET before = NULL, after = NULL, data = ? "
                    "WHERE number = ?",
                    (wire.encode(told), number),
                )
            return KeptFiles(changes=len(old), **self._dropped(blobs))

    def _dropped(self, blobs: list[bytes]) -> dict[str, int]:
        gone = {"contents": 0, "bytes": 0, "stored": 0}
        for blob in blobs:
            ((size, stored),) = self._db.rows(
                "SELECT coalesce(max(size), 0), coalesce(max(length(data)), 0) FROM blobs "
                "WHERE hash = ?",
                (blob,),
            )
            if drop_unused(self._db, blob):
                gone = {
                    "contents": gone["contents"] + 1,
                    "bytes": gone["bytes"] + size,
                    "stored": gone["stored"] + stored,
                }
        return gone

    async def kept(self, session: str = "") -> KeptFiles:
        with self._db.reading():
            where, values = "1", tuple[int, ...]()
            if session:
                where, values = "session = ?", (number_of_session(self._db, session),)
            ((changes, oldest),) = self._db.rows(
                "SELECT count(*), coalesce(min(created), 0) FROM file_changes "
                f"WHERE (before IS NOT NULL OR after IS NOT NULL) AND {where}",
                values,
            )
            ((many, size, stored),) = self._db.rows(_HELD.format(where), (*values, *values))
        return KeptFiles(changes=changes, contents=many, bytes=size, stored=stored, oldest=oldest)


def contents_of(db: Database, where: str, values: tuple[int, ...]) -> list[bytes]:
    """What these changes have in blobs."""
    found = db.rows(
        f"SELECT before FROM file_changes WHERE {where} UNION "
        f"SELECT after FROM file_changes WHERE {where}",
        (*values, *values),
    )
    return [blob for (blob,) in found if blob is not None]


def _kept(change: FileChange, state: FileState) -> bytes | None:
    held = state.holds and state.hash and not state.uncovered and not change.forgotten
    return bytes.fromhex(state.hash) if held else None


def _decoded(data: bytes) -> FileChange:
    try:
        return wire.decode(data, FileChange)
    except (*rows.GARBLED, msgspec.DecodeError) as garbled:
        raise Corrupt(f"a file's change cannot be read ({garbled}); run `holdfast doctor`") from (
            garbled
        )


def _change(row: Row, session: str) -> FileChange:
    number, at, created, _, _, root, data, _ = row
    try:
        directory = wire.decode(root, str)
    except rows.GARBLED as garbled:
        raise Corrupt(f"a file's change cannot be read ({garbled}); run `holdfast doctor`") from (
            garbled
        )
    told = _decoded(data)
    return replace(told, number=number, at=at, created=created, root=directory, session=session)
