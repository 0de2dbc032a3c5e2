"""Climbing the ladder: one plan after another is carried out, until nothing is due any more.

A plan holds against the marker it was made after. Where another came first nothing is changed, and
what was planned is dropped.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from holdfast.core.compaction.clear import WARNING, warned
from holdfast.core.compaction.ladder import TELLING, first_telling, next_plan
from holdfast.core.compaction.situation import Situation
from holdfast.core.window.assemble import Surroundings
from holdfast.core.window.truncate import all_shown
from holdfast.engine.compaction.background import noted, prepared, wants_notes, wants_summary
from holdfast.engine.compaction.lease import Lease, is_flying
from holdfast.engine.compaction.shedding import PAGE, Shedding
from holdfast.engine.compaction.sizes import sized
from holdfast.engine.compaction.summary import SummaryWriter
from holdfast.engine.window.token_count import TokenCount
from holdfast.engine.window.turn_state import TurnState, markers, messages
from holdfast.errors import Conflict
from holdfast.failpoints import failpoint
from holdfast.model.log import Entry, Trigger
from holdfast.model.message import Message
from holdfast.model.plan import Plan
from holdfast.model.policy import Step
from holdfast.model.span import Span, Spans, clip
from holdfast.model.view import View
from holdfast.model.window import Budget

STEPS = 8
"""More steps than there are are never taken for one window."""


PAUSE = 0.05
"""How long it is between two looks at whether somebody else is done, in seconds."""

PATIENCE = 20.0
"""How long a window that is full waits for somebody else's summary before it does without one."""


