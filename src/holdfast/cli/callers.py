"""Which tool an answer is from, also where its call is not among the entries that are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.core.toolcalls import ToolState
    from holdfast.engine.doors import BlockingSession
    from holdfast.model.log import Entry

STEP, STEPS = 32, 8
"""So many entries before an answer are looked at at a time, and so many times."""

REMEMBERED = 1_000
"""How many calls that were met are remembered."""


class Callers:
    """The calls of one session, as far as they were met or looked for."""

    def __init__(self, session: BlockingSession) -> None:
        self._session = session
        self._met: dict[str, ToolState] = {}

    def named(
        self, steps: Iterable[tuple[Entry, dict[str, ToolState]]]
    ) -> Iterator[tuple[Entry, dict[str, ToolState]]]:
        """Each entry with the calls that it answers beside those that it makes."""
        for entry, states in steps:
            missing = [call for call in _answered(entry) if call not in states]
            self._remember(states)
            if missing:
                self._look(entry.seq, missing)
            yield entry, {call: self._met[call] for call in missing if call in self._met} | states

    def _look(self, before: int, calls: list[str]) -> None:
        from holdfast.core.toolcalls import tool_states
        from holdfast.engine.load import read
        from holdfast.engine.threaded import drive
        from holdfast.model.span import Span

        last = before - 1
        for _ in range(STEPS):
            if last < 1 or all(call in self._met for call in calls):
                return
            near = Span(max(last - STEP + 1, 1), last)
            found = drive(read(self._session.store.log, self._session.id, (near,)))
            self._remember(tool_states(found))
            last = near.first - 1

    def _remember(self, states: dict[str, ToolState]) -> None:
        self._met |= states
        while len(self._met) > REMEMBERED:
            del self._met[next(iter(self._met))]


def _answered(entry: Entry) -> Iterator[str]:
    """The calls that an entry answers without saying which tool it was."""
    from holdfast.model.message import ToolResult

    for part in getattr(entry.body, "parts", ()):
        if isinstance(part, ToolResult) and not part.name:
            yield part.call
