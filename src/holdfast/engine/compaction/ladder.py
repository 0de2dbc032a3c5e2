"""Climbing the ladder: one plan after another is carried out, until nothing is due any more.

A plan holds against the marker it was made after. Where another came first nothing is changed, and
what was planned is dropped.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from holdfast.core.compaction.clear import WARNING, warned
from holdfast.core.compaction.ladder import TELLING, first_telling, next_plan
from holdfast.core.compaction.notes import wants_notes
from holdfast.core.compaction.situation import Situation
from holdfast.core.compaction.summarise import is_near
from holdfast.core.window.assemble import Surroundings
from holdfast.core.window.truncate import all_shown
from holdfast.engine.compaction.lease import Lease, is_held
from holdfast.engine.compaction.notes import take_notes
from holdfast.engine.compaction.shedding import PAGE, Shedding
from holdfast.engine.compaction.sizes import sized
from holdfast.engine.compaction.summary import SummaryWriter
from holdfast.engine.loading import markers, messages
from holdfast.engine.window.token_count import TokenCount
from holdfast.engine.window.turn_state import TurnState
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

    def __init__(self, turn: TurnState, count: TokenCount) -> None:
        self.turn = turn
        self._count = count

    async def climb(self, view: View) -> View:
        """The view once all that was due is done."""
        taken: set[Step] = set()
        for _ in range(0 if self.turn.guessed else STEPS):
            now, plan = await self.situation(view, brief=True), None
            if now.over or next_plan(now, taken):  # on most turns neither
                now = await self.situation(view)
                plan = next_plan(now, taken)
            if plan is None:
                self._look_ahead(now)
                return view
            if plan.step in TELLING and self._count.doubts(now.window, now.count):
                continue  # planned again once the provider has counted
            view = await self._carry_out(plan, now, view, taken)
        return view

    async def _carry_out(self, plan: Plan, now: Situation, view: View, taken: set[Step]) -> View:
        """The view once a plan has become a marker, where it does."""
        if plan.step in TELLING and self.turn.has_summariser:
            return await self._summarise(plan, now, view, taken)
        taken.add(plan.step)
        if self._warns(plan, now):
            return await self.turn.append(view, Message("user", (WARNING,)))
        drafted = await SummaryWriter(self.turn).drafted(plan, now)
        return await self._mark(view, drafted) if drafted else view

    async def _summarise(self, plan: Plan, now: Situation, view: View, taken: set[Step]) -> View:
        """The view once a model has summarised, here or ahead of time; one at a time."""
        session = self.turn.session
        if ready := session.ahead.take(session.id, view.folded.epoch):
            return await self._mark(view, ready)
        lease = await Lease.begin(session, "summary", _seconds(now))
        if lease is None and now.over and await self._others_end(min(_seconds(now), PATIENCE)):
            return await session.view()
        taken.add(plan.step)
        if lease is None and now.over:  # the process that holds it may be gone for good
            drafted = await SummaryWriter(self.turn, asks=False).drafted(plan, now)
            return await self._mark(view, drafted) if drafted else view
        if lease is None:  # another process is at it, and until then all fits
            taken.update(TELLING)
            return view
        outcome = "failed"
        try:
            drafted = await SummaryWriter(self.turn).drafted(plan, now, lease=lease)
            outcome = "done" if drafted else "nothing"
        finally:
            await lease.end(outcome)
        return await self._mark(view, drafted) if drafted else view

    async def _others_end(self, seconds: float) -> bool:
        """Wait for the process that holds the lease, but not for ever; whether it has ended."""
        session = self.turn.session
        for _ in range(int(seconds / PAUSE) + 1):
            if not await is_held(session, "summary"):
                return True
            if session.pause:
                await session.pause(PAUSE)
        return False

    def _look_ahead(self, now: Situation) -> None:
        """Have done in the background what will be due before long."""
        session = self.turn.session
        if not self.turn.asks:
            return
        if is_near(now) and not session.ahead.has(session.id, now.view.folded.epoch):
            self._spawn("summary", self._prepare)
        if session.ledgers.behind:
            self._spawn("ledger", self._gather)
        if wants_notes(now):
            self._spawn("notes", self._note)

    def _spawn(self, kind: str, work: Callable[[Ladder], Awaitable[None]]) -> None:
        """Run some work in the background over a writer of its own, once at a time."""
        session, turn = self.turn.session, self.turn

        async def run() -> None:
            try:
                other = session.again()
                there = TurnState(other, turn.given, turn.profile, turn.policy)
                await work(Ladder(there, await TokenCount(there).begin()))
                session.pay(other.spent)
            finally:
                session.ahead.busy.discard(kind)

        if session.spawn and kind not in session.ahead.busy:
            session.ahead.busy.add(kind)
            session.spawn(run)

    async def _prepare(self, other: Ladder) -> None:
        self.turn.session.ahead.plan = await other.prepared()

    async def prepared(self) -> Plan | None:
        """A summary of what is visible now, written and accepted, to be applied when it is due.

        It holds against the marker it was made after. What is appended meanwhile is never covered,
        since a plan names what it covers when it is made.
        """
        turn, rule = self.turn, self.turn.policy.summarise or self.turn.policy.compact
        lease = await Lease.begin(turn.session, "summary", rule.timeout if rule else 0.0)
        if lease is None:
            return None
        outcome = "failed"
        try:
            now = await self.situation(await turn.session.view())
            plan = first_telling(replace(now, forced=True))
            made = await SummaryWriter(turn).drafted(plan, now, lease=lease) if plan else None
            outcome = "done" if made and made.model else "nothing"
            return made if made and made.model else None
        finally:
            await lease.end(outcome)

    async def _gather(self, other: Ladder) -> None:
        """Gather the facts of an old session slice by slice, until all of it is read."""
        session = other.turn.session
        while await session.ledgers.catch_up(session.id, session.info.head):
            if session.pause:
                await session.pause(PAUSE)
        self.turn.session.ledgers.behind = False

    async def _note(self, other: Ladder) -> None:
        await take_notes(other.turn, other.situation)

    def _warns(self, plan: Plan, now: Situation) -> bool:
        """Whether the model is to be told first, so that it can save what it needs."""
        if not (plan.clears and now.policy.warns and self.turn.asks) or now.over:
            return False
        return not warned(now.entries, now.view.folded.cleared)

    async def _mark(self, view: View, plan: Plan) -> View:
        """The view with what was planned; as it is by now where another writer came first."""
        failpoint("compaction.before_apply")
        marker = await sized(self.turn, self._count, view, plan.marker())
        try:
            return await self.turn.mark(view, marker)
        except Conflict:
            return await self.turn.session.view()

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
        turn = self.turn
        around, budget = await turn.around(view.folded)
        base = await self._base(view, around, budget, brief=brief)
        previous = self._previous()
        now = replace(
            base,
            previous=previous,
            safe=int(self._count.careful(budget).room * self._count.ratio),
            laid=0 if brief else await self._laid(view, base.floor),
            notes=await self._notes(view),
            idle=await self._idle(base.entries),
            asks=turn.has_summariser,
            asking=turn.weak_model,
            since=since,
            upto=upto,
            trigger=trigger,
            forced=trigger == "manual",
        )
        if trigger != "auto" or not now.over:
            return now
        resumed = "resume" if turn.session.resumed else "overflow"
        return replace(now, trigger="switch" if previous else resumed)

    def _previous(self) -> str:
        """The model that was spoken to before, where it holds more than this one."""
        turn, before = self.turn, self._count.spoken_to
        if not before or before == turn.given.model:
            return ""
        larger = turn.session.catalogue.profile(before).window > turn.profile.window
        return before if larger else ""

    async def _base(
        self, view: View, around: Surroundings, budget: Budget, *, brief: bool
    ) -> Situation:
        turn = self.turn
        floor = 0 if brief else (await turn.floor(view, around, budget)).tokens.tokens
        beyond, tokens = await self._beyond(view, budget)
        summaries = await turn.log.summaries(view)
        if beyond:
            first = beyond[-1].last + 1
            read = await messages(turn.stored, view.session.id, clip(view.spans, first))
            as_shown = tuple(all_shown(read, turn.cap))
            return Situation(
                view=view, entries=as_shown, policy=turn.policy, profile=turn.profile,
                budget=budget, summaries=summaries, beyond=beyond, beyond_tokens=tokens,
                floor=floor,
            )  # fmt: skip
        made = await turn.assembled(view)
        count = await self._count.of(made)
        return Situation(
            view=view, entries=made.seen.messages, policy=turn.policy, profile=turn.profile,
            budget=budget, window=made.window, count=count, summaries=summaries, floor=floor,
            own=self._count.own(made), exact=await self._count.exactly(view),
        )  # fmt: skip

    async def _laid(self, view: View, floor: int) -> int:
        """What the sections take more once they show what was told at the tail."""
        folded, turn = view.folded, self.turn
        if folded.base == folded.context:
            return 0
        later = replace(folded, base=folded.context)
        around, budget = await turn.around(later)
        made = await turn.floor(replace(view, folded=later), around, budget)
        return max(made.tokens.tokens - floor, 0)

    async def _beyond(self, view: View, budget: Budget) -> tuple[Spans, int]:
        """What is visible and too far back to be read for a plan, and what it takes at least.

        It is more than fits in any case: how much more would cost as much as the log is long.
        """
        shedding = Shedding(self.turn)
        older = await shedding.beyond(view, budget.room)
        tokens, left, weight = 0, older, shedding.scale(view).head
        while left and tokens <= budget.room:
            page = await self.turn.stored.heads(view.session.id, left, limit=PAGE)
            if not page:
                break
            tokens += sum(map(weight, page))
            left = clip(left, 1, page[0].seq - 1)
        return older, tokens

    async def _notes(self, view: View) -> Entry | None:
        seq = view.folded.notes
        if not seq or self.turn.policy.notes is None:
            return None
        found = await markers(self.turn.stored, view.session.id, (Span(seq, seq),))
        return found[0] if found else None

    async def _idle(self, entries: Sequence[Entry]) -> int | None:
        """How long ago the last reply was; a label, so that a clock set back means just now."""
        replies = (e for e in reversed(entries) if e.provider or e.model)
        last = next(replies, None)
        if last is None:
            return None
        return max(self.turn.session.now() - (last.completed or last.created), 0)

    async def planned(
        self, view: View, *, focus: str = "", since: int = 0, upto: int = 0, noted: bool = True
    ) -> tuple[Plan | None, Plan | None]:
        """The compaction that somebody asks for by hand: as it is planned, and with its summary.

        The first is None where there is nothing to compact, the second where no summary came.
        Running notes are used only where `noted`: they dwell on nothing in particular.
        """
        now = await self.situation(view, "manual", since=since, upto=upto)
        plan = first_telling(now, noted=noted) or next_plan(now)
        if plan is None:
            return None, None
        return plan, await SummaryWriter(self.turn).drafted(plan, now, focus=focus)


def _seconds(now: Situation) -> float:
    """How long one question for a summary may take."""
    rule = now.policy.summarise or now.policy.compact
    return rule.timeout if rule else 0.0