class Ladder:
    """The ladder for one turn of one session."""

    def __init__(self, scene: TurnState, counting: TokenCount, *, write: bool) -> None:
        self.scene = scene
        self._counting = counting
        self._write = write
        self.drafting = SummaryWriter(scene, ask=write)

    async def climbed(self, view: View) -> View:
        """The view once all that was due is done."""
        taken: set[Step] = set()
        for _ in range(0 if self.scene.guessed else STEPS):
            now = await self.situation(view, brief=True)
            if not now.over and next_plan(now, taken) is None:  # as on most turns
                self._look_ahead(now)
                return view
            now = await self.situation(view)
            plan = next_plan(now, taken)
            if plan is None:
                self._look_ahead(now)
                return view
            if plan.step in TELLING and self._counting.doubts(now.window, now.count):
                continue  # planned again once the provider has counted
            if plan.step in TELLING and self.drafting.asks:
                view = await self._told(plan, now, view, taken)
                continue
            taken.add(plan.step)
            if self._warns(plan, now):
                view = await self._warned(view)
            elif drafted := await self.drafting.drafted(plan, now):
                view = await self._marked(view, drafted)
        return view

    async def _told(self, plan: Plan, now: Situation, view: View, taken: set[Step]) -> View:
        """The view once a model has summarised, here or ahead of time; one at a time."""
        session = self.scene.session
        if ready := session.ahead.take(session.id, view.folded.epoch):
            return await self._marked(view, ready)
        flight = await Lease.begin(session, "summary", _seconds(now))
        if flight is None and now.over and await self._done(min(_seconds(now), PATIENCE)):
            return await session.view()
        taken.add(plan.step)
        if flight is None and now.over:  # whoever was at it may be gone for good
            drafted = await SummaryWriter(self.scene, ask=False).drafted(plan, now)
            return await self._marked(view, drafted) if drafted else view
        if flight is None:  # somebody is at it, and until then all fits
            taken.update(TELLING)
            return view
        outcome = "failed"
        try:
            drafted = await self.drafting.drafted(plan, now, flight=flight)
            outcome = "done" if drafted else "nothing"
        finally:
            await flight.end(outcome)
        return await self._marked(view, drafted) if drafted else view

    async def _done(self, seconds: float) -> bool:
        """Wait for whoever is at it, but not for ever; whether nobody is any more."""
        session = self.scene.session
        for _ in range(int(seconds / PAUSE) + 1):
            if not await is_flying(session, "summary"):
                return True
            if session.pause:
                await session.pause(PAUSE)
        return False

    def _look_ahead(self, now: Situation) -> None:
        """Have done beside the turns what will be due before long."""
        if not self._write:
            return
        if wants_summary(now) and not self.scene.session.ahead.has(
            self.scene.session.id, now.view.folded.epoch
        ):
            self._beside("summary", self._prepare)
        if self.scene.session.ledgers.behind:
            self._beside("ledger", self._gather)
        if wants_notes(now):
            self._beside("notes", self._note)

    def _beside(self, kind: str, work: Callable[[Ladder], Awaitable[None]]) -> None:
        """Run some work on a hold of its own on the session, once at a time."""
        session, scene = self.scene.session, self.scene

        async def run() -> None:
            try:
                other = session.again()
                there = TurnState(other, scene.given, scene.profile, scene.policy)
                counting = await self._counting.again(other)
                await work(Ladder(there, counting, write=True))
                session.pay(other.spent)
            finally:
                session.ahead.busy.discard(kind)

        if session.spawn and kind not in session.ahead.busy:
            session.ahead.busy.add(kind)
            session.spawn(run)

    async def _prepare(self, other: Ladder) -> None:
        self.scene.session.ahead.plan = await prepared(other)

    async def _gather(self, other: Ladder) -> None:
        """Gather the facts of an old session slice by slice, until all of it is read."""
        session = other.scene.session
        while await session.ledgers.catch_up(session.id, session.info.head):
            if session.pause:
                await session.pause(PAUSE)
        self.scene.session.ledgers.behind = False

    async def _note(self, other: Ladder) -> None:
        await noted(other)

    def _warns(self, plan: Plan, now: Situation) -> bool:
        """Whether the model is to be told first, so that it can save what it needs."""
        if not (plan.clears and now.policy.warns and self._write) or now.over:
            return False
        return not warned(now.entries, now.view.folded.cleared)

    async def _warned(self, view: View) -> View:
        await self.scene.session.append(Message("user", (WARNING,)))
        return await self.scene.session.view()

    async def _marked(self, view: View, plan: Plan) -> View:
        """The view with what was planned; as it is by now where somebody else was first."""
        failpoint("compaction.before_apply")
        marker = plan.marker()
        if self._write:
            marker = await sized(self.scene, self._counting, view, marker)
        try:
            return await self.scene.marked(view, marker, write=self._write)
        except Conflict:
            return await self.scene.session.view()

    async def situation(
        self,
        view: View,
        trigger: Trigger = "auto",
        *,
        since: int = 0,
        upto: int = 0,
        brief: bool = False,
    ) -> Situation:
        """What every planner looks at; in brief, all that says whether anything is to be done."""
        scene = self.scene
        around, budget = await scene.around(view.folded)
        base = await self._base(view, around, budget, brief=brief)
        previous = self._previous()
        now = replace(
            base,
            previous=previous,
            safe=int(self._counting.careful(budget).room * self._counting.ratio),
            laid=0 if brief else await self._laid(view, base.floor),
            notes=await self._notes(view),
            idle=await self._idle(base.entries),
            asks=self.drafting.asks,
            asking=self.drafting.asking,
            since=since,
            upto=upto,
            trigger=trigger,
            forced=trigger == "manual",
        )
        if trigger != "auto" or not now.over:
            return now
        resumed = "resume" if scene.session.resumed else "overflow"
        return replace(now, trigger="switch" if previous else resumed)

    def _previous(self) -> str:
        """The model that was spoken to before, where it holds more than this one."""
        scene, before = self.scene, self._counting.spoken_to
        if not before or before == scene.given.model:
            return ""
        larger = scene.session.catalogue.profile(before).window > scene.profile.window
        return before if larger else ""

    async def _base(
        self, view: View, around: Surroundings, budget: Budget, *, brief: bool
    ) -> Situation:
        scene = self.scene
        floor = 0 if brief else (await scene.floor(view, around, budget)).tokens.tokens
        beyond, tokens = await self._beyond(view, budget)
        summaries = await scene.summaries(view)
        if beyond:
            first = beyond[-1].last + 1
            read = await messages(scene.log, view.session.id, clip(view.spans, first))
            as_shown = tuple(all_shown(read, scene.cap))
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
            own=self._counting.own(made), exact=await self._counting.exactly(view),
        )  # fmt: skip

    async def _laid(self, view: View, floor: int) -> int:
        """What the sections take more once they show what was told at the tail."""
        folded, scene = view.folded, self.scene
        if folded.base == folded.context:
            return 0
        later = replace(folded, base=folded.context)
        around, budget = await scene.around(later)
        made = await scene.floor(replace(view, folded=later), around, budget)
        return max(made.tokens.tokens - floor, 0)

    async def _beyond(self, view: View, budget: Budget) -> tuple[Spans, int]:
        """What is visible and too far back to be read for a plan, and what it takes at least.

        It is more than fits in any case: how much more would cost as much as the log is long.
        """
        shedding = Shedding(self.scene)
        older = await shedding.beyond(view, budget.room)
        tokens, left, weight = 0, older, shedding.scale(view).head
        while left and tokens <= budget.room:
            page = await self.scene.log.heads(view.session.id, left, limit=PAGE)
            if not page:
                break
            tokens += sum(map(weight, page))
            left = clip(left, 1, page[0].seq - 1)
        return older, tokens

    async def _notes(self, view: View) -> Entry | None:
        seq = view.folded.notes
        if not seq or self.scene.policy.notes is None:
            return None
        found = await markers(self.scene.log, view.session.id, (Span(seq, seq),))
        return found[0] if found else None

    async def _idle(self, entries: Sequence[Entry]) -> int | None:
        """How long ago the last reply was; a label, so that a clock set back means just now."""
        replies = (e for e in reversed(entries) if e.provider or e.model)
        last = next(replies, None)
        if last is None:
            return None
        return max(self.scene.session.now() - (last.completed or last.created), 0)

    async def planned(
        self, view: View, *, focus: str = "", since: int = 0, upto: int = 0, noted: bool = True
    ) -> tuple[Plan | None, Plan | None]:
        """The compaction that somebody asks for by hand: as it is planned, and with its summary.

        The first is None where there is nothing to compact, the second where no summary came.
        Running notes are used only where `noted`: they dwell on nothing in particular.
        """
        now = await self.situation(view, "manual", since=since, upto=upto)
        plan = first_telling(now, noted=noted) or next_plan(now)
        return plan, await self.drafting.drafted(plan, now, focus=focus) if plan else None


def _seconds(now: Situation) -> float:
    """How long one question for a summary may take."""
    rule = now.policy.summarise or now.policy.compact
    return rule.timeout if rule else 0.0
