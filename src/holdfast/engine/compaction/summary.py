"""Writing what a plan needs: the ledger beside it, the summary itself, and what becomes of both.

A summary is asked of the models a policy names, held against the ledger, and accepted or not. Where
none is, a policy says whether all stays as it is or a summary is made without a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.compaction.acceptance import refusals
from holdfast.core.compaction.situation import Situation
from holdfast.core.compaction.summarise import LEAST, told_from
from holdfast.core.extract import digested, extract, listing
from holdfast.core.ledger.render import render
from holdfast.core.log.transcript_text import earlier, told
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.recall import expandable, recalled, without_recalled
from holdfast.engine.compaction.focus import standing
from holdfast.engine.compaction.lease import Lease
from holdfast.engine.compaction.model_summary import ModelSummary
from holdfast.engine.inspect.ledger import packed
from holdfast.engine.loading import messages
from holdfast.failpoints import failpoint
from holdfast.model.ledger import Ledger, Objection
from holdfast.model.log import Entry, Summary
from holdfast.model.plan import Plan
from holdfast.model.policy import Summarise
from holdfast.model.span import clip, remaining, within, without

if TYPE_CHECKING:
    from holdfast.engine.window.turn_state import TurnState

LEDGER = 0.2
EXPAND = 0.05
"""The shares of a summary that the ledger and the list of what can be expanded take at most."""

FRAME = 24
"""What stands around a ledger: its tags."""

BEYOND = 4_000
"""In so many tokens entries are told that are too far back to be read; of these the best stay."""

JOINT = 2
"""What parts a summary from what is laid beside it."""


class SummaryWriter:
    """How the plans of one turn come to their summaries."""

    def __init__(self, turn: TurnState, *, asks: bool = True) -> None:
        self._turn = turn
        self._asks = asks and turn.has_summariser

    async def drafted(
        self, plan: Plan, now: Situation, *, focus: str = "", lease: Lease | None = None
    ) -> Plan | None:
        """The plan with its summary; None where it was vetoed, or no summary was accepted."""
        failpoint("compaction.planned")
        plan.session, before = self._turn.session.id, plan.summary
        first = told_from(now, plan.covers) if plan.covers else 0
        now = replace(now, summaries=now.replaced)  # another one stands for what it covers
        told = await self._turn.session.upkeep.consulted(plan)
        if told is False:
            return None
        replaced = plan.summary != before
        if told:
            focus = "\n".join(filter(None, (focus, told)))
        if plan.clears:
            return plan
        focus = "\n\n".join(filter(None, (focus, self._standing())))
        rule = _rule(plan, now)
        ledger = await self._ledger(plan, now)
        plan = self._beside(plan, now, ledger, rule, first)
        if replaced and (against := self._against(plan, now, ledger, rule)):
            plan.objections, plan.summary = (*plan.objections, *against), before
        if not plan.summary:
            await self._write(plan, now, ledger, rule, focus, lease)
        plan.summary = without_recalled(plan.summary)
        if not plan.summary.strip():
            return None
        plan.expand = await self._listed(plan, now, rule)
        plan.facts = packed(ledger, self._turn.session.secrets)
        failpoint("compaction.written")
        return plan

    def _standing(self) -> str:
        """What every compaction of this session is to dwell on."""
        session = self._turn.session
        return standing(self._turn.policy, session.info.directory, session.trust)

    def _against(
        self, plan: Plan, now: Situation, ledger: Ledger, rule: Summarise
    ) -> list[Objection]:
        """What speaks against a summary that a hook wrote: it has to be as good as any other."""
        texts = [told(entry) for entry in now.entries if within(entry.seq, plan.covers)]
        return refusals(
            plan.summary,
            "end",
            most=max(plan.most - estimate(plan.ledger) - FRAME, 64),
            ledger=ledger if rule.ledger else None,
            # What a hook knows from elsewhere is no invention; what it contradicts is.
            covered="\n".join((*texts, *earlier(now.summaries), plan.summary)),
            visible=remaining(now.view.spans, plan.covers, plan.kept),
        )

    async def _ledger(self, plan: Plan, now: Situation) -> Ledger:
        session = self._turn.session
        return await session.ledgers.near(session.id, plan.covers[-1].last, now.summaries)

    def _beside(
        self, plan: Plan, now: Situation, ledger: Ledger, rule: Summarise, first: int
    ) -> Plan:
        """What code knows is laid beside the prose: facts, and what can be expanded."""
        if not rule.ledger:
            last = plan.covers[-1].last
            plan.expand = recalled(first, last) if now.policy.recalls else ""
            return plan
        prose = max(plan.most - now.frame - LEAST, 0)
        facts = render(ledger, int(prose * LEDGER) - FRAME) if prose * LEDGER > FRAME else ""
        covered = [e for e in now.entries if within(e.seq, plan.covers) and e.seq not in plan.kept]
        plan.ledger = facts
        plan.expand = expandable(covered, now.calling, int(prose * EXPAND))
        return plan

    async def _write(
        self,
        plan: Plan,
        now: Situation,
        ledger: Ledger,
        rule: Summarise,
        focus: str,
        lease: Lease | None,
    ) -> None:
        """Have the prose written: by a model where there is one, otherwise without."""
        beside = estimate(plan.ledger) + estimate(plan.expand) + 2 * JOINT
        left = int((plan.most - now.frame - beside) * (1 - rule.names))
        if self._asks:
            writing = ModelSummary(self._turn, rule, ledger, plan, now, lease)
            await writing.write(left, focus)
        if not plan.summary and (not self._asks or _does_without(rule, now)):
            plan.summary = await self._extracted(plan, now, ledger, left, focus)

    async def _listed(self, plan: Plan, now: Situation, rule: Summarise) -> str:
        """What can be expanded, and behind it the names that nothing beside them tells."""
        told = _all(plan)
        left = plan.most - now.frame - estimate(told) - 3 * JOINT
        if not rule.names or left < LEAST:
            return plan.expand
        first = now.entries[0].seq if now.entries else 1
        log, covers = self._turn.stored, clip(plan.covers, first)
        whole = await messages(log, self._turn.session.id, covers)  # what was cut names things too
        covered = [entry for entry in whole if entry.seq not in plan.kept]
        before = [*_told(now.summaries), *await self._beyond(plan, now)]
        listed = listing(covered, before, left, beside=told)
        return "\n\n".join(filter(None, (plan.expand, listed)))

    async def _extracted(
        self, plan: Plan, now: Situation, ledger: Ledger, budget: int, focus: str
    ) -> str:
        covered = [e for e in now.entries if within(e.seq, plan.covers) and e.seq not in plan.kept]
        before = [*earlier(now.summaries), *(text for _, text in await self._beyond(plan, now))]
        return extract(covered, before, budget, ledger=ledger, beside=plan.ledger, focus=focus)

    async def _beyond(self, plan: Plan, now: Situation) -> list[tuple[int, str]]:
        """What is covered and too far back to be read, as it was gathered; its last entry."""
        spans = without(plan.covers, without(plan.covers, now.beyond))
        if not spans:
            return []
        session = self._turn.session
        digest = await session.ledgers.digest(session.id, plan.covers[-1].last)
        text = digested(digest, spans, BEYOND)
        return [(spans[-1].last, text)] if text else []


def _does_without(rule: Summarise, now: Situation) -> bool:
    """Whether a summary that no model wrote is better than none, as a policy sees it."""
    if rule.failing == "keep":
        return now.over and now.policy.makes_room
    return rule.failing == "extract"


def _rule(plan: Plan, now: Situation) -> Summarise:
    """The rule a plan was made by; running notes have none of their own."""
    made = {"summarise": now.policy.summarise, "compact": now.policy.compact}.get(plan.step)
    return made or now.policy.compact or now.policy.summarise or Summarise()


def _told(summaries: Sequence[Entry]) -> list[tuple[int, str]]:
    """All that earlier summaries say, each with the last entry that it covers."""
    bodies = [entry.body for entry in summaries]
    return [
        (b.covers[-1].last, "\n".join((b.text, b.ledger, b.expand)))
        for b in bodies
        if isinstance(b, Summary) and b.step != "shed" and b.covers
    ]


def _all(plan: Plan) -> str:
    return "\n\n".join(filter(None, (plan.summary, plan.ledger, plan.expand)))
