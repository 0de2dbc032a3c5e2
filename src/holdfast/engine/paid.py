"""What has been paid for which request: one that is told again is not paid again.

A provider's id of a response names what it was paid for, and the store keeps one row of it. The
newest requests are remembered, so that what a session says it cost is what its rows say.
"""

from __future__ import annotations

from holdfast.model.reply import Call
from holdfast.ports import Calls

MOST = 64
"""So many requests are remembered; nobody tells an older one again."""


class Paid:
    """The requests of one session that were paid for lately."""

    def __init__(self) -> None:
        self._costs: dict[tuple[str, str], int] | None = None

    async def look(self, calls: Calls, session: str) -> None:
        """Read what was paid for before, once."""
        if self._costs is None:
            self._costs = {}
            for call in reversed(await calls.newest(session, MOST)):
                self.owed(call)

    def owed(self, call: Call) -> int | None:
        """What a call still costs; None where it is one that was told before."""
        cost = call.cost or 0
        if not call.request or self._costs is None:
            return cost
        name = (call.provider, call.request)
        before = self._costs.pop(name, None)
        self._costs[name] = max(cost, before or 0)
        if len(self._costs) > MOST:
            del self._costs[next(iter(self._costs))]
        return cost if before is None else max(cost - before, 0) or None
