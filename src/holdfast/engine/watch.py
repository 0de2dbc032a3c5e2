"""What happens, passed on to whoever measures; kept of it, in memory only, is the pace.

The pace is how many tokens went to each provider in the last minute, and how many it still takes.
"""

from __future__ import annotations

from collections import deque

from holdfast.core.ratelimits import MINUTE, counted, per_minute
from holdfast.model.event import Called, Event, Limited
from holdfast.model.limits import Limits
from holdfast.model.reply import Call
from holdfast.ports import Telemetry


class Watch:
    """Everything that happens behind one door comes by here."""

    def __init__(self, telemetry: Telemetry | None = None) -> None:
        self._telemetry = telemetry
        self._calls: dict[str, deque[tuple[int, int]]] = {}
        self._limits: dict[str, Limits] = {}

    def tell(self, event: Event) -> None:
        """Take note of what happened, and let whoever measures know."""
        if isinstance(event, Called):
            self._called(event.call)
        elif isinstance(event, Limited):
            self._limits[event.limits.provider] = event.limits
        if self._telemetry:
            self._telemetry.tell(event)

    def per_minute(self, provider: str, now: int) -> int:
        """The tokens of the last minute."""
        return per_minute(tuple(self._calls.get(provider, ())), now)

    def limits(self, provider: str) -> Limits | None:
        """What a provider said last of its limits; None where it never did."""
        return self._limits.get(provider)

    def _called(self, call: Call) -> None:
        ended = call.ended or call.started
        calls = self._calls.setdefault(call.provider, deque(maxlen=10_000))
        calls.append((ended, counted(call.usage, call.provider)))
        while calls and calls[0][0] <= ended - MINUTE:
            calls.popleft()
