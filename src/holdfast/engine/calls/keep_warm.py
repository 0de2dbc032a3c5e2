"""Keeping what a provider has cached warm: the last request once more, for a single token.

It is a call of its own with its price, never an entry of the log; a cap holds for it, and one
program at a time does it for a session. Whatever fails, the cache is left to run out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, convert
from msgspec.structs import replace

from holdfast.core.compaction.cache_economics import warm_in
from holdfast.engine.calls.last_call import newest_call
from holdfast.engine.calls.record import call_record, record_call
from holdfast.engine.compaction.lease import Lease
from holdfast.engine.inspect.explain import rebuild
from holdfast.engine.plugins import codec
from holdfast.engine.usage import caps
from holdfast.errors import ProviderError
from holdfast.model.profile import Profile
from holdfast.model.reply import Call, Outcome
from holdfast.model.window import Options

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.ports import Provider

CAUSE = "keep-warm"

LOOKED_AT = 32
"""How many of the newest calls are looked at for those that kept the cache warm."""

SECONDS = 60.0
"""How long one may take."""


class Due(Struct, frozen=True, kw_only=True):
    """A request whose cache is to be kept warm, and when."""

    call: Call
    wait: int
    """In ms; 0: now."""


async def due(session: SessionContext) -> Due | None:
    """When the cache is to be read once more; None where it is not, as things stand."""
    rule = (await session.policy()).keep_warm
    call = await newest_call(session) if rule else None
    if call is None or call.outcome != "done" or not call.given:
        return None
    if session.info.last_marker > call.head or call.session != session.id:
        return None  # another window will be sent
    newest = await session.store.calls.newest(session.id, LOOKED_AT)
    since = [one for one in newest if one.cause == CAUSE and one.started >= call.started]
    if any(one.outcome != "done" for one in since):
        return None
    used = max(one.ended or one.started for one in (call, *since))
    profile = session.catalogue.profile(call.model)
    wait = warm_in(
        rule, profile, prompt=call.usage.prompt, idle=session.now() - used, made=len(since)
    )
    return None if wait is None else Due(call=call, wait=wait)


async def keep_warm(session: SessionContext, provider: Provider) -> Call | None:
    """Read the cache once more, where that is due now; the call, or None where none was made."""
    found = await due(session)
    if found is None or found.wait:
        return None
    made = await _request(session, found.call, provider.format)
    if made is None:
        return None
    profile, request = made
    if await caps.why_not(session, profile, found.call.usage.prompt, 1):
        return None
    lease = await Lease.begin(session, CAUSE, SECONDS)
    if lease is None:
        return None
    outcome = "failed"
    try:
        recorded = await _asked(session, found.call, profile, provider, request)
        outcome = recorded.outcome
        return recorded
    finally:
        await lease.end(outcome)


async def _request(
    session: SessionContext, call: Call, format: str
) -> tuple[Profile, dict[str, Any]] | None:
    """The last request for a single token; None where it cannot be made as it was, or so short."""
    options = convert(call.options, Options)
    if call.format != format or options.thinking or options.extra.get("thinking"):
        return None
    again = await rebuild(session, call)
    if not again.matches:
        return None
    briefly = replace(options, max_tokens=1, stream=True)
    return again.profile, codec(format).encode(again.window, again.profile, briefly)


async def _asked(
    session: SessionContext,
    call: Call,
    profile: Profile,
    provider: Provider,
    request: dict[str, Any],
) -> Call:
    started, decoder = session.now(), codec(provider.format).decoder()
    outcome: Outcome = "done"
    try:
        flow = await provider.begin(request)
        try:
            while data := await flow.read():
                decoder.feed(data)
        finally:
            await flow.close()
    except ProviderError:
        outcome = "failed"
    made = call_record(
        session, decoder.close(), profile, cause=CAUSE, started=started, outcome=outcome
    )
    as_before = {
        name: getattr(call, name) for name in ("provider", "model", "format", "head", "epoch")
    }
    return await record_call(session, replace(made, **as_before))
