"""What the engine tells whoever measures of its calls and compactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import ProviderError
from holdfast.model.event import CallFailed, Compacted, FirstHeard, Limited
from holdfast.model.log import Clear, Summary

if TYPE_CHECKING:
    from holdfast.engine.session import OpenSession
    from holdfast.ports import Provider


class Calling:
    """One call of a model while it lasts."""

    def __init__(self, session: OpenSession, provider: Provider, model: str) -> None:
        self._session, self._provider, self._model = session, provider, model
        self._started = session.now()
        self._heard = False

    def heard(self) -> None:
        """Something has come; the first time is worth telling."""
        if self._heard:
            return
        self._heard = True
        self._session.watch.tell(
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
        self._session.watch.tell(
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
            self._session.watch.tell(Limited(limits=limits, per_minute=rate))


def compacted(session: OpenSession, marker: Summary | Clear, started: int) -> Compacted:
    """What a marker did to the window."""
    return Compacted(
        session=session.id, step=marker.step, trigger=marker.trigger, policy=marker.policy,
        before=marker.tokens_before, after=marker.tokens_after, started=started,
        ended=session.now(),
    )  # fmt: skip
