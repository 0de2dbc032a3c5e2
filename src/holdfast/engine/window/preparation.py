"""Preparing a turn: from the log to a window that fits, and its request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from holdfast.core.tokens.calibrate import excess
from holdfast.core.window.assemble import Surroundings, weighed
from holdfast.core.window.fullness_notice import telling
from holdfast.core.window.repair import Repaired
from holdfast.engine.compaction.ladder import Ladder
from holdfast.engine.compaction.shedding import Shedding
from holdfast.engine.compaction.sizes import sized
from holdfast.engine.window.sections import Given
from holdfast.engine.window.token_count import TokenCount, less, tuned
from holdfast.engine.window.turn_state import TurnState
from holdfast.model import wire
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.view import View
from holdfast.model.window import Budget, Window

if TYPE_CHECKING:
    from holdfast.engine.session import AsyncSession

ATTEMPTS = 4
"""How often a window is made smaller before it is given up: each time it is counted again."""

CAREFUL = 0.99
"""When making it smaller, a little more goes than was too much."""


class Prepared(Struct, frozen=True, kw_only=True):
    """A window that is ready, and what it was made from."""

    window: Window
    fixed: Repaired
    view: View
    estimated: int
    """What it was estimated at, uncalibrated."""
    worth: float
    """How many estimated tokens each token of the room has proved to be."""
    added: int = 0
    """What repairing has put in, which nobody can weigh beforehand."""


class Preparation:
    """One turn being prepared for one session."""

    def __init__(
        self, session: AsyncSession, given: Given, profile: Profile, policy: Policy
    ) -> None:
        self._session = session
        self.scene = TurnState(session, given, profile, policy)

    async def window(self, *, write: bool, compact: bool) -> Prepared:
        """The window to send now: the ladder first, where allowed, and shedding as the last."""
        counting = await self.counting(write=write)
        view = await self.scene.view(write=write)
        if compact:
            view = await Ladder(self.scene, counting, write=write).climbed(view)
        around, budget = await self.scene.around(view.folded)
        limit, aim = counting.hopeful(budget), counting.careful(budget)
        attempts = ATTEMPTS if compact and self.scene.policy.makes_room else 0
        shedding = Shedding(self.scene)
        while True:
            if attempts and (marker := await shedding.marker(view, around, limit, aim)):
                marker = await sized(self.scene, counting, view, marker) if write else marker
                view = await self.scene.marked(view, marker, write=write)
                around, budget = await self.scene.around(view.folded)
            made = await self._settled(view, around, budget, counting)
            attempts -= 1
            if not made.window.over:
                return await self._aware(made, around, budget, counting, write=write)
            if attempts <= 0:
                return made
            unseen = max(made.added, made.estimated - shedding.weighed)
            limit = aim = less(tuned(budget, made.worth), unseen)

    async def _aware(
        self,
        made: Prepared,
        around: Surroundings,
        budget: Budget,
        counting: TokenCount,
        *,
        write: bool,
    ) -> Prepared:
        """The same once the model is told how full its window is, where that is to be said.

        What would no longer fit for being told so is not told.
        """
        scene = self.scene
        if scene.policy.awareness is None:
            return made
        seen = (await scene.assembled(made.view, around, budget)).seen
        used = made.window.tokens.tokens
        message = telling(seen.messages, used, budget.room, scene.policy.awareness, scene.profile)
        if message is None:
            return made
        pretended = await scene.said(made.view, message, write=False)
        told = await self._settled(pretended, around, budget, counting)
        if not told.window.over and not write:
            return told
        scene.unsay()
        if told.window.over:
            return made
        view = await scene.said(made.view, message, write=True)
        return await self._settled(view, around, budget, counting)

    async def of(self, view: View) -> tuple[Window, Repaired]:
        """The window of a view as it is, past or present; nothing is written or shed."""
        around, budget = await self.scene.around(view.folded)
        made = await self.scene.assembled(view, around, budget)
        return made.window, made.fixed

    async def counting(self, *, write: bool, planning: bool = False) -> TokenCount:
        """How the windows of this turn are counted.

        The provider's endpoint is asked for a window that is sent, and for a compaction by hand;
        a preview is shown often, and makes do with the estimate.
        """
        scene = self.scene
        given = wire.digest(wire.encode(scene.given)).hex()
        return await TokenCount(
            self._session, scene.profile, scene.policy, given, write=write, asks=write or planning
        ).begin()

    async def _settled(
        self, view: View, around: Surroundings, budget: Budget, counting: TokenCount
    ) -> Prepared:
        """The window of a view, counted as surely as it has to be."""
        made = await self.scene.assembled(view, around, budget)
        window = made.window
        count = await counting.of(made)
        return Prepared(
            window=weighed(window, count, self.scene.policy),
            fixed=made.fixed,
            view=view,
            estimated=counting.weighed,
            worth=window.tokens.tokens / max(budget.room + excess(count, budget), 1) * CAREFUL,
            added=made.added,
        )
