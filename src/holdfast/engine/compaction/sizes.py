"""What a compaction does to the whole prompt, found out before its marker is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from holdfast.core.window.occupancy import whole_prompt
from holdfast.engine.calls.last_call import given_now
from holdfast.engine.compaction.shedding import Shedding
from holdfast.engine.usage.recorded_window import recorded, recorded_call
from holdfast.model.log import Clear, Summary
from holdfast.model.view import View
from holdfast.model.window import Count

if TYPE_CHECKING:
    from holdfast.engine.session import AsyncSession
    from holdfast.engine.window.token_count import TokenCount
    from holdfast.engine.window.turn_state import TurnState

Marked = TypeVar("Marked", bound="Summary | Clear")


async def sized(scene: TurnState, counting: TokenCount, view: View, marker: Marked) -> Marked:
    """The marker with what the whole prompt takes before it, and about takes after it.

    It is unchanged where more is visible than is ever read: nobody could be sent that prompt.
    """
    around, budget = await scene.around(view.folded)
    if await Shedding(scene).beyond(view, budget.room):
        return marker
    before = await counting.of(await scene.assembled(view, around, budget))
    then = await scene.marked(view, marker, write=False)
    around, budget = await scene.around(then.folded)
    window = (await scene.assembled(then, around, budget)).window
    after = counting.about(window, counting.estimated(window), then.folded.epoch)
    scene.unsay()
    return replace(marker, prompt_before=before.tokens, prompt_after=after.tokens)


async def sized_by_hand(session: AsyncSession, view: View, marker: Marked) -> Marked:
    """The same for a plan that somebody applies; unchanged where no model is named."""
    given = await given_now(session)
    if not given.model:
        return marker
    preparation = await session.turns.preparation()
    counting = await preparation.counting(write=False)
    made = await sized(preparation.scene, counting, view, marker)
    if not made.prompt_before:
        return made
    call = await recorded_call(session)
    if call is None:
        return made
    found = await recorded(session, call, preparation, counting.ratio)
    sizes = Count(tokens=made.prompt_before), Count(tokens=made.prompt_after)
    before = whole_prompt(sizes[0], found)[0].tokens
    after = whole_prompt(sizes[1], replace(found, moved=True))[0].tokens
    return replace(made, prompt_before=before, prompt_after=after)
