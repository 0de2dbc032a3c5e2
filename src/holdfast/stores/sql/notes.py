"""The notes port over SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from holdfast.errors import Changed, Corrupt
from holdfast.model import wire
from holdfast.model.note import Cursor, NoteRecord, RecordKind, hash_of
from holdfast.stores.sql.database import Database, Row
from holdfast.stores.sql.lineage import number_of_session, of_session

_KEEP = (
    "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (scope, kind, id) DO UPDATE SET "
    "created = excluded.created, used = max(notes.used, excluded.used), "
    "uses = max(notes.uses, excluded.uses), data = excluded.data"
)
_THIS = "scope = ? AND kind = ? AND id = ?"
_COLUMNS = "n.id, n.used, n.uses, n.data"


class SqlNotes:
    """Rows of `notes`, and of the sessions they come from."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def commit(
        self,
        records: Sequence[NoteRecord] = (),
        *,
        remove: Sequence[NoteRecord] = (),
        cursor: Cursor | None = None,
        expect: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        with self._db.writing():
            for (scope, file), hash in (expect or {}).items():
                self._check(scope, file, hash)
            for one in remove:
                self._forget(_key(one))
            for one in records:
                self._keep(one)
            if cursor:
                number = number_of_session(self._db, cursor.session)
                self._db.run(
                    "INSERT INTO note_cursors VALUES (?, ?) ON CONFLICT (session) DO UPDATE SET "
                    "seq = max(note_cursors.seq, excluded.seq)",
                    (number, cursor.seq),
                )

    async def records(self, scope: str, kind: RecordKind) -> tuple[NoteRecord, ...]:
        with self._db.reading():
            found = self._db.rows(
                f"SELECT {_COLUMNS} FROM notes n WHERE scope = ? AND kind = ? ORDER BY created, id",
                (_bytes(scope), kind),
            )
        return tuple(_record(row) for row in found)

    async def about(self, session: str) -> tuple[NoteRecord, ...]:
        with self._db.reading():
            found = self._db.rows(
                f"SELECT {_COLUMNS} FROM note_evidence e JOIN notes n ON n.scope = e.scope AND "
                "n.kind = e.kind AND n.id = e.id WHERE e.session = ? ORDER BY n.created, n.id",
                (session,),
            )
        return tuple(_record(row) for row in found)

    async def scopes(self) -> tuple[str, ...]:
        with self._db.reading():
            found = self._db.rows("SELECT DISTINCT scope FROM notes ORDER BY scope")
        return tuple(bytes(scope).decode("utf-8", "surrogatepass") for (scope,) in found)

    async def used(self, scope: str, ids: Sequence[str], at: int) -> None:
        with self._db.writing():
            self._db.run_many(
                "UPDATE notes SET used = max(used, ?), uses = uses + 1 "
                "WHERE scope = ? AND kind IN ('note', 'rollout') AND id = ?",
                [(at, _bytes(scope), _bytes(id)) for id in ids],
            )

    async def cursor(self, session: str) -> int:
        seqs = [0]
        with self._db.reading():
            for segment in of_session(self._db, session):
                rows = self._db.rows(
                    "SELECT seq FROM note_cursors WHERE session = ?", (segment.number,)
                )
                seqs += [min(seq, segment.last) for (seq,) in rows]
        return max(seqs)

    def _check(self, scope: str, file: str, hash: str) -> None:
        found = self._db.rows(
            f"SELECT id, used, uses, data FROM notes WHERE {_THIS}",
            (_bytes(scope), "text", _bytes(file)),
        )
        now = hash_of(_record(found[0]).text) if found else ""
        if now != hash:
            raise Changed(f"the note {file} was changed meanwhile; read it again")

    def _forget(self, key: tuple[bytes, str, bytes]) -> None:
        self._db.run(f"DELETE FROM note_evidence WHERE {_THIS}", key)
        self._db.run(f"DELETE FROM notes WHERE {_THIS}", key)

    def _keep(self, one: NoteRecord) -> None:
        key = _key(one)
        self._db.run(_KEEP, (*key, one.created, one.used, one.uses, wire.encode(one)))
        self._db.run(f"DELETE FROM note_evidence WHERE {_THIS}", key)
        self._db.run_many(
            "INSERT INTO note_evidence VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [(evidence.session, *key) for evidence in one.evidence],
        )


def erase_notes(db: Database, session: str, number: int) -> None:
    """Take what was said in a session out of everything that is kept beside the notes."""
    db.run(
        "DELETE FROM notes WHERE kind <> 'note' AND EXISTS (SELECT 1 FROM note_evidence e WHERE "
        "e.session = ? AND e.scope = notes.scope AND e.kind = notes.kind AND e.id = notes.id)",
        (session,),
    )
    db.run("DELETE FROM note_evidence WHERE session = ?", (session,))
    db.run("DELETE FROM note_cursors WHERE session = ?", (number,))


def _key(one: NoteRecord) -> tuple[bytes, str, bytes]:
    return _bytes(one.scope), one.kind, _bytes(one.id)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _record(row: Row) -> NoteRecord:
    id, used, uses, data = row
    try:
        return replace(wire.decode(data, NoteRecord), used=used, uses=uses)
    except (msgspec.DecodeError, UnicodeError) as garbled:
        raise Corrupt(
            f"the row of note {bytes(id)!r} cannot be read ({garbled}); run `holdfast doctor`"
        ) from garbled
