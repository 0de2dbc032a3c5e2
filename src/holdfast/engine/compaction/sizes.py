"""What a compaction does to the whole prompt, found out before its marker is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from holdfast.engine.compaction.shedding import Shedding
from holdfast.model.log import Clear, Summary
from holdfast.model.view import View

if TYPE_CHECKING:
    from holdfast.engine.window.token_count import TokenCount
    from holdfast.engine.window.turn_state import TurnState

Marked = TypeVar("Marked", bound="Summary | Clear")


async def sized(turn: TurnState, count: TokenCount, view: View, marker: Marked) -> Marked:
    """The marker with what the whole prompt takes before it, and about takes after it.

    It is unchanged where nobody reads the sizes, as in a preview, and where more is visible than is
    ever read: nobody could be sent that prompt.
    """
    budget = (await turn.around(view.folded))[1]
    if not turn.asks or await Shedding(turn).beyond(view, budget.room):
        return marker
    before = await count.of(await turn.assembled(view))
    after = turn.preview()
    then = await after.mark(view, marker)
    window = (await after.assembled(then)).window
    tokens = count.about(window, count.estimated(window), then.folded.epoch)
    return replace(marker, prompt_before=before.tokens, prompt_after=tokens.tokens)
