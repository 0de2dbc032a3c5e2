"""The summary that the next turn would begin with, before anybody pays for it.

The ladder is climbed as far as no model is asked, and nothing of it is written. What a summary may
cost is estimated as the caps estimate it: all of the prompt afresh, and the longest reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.calls.price import dearest
from holdfast.core.compaction.ladder import TELLING, next_plan
from holdfast.core.window.explain import Line
from holdfast.engine.calls.ask import room_for
from holdfast.engine.calls.last_call import given_now
from holdfast.engine.calls.learned_limits import profile_at
from holdfast.engine.compaction.ladder import STEPS, Ladder
from holdfast.engine.compaction.plans import taken
from holdfast.engine.inspect.explain import UNKNOWN
from holdfast.engine.usage import caps
from holdfast.engine.window.token_count import TokenCount
from holdfast.engine.window.turn_state import TurnState
from holdfast.model.plan import Plan
from holdfast.model.policy import Step
from holdfast.model.span import Span, Spans, clip, union, within, without
from holdfast.model.view import View
from holdfast.ports import Log

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext


class Foreseen(Struct, frozen=True, kw_only=True):
    """A summary that is due."""

    tokens: int
    """What it would stand for, by estimate."""
    model: str
    """Who would write it."""
    cost: int | None
    """What that may cost at most, in billionths of a US dollar; None where no price is known."""
    why_not: str = ""
    """Why no model would be asked for it; empty where one would be."""


async def foreseen(session: SessionContext, model: str = "") -> Foreseen | None:
    """The summary that the next turn would have a model write; None where none is due."""
    given = await given_now(session, model)
    given = replace(given, model=given.model or UNKNOWN)
    profile = await profile_at(session, given.model, await session.view())
    turn = TurnState(session, given, profile, await session.policy(given.policy))
    plan = await _due(turn.preview(asks=True))
    if plan is None or session.upkeep.voice is None:
        return None
    tokens = plan.before - plan.stays
    writer = session.catalogue.profile(session.upkeep.weak_model or given.model)
    sure = max(writer.ratio, 1.0)
    whole, most = int(tokens * sure), int(room_for(writer, plan.most) * sure)
    piece = min(whole, max(most, 1))  # what is too long for the writer is asked for in pieces
    why_not = await caps.why_not(session, writer, piece, plan.most)
    price = dearest(writer, piece, plan.most)
    cost = None if price is None else price * -(-whole // max(piece, 1))
    return Foreseen(tokens=tokens, model=writer.name, cost=cost, why_not=why_not)


async def _due(turn: TurnState) -> Plan | None:
    """The first plan that a model would be asked for, once all cheaper ones are applied."""
    ladder, taken = Ladder(turn, await TokenCount(turn, asks=False).begin()), set[Step]()
    view = await turn.announce(await turn.log.view())
    for _ in range(0 if turn.guessed else STEPS):
        plan = next_plan(await ladder.situation(view), taken)
        if plan is None or plan.step == "notes":
            return None
        if plan.step in TELLING:
            return plan
        taken.add(plan.step)
        view = await turn.mark(view, plan.marker())
    return None


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
