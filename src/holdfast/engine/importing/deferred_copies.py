"""Copies that were handed over: read after everything else, for their sessions may come yet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from holdfast.engine.importing.discovery import Source
from holdfast.model.import_report import ImportReport

Read = Callable[[Source, bool], Awaitable[ImportReport]]
"""Imports a source; TooEarly, where it is told to wait, for a copy whose session is not here."""


class TooEarly(Exception):
    """A source is a copy of a session that may yet come; nothing of it was imported."""


class Copies:
    """Sources that are read one by one, and those of them that wait."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._waiting: list[Source] = []

    async def tried(self, source: Source) -> AsyncIterator[ImportReport]:
        """Import a source; nothing is told of one that waits from now on."""
        try:
            report = await self._read(source, True)
        except TooEarly:
            self._waiting.append(source)
            return
        yield report

    async def rest(self) -> AsyncIterator[ImportReport]:
        """Import what waits, each after its session, be that a copy too; then what has none."""
        before = len(self._waiting) + 1
        while len(self._waiting) < before:
            waiting, self._waiting = self._waiting, []
            before = len(waiting)
            for source in waiting:
                async for report in self.tried(source):
                    yield report
        for source in self._waiting:
            yield await self._read(source, False)
