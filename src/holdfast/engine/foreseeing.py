"""The summary that the next turn would begin with, before anybody pays for it.

The ladder is climbed as far as no model is asked, and nothing of it is written. What a summary may
cost is estimated as the caps estimate it: all of the prompt afresh, and the longest reply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.caps import dearest
from holdfast.core.ladder import TELLING, next_plan
from holdfast.engine import caps
from holdfast.engine.asking import room_for
from holdfast.engine.climb import STEPS, Climb
from holdfast.engine.explaining import UNKNOWN
from holdfast.engine.lately import given_now
from holdfast.engine.prepare import Preparation
from holdfast.engine.taught import profile_at
from holdfast.model.plan import Plan
from holdfast.model.policy import Step

if TYPE_CHECKING:
    from holdfast.engine.session import OpenSession


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


async def foreseen(session: OpenSession, model: str = "") -> Foreseen | None:
    """The summary that the next turn would have a model write; None where none is due."""
    given = await given_now(session, model)
    given = replace(given, model=given.model or UNKNOWN)
    profile = await profile_at(session, given.model, await session.view())
    turn = Preparation(session, given, profile, await session.policy(given.policy))
    plan = await _due(turn, Climb(turn.scene, await turn.counting(write=False), write=True))
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


async def _due(turn: Preparation, climb: Climb) -> Plan | None:
    """The first plan that a model would be asked for, all cheaper ones pretended."""
    taken = set[Step]()
    view = await turn.scene.view(write=False)
    for _ in range(0 if turn.scene.guessed else STEPS):
        plan = next_plan(await climb.situation(view), taken)
        if plan is None or plan.step == "notes":
            return None
        if plan.step in TELLING:
            return plan
        taken.add(plan.step)
        view = await turn.scene.marked(view, plan.marker(), write=False)
    return None
