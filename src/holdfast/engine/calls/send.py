"""One call of a model: sent, streamed, and recorded exactly once, however it ends.

Rule 1: what came is kept, be it cut short; a reply that was cut is recorded as aborted.
Rule 2: what fails before it is answered is tried again, after what the provider says or longer
        and longer; an answer that breaks off before a word has come is asked for once more, and
        what it is known to have used is recorded; what failed behind a word is kept instead.
Rule 3: a refusal that we know a remedy for is remembered, and the window is prepared again, once.
Rule 4: a reply that is nothing but the provider's own compaction is gone on from, once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from holdfast.core.calls.price import dearest
from holdfast.engine.calls.stream import Masked, OnDelta, heard, nobody
from holdfast.engine.plugins import codec
from holdfast.engine.usage import caps
from holdfast.engine.usage.telemetry import Calling
from holdfast.errors import (
    OverBudget,
    Overflow,
    ProviderError,
    ProviderRejected,
    Throttled,
    Unreachable,
)
from holdfast.model.log import ReplyEntry
from holdfast.model.reply import Delta, Reply, Stop

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.engine.turns import Turns
    from holdfast.engine.window.prepared_window import PreparedWindow
    from holdfast.engine.window.sections import Asking
    from holdfast.ports import Provider, ResponseStream

TRIES = 5
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0

Confirm = Callable[[str], bool]
"""Asked before more is sent than fits: whether to send it all the same."""


async def send(
    session: SessionContext,
    turns: Turns,
    provider: Provider,
    on_delta: OnDelta | None = None,
    options: dict[str, Any] | None = None,
    confirm: Confirm | None = None,
    **asking: Unpack[Asking],
) -> ReplyEntry:
    """Prepare the window, send it, and append what comes back."""
    sending = Sending(session, turns, provider, on_delta, options or {}, confirm)
    entry, stop = await sending.turn(asking)
    if stop == "compaction":
        entry, stop = await sending.turn(asking)
    return entry


class Sending:
    """The calls that one `send` makes of a provider."""

    def __init__(
        self,
        session: SessionContext,
        turns: Turns,
        provider: Provider,
        on_delta: OnDelta | None,
        options: dict[str, Any],
        confirm: Confirm | None,
    ) -> None:
        self._session, self._turns, self._provider = session, turns, provider
        self._on_delta, self._options, self._confirm = on_delta, options, confirm

    async def turn(self, asking: Asking) -> tuple[ReplyEntry, Stop]:
        """One call, and where it was refused and a remedy is known one more."""
        window = await self._turns.window(**asking)
        self._check_confirmed(window)
        try:
            return await self._within_caps(window)
        except (Overflow, ProviderRejected) as refusal:
            name = self._provider.name
            if await self._turns.refused(str(refusal), provider=name) is None:
                raise
        return await self._within_caps(await self._turns.window(**asking))

    def _check_confirmed(self, window: PreparedWindow) -> None:
        """OverBudget where a policy asks before such a window is sent, and the user declines."""
        for question in window.window.asks:
            if self._confirm is None or not self._confirm(question):
                raise OverBudget(
                    f"nothing was sent: {question.partition(' Send it')[0]} Take something out, "
                    "use a model with a larger window, or a policy other than "
                    f"{window.policy_name}, which asks before it sends so much"
                )

    async def _within_caps(self, window: PreparedWindow) -> tuple[ReplyEntry, Stop]:
        """The call, its prompt's price held so that no other call takes that of a cap."""
        session, profile, prompt = self._session, window.profile, window.count.most
        price = dearest(profile, prompt) or 0
        with session.held.holding(session.whole(), price):
            await caps.check(session, profile, prompt, own=price)  # others may have begun meanwhile
            return await self._call(window)

    async def _call(self, window: PreparedWindow) -> tuple[ReplyEntry, Stop]:
        session, provider = self._session, self._provider
        request = window.request(provider.format, **{"stream": True, **self._options})
        calling = Calling(session.watch, session.now, session.id, provider, window.profile.name)
        entry, reply, broken = await self._stream(request, calling)
        if entry is None:
            if session.pause:
                await session.pause(FIRST_PAUSE)
            entry, reply, broken = await self._stream(request, calling)
        if entry is None:
            said = reply.error or "it ended before a word had come"
            none = Unreachable(f"{provider.name}: {said}; try again", provider=provider.name)
            calling.failed(broken or none)
            raise broken or none
        return entry, reply.stop

    async def _stream(
        self, request: dict[str, Any], calling: Calling
    ) -> tuple[ReplyEntry | None, Reply, ProviderError | None]:
        """What came of one request, recorded; no entry where not a word came."""
        turns, format = self._turns, self._provider.format
        try:
            flow = await self._connect(request)
        except ProviderError as failed:
            calling.failed(failed)
            raise
        finally:
            calling.limited()
        decoder, broken = codec(format).decoder(), None
        shown = Masked(self._on_delta or nobody, self._session.secrets)
        try:
            while data := await flow.read():
                calling.answered()
                for delta in decoder.feed(data):
                    await shown(delta)
            await shown.rest()
        except ProviderError as failed:
            broken = failed  # what came until then is kept, as a reply that was cut short
            await shown.rest()
        finally:
            await flow.close()
            reply = decoder.close()
            entry = await turns.record(reply, format) if reply.message.parts else None
            if entry is None:
                await turns.failed(reply, format)
        return entry, reply, broken

    async def _connect(self, request: dict[str, Any]) -> ResponseStream:
        """Send it; failures that pass by themselves are retried after a pause."""
        session, provider, wait = self._session, self._provider, FIRST_PAUSE
        for _ in range(TRIES - 1):
            self._turns.begins(provider.format)
            try:
                return await provider.begin(request)
            except (Throttled, Unreachable) as later:
                told = later.after if isinstance(later, Throttled) else None
                if told is not None and told > LONGEST_PAUSE:
                    raise
                pause = wait if told is None else told
                if self._on_delta:
                    await heard(self._on_delta, Delta(waiting=pause))
                if session.pause:
                    await session.pause(pause)
                wait = min(wait * 2, LONGEST_PAUSE)
        self._turns.begins(provider.format)
        return await provider.begin(request)
