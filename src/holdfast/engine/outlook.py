"""What a plan would leave in the window and what not, counted from columns alone."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.explain import Line
from holdfast.engine.plans import taken
from holdfast.model.plan import Plan
from holdfast.model.span import Span, Spans, clip, union, within, without
from holdfast.model.view import View
from holdfast.ports import Log


class Outlook(Struct, frozen=True, kw_only=True):
    """A plan in numbers."""

    kept: Spans
    """What stays word for word."""
    kept_messages: int
    told: Spans
    """What a summary will stand for."""
    told_messages: int
    cleared: Spans
    """The entries of which something is cleared."""
    leaves: int
    """Tokens that leave, as the window counts them."""
    comes: int
    """Tokens that a summary, or the notes of what was cleared, take instead."""


async def outlook(log: Log, view: View, plan: Plan, lines: Sequence[Line] = ()) -> Outlook:
    """What a plan would do to a view; with the lines of its window, in the window's own numbers."""
    stay = tuple(Span(seq, seq) for seq in plan.kept)
    told = clip(without(plan.covers, stay), 1, view.last)
    kept = without(view.spans, told)
    clears = union(tuple(Span(ref.seq, ref.seq) for ref in plan.clears), ())
    leaves, comes = _tokens(plan, told, lines)
    return Outlook(
        kept=kept,
        kept_messages=await messages(log, view.session.id, kept),
        told=told,
        told_messages=await messages(log, view.session.id, told),
        cleared=clears,
        leaves=leaves,
        comes=comes,
    )


def _tokens(plan: Plan, told: Spans, lines: Sequence[Line]) -> tuple[int, int]:
    """What leaves, and what comes instead: a plan estimates, a window may know better."""
    leaves = plan.before - plan.stays
    if plan.clears:
        return leaves, plan.before - plan.promised
    known = sum(line.tokens for line in lines if within(line.seq, told) or line.seq in plan.merges)
    scale = known / leaves if known and leaves else 1.0
    return known or leaves, round(taken(plan) * scale)


async def messages(log: Log, session: str, spans: Spans) -> int:
    """How many messages some stretches hold."""
    many, left = 0, spans
    while left and (page := await log.heads(session, left)):
        many += sum(head.kind == "message" for head in page)
        left = clip(left, 1, page[0].seq - 1)
    return many
