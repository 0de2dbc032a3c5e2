"""Preparation: one turn, from the log to a window that fits. Read `prepare` first."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.tokens.calibrate import excess
from holdfast.core.window.assemble import weighed
from holdfast.core.window.fullness_notice import telling
from holdfast.core.window.repair import Repaired
from holdfast.core.window.truncate import answers
from holdfast.engine.compaction.ladder import Ladder
from holdfast.engine.compaction.shedding import Shedding
from holdfast.engine.compaction.sizes import sized
from holdfast.engine.usage import caps
from holdfast.engine.window.over_budget import floor_error
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.engine.window.token_count import TokenCount, less, tuned
from holdfast.engine.window.turn_state import TurnState
from holdfast.model.view import View
from holdfast.model.window import Window

ATTEMPTS = 4
"""How often a window is made smaller before it is given up: each time it is counted again."""

CAREFUL = 0.99
"""When making it smaller, a little more goes than was too much."""


async def prepare(turn: TurnState, *, compact: bool = True) -> PreparedWindow:
    """The window to send now, made to fit where it may be.

    Over a preview's log this writes nothing and asks nobody, and the window is the same.
    """
    count = await TokenCount(turn).begin()
    # Load: markers first, then only what they leave visible.
    view = await turn.log.view()
    # Sections: what has changed around the conversation is appended, once.
    view = await turn.announce(view)
    # Assemble and compact: each plan that is due becomes a marker, and the view is loaded again.
    if compact:
        view = await Ladder(turn, count).climb(view)
    # Shed: where no step was enough, the oldest messages leave until it fits.
    made = await _shed(turn, view, count, ATTEMPTS if compact and turn.policy.makes_room else 0)
    made = await _note_fullness(turn, made, count)
    if made.window.over and compact and turn.policy.makes_room:
        raise floor_error(made.window)
    # Caps: the call must not cost more than may be spent.
    if turn.asks and turn.session.caps != caps.NO_CAPS:
        await caps.check(turn.session, turn.profile, made.window.tokens.most)
    return await _prepared(turn, made)


class Settled(Struct, frozen=True, kw_only=True):
    """A window that was counted, and what it was made from."""

    window: Window
    fixed: Repaired
    view: View
    estimated: int
    """What it was estimated at, uncalibrated."""
    worth: float
    """How many estimated tokens each token of the room has proved to be."""
    added: int = 0
    """What repairing has put in, which nobody can weigh beforehand."""


async def _settle(turn: TurnState, view: View, count: TokenCount) -> Settled:
    """The window of a view, counted as surely as it has to be."""
    made = await turn.assembled(view)
    budget, tokens = made.window.budget, await count.of(made)
    filled = max(budget.room + excess(tokens, budget), 1)
    return Settled(
        window=weighed(made.window, tokens, turn.policy),
        fixed=made.fixed,
        view=view,
        estimated=count.weighed,
        worth=made.window.tokens.tokens / filled * CAREFUL,
        added=made.added,
    )


async def _shed(turn: TurnState, view: View, count: TokenCount, attempts: int) -> Settled:
    """The window once the oldest messages have left, in a few attempts: the count may surprise."""
    around, budget = await turn.around(view.folded)
    limit, aim = count.hopeful(budget), count.careful(budget)
    shedding = Shedding(turn)
    while True:
        if attempts and (marker := await shedding.marker(view, around, limit, aim)):
            view = await turn.mark(view, await sized(turn, count, view, marker))
            around, budget = await turn.around(view.folded)
        made = await _settle(turn, view, count)
        attempts -= 1
        if attempts <= 0 or not made.window.over:
            return made
        unseen = max(made.added, made.estimated - shedding.weighed)
        limit = aim = less(tuned(budget, made.worth), unseen)


async def _note_fullness(turn: TurnState, made: Settled, count: TokenCount) -> Settled:
    """The same once the model is told how full its window is; as it was where that does not fit."""
    if turn.policy.awareness is None or made.window.over:
        return made
    seen, used = (await turn.assembled(made.view)).seen, made.window.tokens.tokens
    if not seen.messages or not answers(seen.messages[-1]):
        return made
    message = telling(
        seen.messages, used, made.window.budget.room, turn.policy.awareness, turn.profile
    )
    if message is None:
        return made
    trial = turn.preview()
    if (await _settle(trial, await trial.append(made.view, message), count)).window.over:
        return made
    return await _settle(turn, await turn.append(made.view, message), count)


async def _prepared(turn: TurnState, made: Settled) -> PreparedWindow:
    policy = turn.policy
    if turn.session.info.is_subtask:
        policy = replace(policy, microcompact=None)
    return PreparedWindow(
        made.window,
        turn.profile,
        folded=made.view.folded,
        head=made.view.last,
        estimated=made.estimated,
        fixes=made.fixed.fixes,
        given=await turn.log.keep(turn.encoded),
        policy=policy,
    )
