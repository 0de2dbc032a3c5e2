"""Asking a model on the side for the sake of notes, within a price of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.core.calls.price import MILLION, dearest
from holdfast.core.tokens.estimate import BOUND
from holdfast.engine.calls.ask import KNOWLEDGE, Answer, Question, ask

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext


async def ask_within(
    session: SessionContext, question: Question, cap: int, *, cached: int = 0
) -> Answer:
    """Ask where that stays within the cap, in billionths of a US dollar.

    `cached` is how many tokens of the question a cache is expected to serve. A model without a
    price is not held by it, as it is by no cap.
    """
    if session.upkeep.voice is None:
        return Answer(error="nobody answers questions on the side")
    sure = max(question.profile.ratio, 1.0) * (1 + BOUND)
    tokens = int((question.tokens - cached) * sure)
    price = dearest(question.profile, tokens, question.max_tokens)
    if price is not None:
        told = question.profile.price(question.tokens)
        price += cached * told.cache_read // MILLION if told else 0
        spent = await session.store.calls.spent(session.id, by=("cause",))
        taken = sum(one.cost for one in spent if one.cause in KNOWLEDGE)
        if taken + price > cap:
            return Answer(
                error=f"notes have cost {taken / 1e9:.4f} USD; {cap / 1e9:.4f} is the cap"
            )
    return await ask(session, question)
