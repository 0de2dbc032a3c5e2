"""What has been paid for which reply: one that is told again is not paid again.

A reply is the same one again where its provider's id and what it says are; the store keeps one row
of it. The newest calls are remembered, so that what a session says it cost is what its rows say.
"""

from __future__ import annotations

from holdfast.model.reply import Call
from holdfast.ports import Calls

MOST = 64
"""So many calls are remembered; nobody tells the reply of an older one again."""


class Paid:
    """The calls of one session that were paid for lately."""

    def __init__(self) -> None:
        self._calls: list[Call] | None = None

    async def look(self, calls: Calls, session: str) -> None:
        """Read what was paid for before, once."""
        if self._calls is None:
            self._calls = list(reversed(await calls.newest(session, MOST)))

    def owed(self, call: Call) -> int | None:
        """What a call still costs; None where it is one that was told before."""
        cost = call.cost or 0
        if not call.request or self._calls is None:
            return cost
        known = next((one for one in self._calls if one.is_retold(call)), None)
        if known is None:
            self._calls = [*self._calls, call][-MOST:]
            return cost
        before = known.cost or 0
        self._calls[self._calls.index(known)] = known.completed(call)
        return max(cost - before, 0) or None
