"""The imports port in memory."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.import_batch import ImportBatch, Source
from holdfast.model.import_report import ImportState

from .calls import MemoryCalls
from .log import MemoryLog, check
from .sessions import MemorySessions
from .state import Shelf


class MemoryImports:
    """The imports port."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._sessions, self._log = MemorySessions(shelf), MemoryLog(shelf)
        self._calls = MemoryCalls(shelf)

    async def origin(self, agent: str, native: str) -> ImportState | None:
        with self._shelf.lock:
            return self._shelf.origins.get((agent, native))

    async def by_opening(self, opening: bytes) -> tuple[ImportState, ...]:
        with self._shelf.lock:
            order = list(self._shelf.sessions)
            found = [one for one in self._shelf.origins.values() if one.opening == opening]
        return tuple(sorted(found, key=lambda one: order.index(one.session)))

    async def keep(self, origin: ImportState) -> None:
        with self._shelf.lock:
            self._shelf.session(origin.session)
            self._shelf.origins[origin.agent, origin.native] = origin

    async def by_source(self, source: str) -> tuple[ImportState, ...]:
        with self._shelf.lock:
            into = {session for name, session in self._shelf.looks if name == source}
            return tuple(one for one in self._shelf.origins.values() if one.session in into)

    async def last_fingerprint(self, source: str) -> str:
        with self._shelf.lock:
            found = (look for (name, _), look in self._shelf.looks.items() if name == source)
            return next(found, "")

    async def sources(self, session: str) -> tuple[str, ...]:
        with self._shelf.lock:
            self._shelf.session(session)
            return tuple(sorted(name for name, one in self._shelf.looks if one == session))

    async def mark_done(self, source: str, look: str, sessions: Sequence[str]) -> None:
        with self._shelf.lock:
            for session in sessions:
                self._shelf.session(session)
            kept = {key: old for key, old in self._shelf.looks.items() if key[0] != source}
            self._shelf.looks = {**kept, **{(source, session): look for session in sessions}}

    async def layout(self) -> str:
        return ""

    async def commit(
        self, *brought: ImportBatch, sources: Sequence[Source] = ()
    ) -> tuple[int, ...]:
        with self._shelf.lock:
            calls = tuple([await self._one(one) for one in brought])
            for source in sources:
                await self.mark_done(source.name, source.look, source.sessions)
            return calls

    async def _one(self, one: ImportBatch) -> int:
        before = len(self._shelf.calls)
        if one.new:
            await self._sessions.create(one.new)
        if one.drafts:
            check(self._shelf.session(one.session), one.expect)
            one.check(await self._log.append(one.session, one.drafts, key=one.key))
        if one.calls:
            await self._calls.record(*one.calls)
        if one.changes:
            await self._sessions.set(one.session, one.changes)
        if one.origin:
            await self.keep(one.origin)
        return max(len(self._shelf.calls) - before, 0)
