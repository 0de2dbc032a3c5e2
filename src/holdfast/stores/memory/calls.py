"""The calls port in memory."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from holdfast.errors import NotFound
from holdfast.model.reply import MINUTE, QUARTER, By, Call, Spent
from holdfast.model.span import OPEN

from .state import Shelf


class MemoryCalls:
    """The calls port."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def record(self, call: Call, *others: Call) -> Call:
        with self._shelf.lock:
            for one in others:
                self._shelf.session(one.session)
            made = record(self._shelf, call)
            for one in others:
                record(self._shelf, one)
        return made

    async def calls(self, session: str, *, after: str = "", limit: int = 256) -> tuple[Call, ...]:
        with self._shelf.lock:
            self._shelf.session(session)
            own = [call for call in self._shelf.calls.values() if call.session == session]
        first = next((n for n, call in enumerate(own, 1) if call.id == after), 0)
        return tuple(own[first:][:limit])

    async def newest(self, session: str, limit: int = 8) -> tuple[Call, ...]:
        begun = await self.calls(session, limit=2**31)
        return begun[::-1][:limit]

    async def spent(
        self, session: str = "", *, since: int = 0, until: int = OPEN, by: Sequence[By] = ()
    ) -> tuple[Spent, ...]:
        own = {session}
        with self._shelf.lock:
            if session:
                self._shelf.session(session)
                own |= {
                    one.id for one in self._shelf.sessions.values()
                    if one.parent == session and not one.fork
                }  # fmt: skip
            known = [call for call in self._shelf.calls.values() if since <= call.started < until]
        found = {} if by else {(): Spent()}
        for call in [call for call in known if not session or call.session in own]:
            apart = {name: _apart(call, name) for name in by}
            key = tuple(apart.values())
            found[key] = _with(found.get(key) or Spent(**apart), call)
        return tuple(found.values())

    async def keep(self, session: str, given: bytes) -> str:
        hash = sha256(given).hexdigest()
        with self._shelf.lock:
            self._shelf.session(session)
            self._shelf.givens[session, hash] = given
        return hash

    async def kept(self, session: str, hash: str) -> bytes:
        with self._shelf.lock:
            self._shelf.session(session)
            if (session, hash) not in self._shelf.givens:
                raise NotFound("kept text", hash)
            return self._shelf.givens[session, hash]


def _apart(call: Call, name: By) -> Any:
    lasts = {"quarter": QUARTER, "minute": MINUTE}.get(name)
    return call.started // lasts * lasts if lasts else getattr(call, name)


def _with(sum: Spent, call: Call) -> Spent:
    used = replace(call.usage, reasoning=0, cache_write_long=0)
    return replace(
        sum,
        calls=sum.calls + 1,
        unpriced=sum.unpriced + (call.cost is None),
        cost=sum.cost + (call.cost or 0),
        usage=sum.usage + used,
        milliseconds=sum.milliseconds + max((call.ended or call.started) - call.started, 0),
    )


def record(shelf: Shelf, call: Call) -> Call:
    """Keep one row for one call of a session: known by its id, or as a reply that is told again."""
    shelf.session(call.session)
    known = [
        row
        for row in shelf.calls.values()
        if row.session == call.session and (row.id == call.id or row.is_retold(call))
    ]
    for row in reversed(known):
        call = row.completed(call)
    for row in known[1:]:
        del shelf.calls[row.session, row.id]
    shelf.calls[call.session, call.id] = call
    return call
