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
    from holdfast.engine.session import AsyncSession
    from holdfast.engine.turns import Asking
    from holdfast.engine.window.prepared_window import PreparedWindow
    from holdfast.ports import Provider, ResponseStream

TRIES = 5
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0

Confirm = Callable[[str], bool]
"""Asked before more is sent than fits: whether to send it all the same."""


async def speak(
    session: AsyncSession,
    provider: Provider,
    on_delta: OnDelta | None = None,
    options: dict[str, Any] | None = None,
    confirm: Confirm | None = None,
    **asking: Unpack[Asking],
) -> ReplyEntry:
    """Prepare the window, send it, and append what comes back."""
    entry, stop = await _answered(session, provider, on_delta, options or {}, confirm, asking)
    if stop == "compaction":
        entry, stop = await _answered(session, provider, on_delta, options or {}, confirm, asking)
    return entry


async def _answered(
    session: AsyncSession,
    provider: Provider,
    on_delta: OnDelta | None,
    options: dict[str, Any],
    confirm: Confirm | None,
    asking: Asking,
) -> tuple[ReplyEntry, Stop]:
    window = await session.window(**asking)
    _confirmed(window, confirm)
    try:
        return await _held(session, provider, window, on_delta, options)
    except (Overflow, ProviderRejected) as refusal:
        if await session.learn_refusal(str(refusal), provider=provider.name) is None:
            raise
    window = await session.window(**asking)
    return await _held(session, provider, window, on_delta, options)


def _confirmed(window: PreparedWindow, confirm: Confirm | None) -> None:
    """OverBudget where a policy asks before such a window is sent, and nobody agrees."""
    for question in window.window.asks:
        if confirm is None or not confirm(question):
            raise OverBudget(
                f"nothing was sent: {question.partition(' Send it')[0]} Take something out, use a "
                f"model with a larger window, or a policy other than {window.policy_name}, which "
                "asks before it sends so much"
            )


async def _held(
    session: AsyncSession,
    provider: Provider,
    window: PreparedWindow,
    on_delta: OnDelta | None,
    options: dict[str, Any],
) -> tuple[ReplyEntry, Stop]:
    """The same with its prompt's price held, so that nothing beside it takes that of a cap."""
    profile, prompt = window.profile, window.count.most
    price = dearest(profile, prompt) or 0
    with session.held.holding(session.whole(), price):
        await caps.check(session, profile, prompt, own=price)  # others may have begun meanwhile
        return await _spoken(session, provider, window, on_delta, options)


async def _spoken(
    session: AsyncSession,
    provider: Provider,
    window: PreparedWindow,
    on_delta: OnDelta | None,
    options: dict[str, Any],
) -> tuple[ReplyEntry, Stop]:
    request = window.request(provider.format, **{"stream": True, **options})
    calling = Calling(session, provider, window.profile.name)
    entry, reply, broken = await _heard(session, provider, request, on_delta, calling)
    if entry is None:
        if session.pause:
            await session.pause(FIRST_PAUSE)
        entry, reply, broken = await _heard(session, provider, request, on_delta, calling)
    if entry is None:
        said = reply.error or "it ended before a word had come"
        none = Unreachable(f"{provider.name}: {said}; try again", provider=provider.name)
        calling.failed(broken or none)
        raise broken or none
    return entry, reply.stop


async def _heard(
    session: AsyncSession,
    provider: Provider,
    request: dict[str, Any],
    on_delta: OnDelta | None,
    calling: Calling,
) -> tuple[ReplyEntry | None, Reply, ProviderError | None]:
    """What came of one request, recorded; no entry where not a word came."""
    try:
        flow = await _begun(session, provider, request, on_delta)
    except ProviderError as failed:
        calling.failed(failed)
        raise
    finally:
        calling.limited()
    decoder = codec(provider.format).decoder()
    broken, told = None, Masked(on_delta or nobody, session.secrets)
    try:
        while data := await flow.read():
            calling.heard()
            for delta in decoder.feed(data):
                await told(delta)
        await told.rest()
    except ProviderError as failed:
        broken = failed  # what came until then is kept, as a reply that was cut short
        await told.rest()
    finally:
        await flow.close()
        reply = decoder.close()
        said = reply.message.parts
        entry = await session.turns.record(reply, provider.format) if said else None
        if entry is None:
            await session.turns.failed(reply, provider.format)
    return entry, reply, broken


async def _begun(
    session: AsyncSession, provider: Provider, request: dict[str, Any], on_delta: OnDelta | None
) -> ResponseStream:
    """Send it; what passes by itself is waited for."""
    wait = FIRST_PAUSE
    for _ in range(TRIES - 1):
        session.turns.begins(provider.format)
        try:
            return await provider.begin(request)
        except (Throttled, Unreachable) as later:
            told = later.after if isinstance(later, Throttled) else None
            if told is not None and told > LONGEST_PAUSE:
                raise
            pause = wait if told is None else told
            if on_delta:
                await heard(on_delta, Delta(waiting=pause))
            if session.pause:
                await session.pause(pause)
            wait = min(wait * 2, LONGEST_PAUSE)
    session.turns.begins(provider.format)
    return await provider.begin(request)
