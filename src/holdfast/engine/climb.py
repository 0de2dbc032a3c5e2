"""Climbing the ladder: one plan after another is carried out, until nothing is due any more.

A plan holds against the marker it was made after. Where another came first nothing is changed, and
what was planned is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.core.assemble import Surroundings
from holdfast.core.ladder import first_telling, next_plan
from holdfast.core.situation import Situation
from holdfast.core.truncate import shown
from holdfast.engine.counting import Counting
from holdfast.engine.drafting import Drafting
from holdfast.engine.scene import Scene, markers, messages
from holdfast.engine.shedding import Shedding
from holdfast.errors import Conflict
from holdfast.failpoints import failpoint
from holdfast.model.log import Entry, Trigger
from holdfast.model.plan import Plan
from holdfast.model.policy import Step
from holdfast.model.span import Span, Spans, clip
from holdfast.model.view import View
from holdfast.model.window import Budget

REACH = 2.0
"""Planning reads the newest messages up to so many times the room; what is older is covered."""

STEPS = 8
"""More steps than there are are never taken for one window."""


class Climb:
    """The ladder for one turn of one session."""

    def __init__(self, scene: Scene, counting: Counting, *, write: bool) -> None:
        self._scene = scene
        self._counting = counting
        self._write = write
        self.drafting = Drafting(scene, ask=write)

    async def climbed(self, view: View) -> View:
        """The view once all that was due is done."""
        taken: set[Step] = set()
        for _ in range(0 if self._scene.guessed else STEPS):
            now = await self.situation(view)
            plan = next_plan(now, taken)
            if plan is None:
                return view
            taken.add(plan.step)
            drafted = await self.drafting.drafted(plan, now)
            if drafted is not None:
                view = await self._marked(view, drafted)
        return view

    async def _marked(self, view: View, plan: Plan) -> View:
        """The view with what was planned; as it is by now where somebody else was first."""
        failpoint("compaction.before_apply")
        try:
            return await self._scene.marked(view, plan.marker(), write=self._write)
        except Conflict:
            return await self._scene.session.view()

    async def situation(
        self, view: View, trigger: Trigger = "auto", *, since: int = 0, upto: int = 0
    ) -> Situation:
        """What every planner looks at."""
        scene = self._scene
        around, budget = await scene.around(view.folded)
        base = await self._base(view, around, budget)
        previous = self._previous()
        now = replace(
            base,
            previous=previous,
            safe=int(self._counting.careful(budget).room * self._counting.ratio),
            notes=await self._notes(view),
            idle=await self._idle(base.entries),
            asks=self.drafting.asks,
            since=since,
            upto=upto,
            trigger=trigger,
            forced=trigger == "manual",
        )
        if trigger != "auto" or not now.over:
            return now
        return replace(now, trigger="switch" if previous else "overflow")

    def _previous(self) -> str:
        """The model that was spoken to before, where it holds more than this one."""
        scene, before = self._scene, self._counting.spoken_to
        if not before or before == scene.given.model:
            return ""
        larger = scene.session.catalogue.profile(before).window > scene.profile.window
        return before if larger else ""

    async def _base(self, view: View, around: Surroundings, budget: Budget) -> Situation:
        scene = self._scene
        floor = (await scene.floor(view, around, budget)).tokens.tokens
        few = await scene.few(view)
        beyond, tokens = ((), 0) if few is not None else await self._beyond(view, budget)
        summaries = await scene.summaries(view)
        if beyond:
            first = beyond[-1].last + 1
            read = await messages(scene.log, view.session.id, clip(view.spans, first))
            as_shown = tuple(shown(entry, scene.cap) for entry in read)
            return Situation(
                view=view, entries=as_shown, policy=scene.policy, profile=scene.profile,
                budget=budget, summaries=summaries, beyond=beyond, beyond_tokens=tokens,
                floor=floor,
            )  # fmt: skip
        made = await scene.assembled(view, around, budget)
        count = await self._counting.of(made)
        return Situation(
            view=view, entries=made.seen.messages, policy=scene.policy, profile=scene.profile,
            budget=budget, window=made.window, count=count, summaries=summaries, floor=floor,
        )  # fmt: skip

    async def _beyond(self, view: View, budget: Budget) -> tuple[Spans, int]:
        """What is visible and too far back to be read for a plan, and about what it takes."""
        shedding = Shedding(self._scene)
        heads = await shedding.heads(view, int(budget.room * REACH))
        first = heads[0].seq if heads else 1
        older = clip(view.spans, 1, first - 1)
        tokens, left = 0, older
        while left and (page := await self._scene.log.heads(view.session.id, left)):
            tokens += sum(map(shedding.scale(view).head, page))
            left = clip(left, 1, page[0].seq - 1)
        return older, tokens

    async def _notes(self, view: View) -> Entry | None:
        seq = view.folded.notes
        if not seq or self._scene.policy.notes is None:
            return None
        found = await markers(self._scene.log, view.session.id, (Span(seq, seq),))
        return found[0] if found else None

    async def _idle(self, entries: Sequence[Entry]) -> int | None:
        """How long ago the last reply was; a label, so that a clock set back means just now."""
        replies = (e for e in reversed(entries) if e.provider or e.model)
        last = next(replies, None)
        if last is None:
            return None
        return max(self._scene.session.now() - (last.completed or last.created), 0)

    async def planned(
        self, view: View, *, focus: str = "", since: int = 0, upto: int = 0
    ) -> Plan | None:
        """The compaction that somebody asks for by hand, its summary written, nothing applied."""
        now = await self.situation(view, "manual", since=since, upto=upto)
        plan = first_telling(now) or next_plan(now)
        return await self.drafting.drafted(plan, now, focus=focus) if plan else None
