"""The log port in memory."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.errors import Conflict, InvalidRequest
from holdfast.model import wire
from holdfast.model.log import Draft, Entry, Head, SessionInfo, kind_of, moved_on, said
from holdfast.model.message import Message, Record
from holdfast.model.reply import Call
from holdfast.model.span import OPEN, Spans, within
from holdfast.model.store import Expect

from .calls import record
from .state import Shelf


class MemoryLog:
    """The log port."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def append(
        self,
        session: str,
        drafts: Sequence[Draft],
        *,
        key: str = "",
        expect: Expect | None = None,
        call: Call | None = None,
    ) -> tuple[Entry, ...]:
        if not drafts:
            raise InvalidRequest("nothing to append; give at least one draft")
        with self._shelf.lock:
            at = self._shelf.session(session)
            if key and (made := self._shelf.made_with(session, key)):
                return _same(made, drafts, key)
            check(at, expect)
            if call:
                record(self._shelf, call)
            made = tuple(d.placed(session, seq, key) for seq, d in enumerate(drafts, at.head + 1))
            self._shelf.entries[session] += made
            self._shelf.sessions[session] = moved_on(at, made)
            self._shelf.unindexed += made
            if key:
                self._shelf.keys[session, key] = made[0].seq, len(made)
            return made

    def append_inline(self, session: str, draft: Draft, expect: Expect) -> Entry | None:
        return None

    async def read(
        self, session: str, spans: Spans, *, limit: int = 256, bare: bool = False
    ) -> tuple[Entry, ...]:
        with self._shelf.lock:
            found = tuple(e for e in self._shelf.line(session) if within(e.seq, spans))[:limit]
        return tuple(map(_bare, found)) if bare else found

    async def heads(self, session: str, spans: Spans, *, limit: int = 4096) -> tuple[Head, ...]:
        inside = await self.read(session, spans, limit=OPEN)
        return tuple(map(_head, inside[-limit:]))

    async def markers(self, session: str, *, before: int, limit: int = 64) -> tuple[Entry, ...]:
        with self._shelf.lock:
            line = self._shelf.line(session)
        return tuple(e for e in line if not e.is_message and e.seq < before)[-limit:]

    async def locate(self, session: str, entry: str) -> int | None:
        with self._shelf.lock:
            line = self._shelf.line(session)
        return next((e.seq for e in line if e.id == entry), None)


def _same(made: tuple[Entry, ...], drafts: Sequence[Draft], key: str) -> tuple[Entry, ...]:
    if [said(entry.body) for entry in made] != [said(draft.body) for draft in drafts]:
        raise InvalidRequest(
            f"the key {key!r} was used for something else; use a new key for new content"
        )
    return made


def check(session: SessionInfo, expect: Expect | None) -> None:
    expect = expect or Expect()
    if expect.message not in (None, session.last_message):
        raise Conflict(session.id, expect.message, session.last_message)
    if expect.marker not in (None, session.last_marker):
        raise Conflict(session.id, expect.marker, session.last_marker)


def _bare(entry: Entry) -> Entry:
    """An entry without its records, which stand behind its other parts."""
    body = entry.body
    if not isinstance(body, Message) or not any(isinstance(part, Record) for part in body.parts):
        return entry
    parts = tuple(part for part in body.parts if not isinstance(part, Record))
    return replace(entry, body=replace(body, parts=parts), counts=entry.counts[: len(parts)])


def _head(entry: Entry) -> Head:
    body = entry.body
    parts = body.parts if isinstance(body, Message) else ()
    return Head(
        id=entry.id,
        seq=entry.seq,
        kind=kind_of(body),
        role=body.role if isinstance(body, Message) else "",
        created=entry.created,
        kinds=tuple(map(kind_of, parts)),
        sizes=tuple(len(wire.encode(part)) for part in parts),
        counts=entry.counts,
    )
