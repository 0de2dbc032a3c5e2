"""What the engine tells whoever measures of its calls and compactions."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from holdfast.core.calls.rate_limits import MINUTE, counted, per_minute
from holdfast.errors import ProviderError
from holdfast.model.event import Called, CallFailed, Compacted, Event, FirstHeard, Limited
from holdfast.model.log import Clear, Summary
from holdfast.model.rate_limits import Limits
from holdfast.model.reply import Call
from holdfast.ports import Telemetry

if TYPE_CHECKING:
    from holdfast.engine.session import AsyncSession
    from holdfast.ports import Provider


class Calling:
    """One call of a model while it lasts."""

    def __init__(self, session: AsyncSession, provider: Provider, model: str) -> None:
        self._session, self._provider, self._model = session, provider, model
        self._started = session.now()
        self._heard = False

    def heard(self) -> None:
        """Something has come; the first time is worth telling."""
        if self._heard:
            return
        self._heard = True
        self._session.watch.emit(
            FirstHeard(
                session=self._session.id,
                provider=self._provider.name,
                model=self._model,
                started=self._started,
                at=self._session.now(),
            )
        )

    def failed(self, error: ProviderError) -> None:
        """No reply came; what the error says stays here, since it may hold what was said."""
        self._session.watch.emit(
            CallFailed(
                session=self._session.id,
                provider=self._provider.name,
                model=self._model,
                started=self._started,
                ended=self._session.now(),
                error=type(error).__name__,
                status=error.status,
            )
        )

    def limited(self) -> None:
        """The provider has answered: what it says of its limits is remembered."""
        if limits := self._provider.limits:
            rate = self._session.watch.per_minute(limits.provider, self._session.now())
            self._session.watch.emit(Limited(limits=limits, per_minute=rate))


def compacted(session: AsyncSession, marker: Summary | Clear, started: int) -> Compacted:
    """What a marker did to the window."""
    return Compacted(
        session=session.id, step=marker.step, trigger=marker.trigger, policy=marker.policy,
        before=marker.tokens_before, after=marker.tokens_after, started=started,
        ended=session.now(),
    )  # fmt: skip


class Watch:
    """Everything that happens behind one door comes by here."""

    def __init__(self, telemetry: Telemetry | None = None) -> None:
        self._telemetry = telemetry
        self._calls: dict[str, deque[tuple[int, int]]] = {}
        self._limits: dict[str, Limits] = {}

    def emit(self, event: Event) -> None:
        """Take note of what happened, and let whoever measures know."""
        if isinstance(event, Called):
            self._called(event.call)
        elif isinstance(event, Limited):
            self._limits[event.limits.provider] = event.limits
        if self._telemetry:
            self._telemetry.emit(event)

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
