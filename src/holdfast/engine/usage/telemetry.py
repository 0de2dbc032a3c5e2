"""Telemetry events: what the engine emits of its calls and compactions, and the rates it knows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from holdfast.core.calls.rate_limits import MINUTE, counted, per_minute
from holdfast.errors import ProviderError
from holdfast.model.event import Called, CallFailed, Compacted, Event, FirstHeard, Limited
from holdfast.model.log import Clear, Summary
from holdfast.model.rate_limits import Limits
from holdfast.model.reply import Call
from holdfast.ports import Provider, Telemetry


class Watch:
    """The event sink of one engine: it keeps rates and limits, and passes every event on."""

    def __init__(self, telemetry: Telemetry | None = None) -> None:
        self._telemetry = telemetry
        self._calls: dict[str, deque[tuple[int, int]]] = {}
        self._limits: dict[str, Limits] = {}

    def emit(self, event: Event) -> None:
        """Note an event, and hand it to the telemetry, where there is any."""
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


class Calling:
    """One call of a model while it lasts."""

    def __init__(
        self, watch: Watch, now: Callable[[], int], session: str, provider: Provider, model: str
    ) -> None:
        self._watch, self._now = watch, now
        self._session, self._provider, self._model = session, provider, model
        self._started = now()
        self._answered = False

    def answered(self) -> None:
        """Something has come; the first time is an event."""
        if self._answered:
            return
        self._answered = True
        self._watch.emit(
            FirstHeard(
                session=self._session,
                provider=self._provider.name,
                model=self._model,
                started=self._started,
                at=self._now(),
            )
        )

    def failed(self, error: ProviderError) -> None:
        """No reply came; the error's words are not passed on, since they may quote the session."""
        self._watch.emit(
            CallFailed(
                session=self._session,
                provider=self._provider.name,
                model=self._model,
                started=self._started,
                ended=self._now(),
                error=type(error).__name__,
                status=error.status,
            )
        )

    def limited(self) -> None:
        """The provider has answered: what it says of its rate limits is remembered."""
        if limits := self._provider.limits:
            rate = self._watch.per_minute(limits.provider, self._now())
            self._watch.emit(Limited(limits=limits, per_minute=rate))


def compacted(session: str, marker: Summary | Clear, started: int, ended: int) -> Compacted:
    """What a marker did to the window."""
    return Compacted(
        session=session,
        step=marker.step,
        trigger=marker.trigger,
        policy=marker.policy,
        before=marker.tokens_before,
        after=marker.tokens_after,
        started=started,
        ended=ended,
    )
