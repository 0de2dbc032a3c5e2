"""The notes port in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from holdfast.errors import Changed
from holdfast.model.note import Cursor, NoteRecord, RecordKind, hash_of

from .state import Shelf

_USED: tuple[RecordKind, ...] = ("note", "rollout")


class MemoryNotes:
    """The notes port."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def commit(
        self,
        records: Sequence[NoteRecord] = (),
        *,
        remove: Sequence[NoteRecord] = (),
        cursor: Cursor | None = None,
        expect: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        with self._shelf.lock:
            notes = self._shelf.notes
            for (scope, file), hash in (expect or {}).items():
                known = notes.get((scope, "text", file))
                if (hash_of(known.text) if known else "") != hash:
                    raise Changed(f"the note {file} was changed meanwhile; read it again")
            if cursor:
                self._shelf.session(cursor.session)
                before = self._shelf.note_cursors.get(cursor.session, 0)
                self._shelf.note_cursors[cursor.session] = max(before, cursor.seq)
            for one in remove:
                notes.pop((one.scope, one.kind, one.id), None)
            for one in records:
                key = (one.scope, one.kind, one.id)
                old = notes.get(key, one)
                notes[key] = replace(
                    one, used=max(old.used, one.used), uses=max(old.uses, one.uses)
                )

    async def records(self, scope: str, kind: RecordKind) -> tuple[NoteRecord, ...]:
        return self._found(lambda one: (one.scope, one.kind) == (scope, kind))

    async def about(self, session: str) -> tuple[NoteRecord, ...]:
        return self._found(lambda one: any(each.session == session for each in one.evidence))

    def _found(self, fits: Callable[[NoteRecord], bool]) -> tuple[NoteRecord, ...]:
        with self._shelf.lock:
            found = [one for one in self._shelf.notes.values() if fits(one)]
        return tuple(sorted(found, key=lambda one: (one.created, one.id)))

    async def scopes(self) -> tuple[str, ...]:
        with self._shelf.lock:
            return tuple(sorted({scope for scope, _, _ in self._shelf.notes}))

    async def used(self, scope: str, ids: Sequence[str], at: int) -> None:
        with self._shelf.lock:
            keys: list[tuple[str, RecordKind, str]] = [
                (scope, kind, id) for kind in _USED for id in ids
            ]
            for key in keys:
                if one := self._shelf.notes.get(key):
                    used = replace(one, used=max(one.used, at), uses=one.uses + 1)
                    self._shelf.notes[key] = used

    async def cursor(self, session: str) -> int:
        with self._shelf.lock:
            one, last, seqs = self._shelf.session(session), 2**62, [0]
            while True:
                seqs.append(min(self._shelf.note_cursors.get(one.id, 0), last))
                if not one.fork:
                    return max(seqs)
                last, one = min(last, one.fork), self._shelf.session(one.parent)


def erase_notes(shelf: Shelf, session: str) -> None:
    """Take what was said in a session out of everything that is kept beside the notes."""
    shelf.note_cursors.pop(session, None)
    for key, one in list(shelf.notes.items()):
        if any(each.session == session for each in one.evidence):
            if one.kind == "note":
                left = tuple(each for each in one.evidence if each.session != session)
                shelf.notes[key] = replace(one, evidence=left)
            else:
                del shelf.notes[key]
