"""A model call as the store keeps it: one way to write its row, to pay for it and to tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.core.calls.price import cost
from holdfast.model.event import Called
from holdfast.model.profile import Profile
from holdfast.model.reply import Call, Outcome, Reply

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext


def call_record(
    session: SessionContext,
    reply: Reply,
    profile: Profile | None,
    *,
    cause: str,
    started: int,
    outcome: Outcome,
) -> Call:
    """The row of a call that has ended; `profile` is whose prices hold, None where nobody knows."""
    price = None
    if profile:
        price = cost(reply.usage, profile, reply.iterations, session.catalogue.profile)
    return Call(
        id=session.new_id(),
        session=session.id,
        cause=cause,
        started=started,
        ended=session.now(),
        provider=reply.provider,
        model=reply.model,
        request=reply.request,
        usage=reply.usage,
        iterations=reply.iterations,
        cost=price,
        price_version=profile.price_version if profile else "",
        outcome=outcome,
        stop=reply.stop,
    )


async def record_call(session: SessionContext, call: Call) -> Call:
    """Keep the row of a call that left no entry, pay for it, and tell whoever measures."""
    recorded = await session.store.calls.record(call)
    session.pay(call.cost or 0)
    session.watch.emit(Called(call=recorded))
    return recorded
