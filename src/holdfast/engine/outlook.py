"""What a plan would leave in the window and what not, counted from columns alone."""

from __future__ import annotations

from msgspec import Struct

from holdfast.engine.plans import taken
from holdfast.model.plan import Plan
from holdfast.model.span import Span, Spans, clip, union, without
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
    """Tokens that leave, by estimate."""
    comes: int
    """Tokens that a summary, or the notes of what was cleared, take instead."""


async def outlook(log: Log, view: View, plan: Plan) -> Outlook:
    """What a plan would do to a view."""
    stay = tuple(Span(seq, seq) for seq in plan.kept)
    told = clip(without(plan.covers, stay), 1, view.last)
    kept = without(view.spans, told)
    clears = union(tuple(Span(ref.seq, ref.seq) for ref in plan.clears), ())
    comes = plan.before - plan.promised if plan.clears else taken(plan)
    return Outlook(
        kept=kept,
        kept_messages=await messages(log, view.session.id, kept),
        told=told,
        told_messages=await messages(log, view.session.id, told),
        cleared=clears,
        leaves=plan.before - plan.stays,
        comes=comes,
    )


async def messages(log: Log, session: str, spans: Spans) -> int:
    """How many messages some stretches hold."""
    many, left = 0, spans
    while left and (page := await log.heads(session, left)):
        many += sum(head.kind == "message" for head in page)
        left = clip(left, 1, page[0].seq - 1)
    return many
