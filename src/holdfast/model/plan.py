"""A decided compaction that has not happened yet: shown, edited, applied, or dropped."""

from __future__ import annotations

from msgspec import Struct

from holdfast.model.decision import Decision
from holdfast.model.ledger import Objection, Report
from holdfast.model.log import Clear, PartRef, Shortened, Summary, Trigger
from holdfast.model.policy import Step
from holdfast.model.span import Spans


class Plan(Struct, omit_defaults=True, kw_only=True):
    """What is to be cleared, or told in a summary, and the marker that it becomes.

    It holds against one epoch: a marker that comes first makes it stale, and nothing is changed.
    """

    step: Step
    epoch: int
    session: str = ""
    """The session it was made for; it can be applied to no other, not even to a fork of it."""
    policy: str = ""
    trigger: Trigger = "auto"
    clears: tuple[PartRef, ...] = ()
    covers: Spans = ()
    kept: tuple[int, ...] = ()
    shortened: tuple[Shortened, ...] = ()
    asked: int = 0
    merges: tuple[int, ...] = ()
    """Summaries that this one carries on."""
    before: int = 0
    """What is concerned takes so many tokens now, by estimate."""
    stays: int = 0
    """Of these, what stays word for word."""
    promised: int = 0
    """What is freed at least; a summary that would free less is not accepted."""
    most: int = 0
    """How long the summary may be, the ledger beside it and the words before it included."""
    frame: int = 0
    """What stands around the summary: the words before it, and its tags."""
    summary: str = ""
    """The text that will stand for what is covered; it may be edited."""
    ledger: str = ""
    facts: bytes = b""
    expand: str = ""
    model: str = ""
    """Who wrote the summary; empty where no model did."""
    cost: int = 0
    calls: int = 0
    """How often a model was asked for it."""
    decision: Decision | None = None
    report: Report | None = None
    """What becomes of every item of the ledger."""
    objections: tuple[Objection, ...] = ()
    """What was held against the summaries that were not accepted."""
    reason: str = ""
    veto: str = ""
    """Which hook was against it, where one was."""

    def marker(self, after: int = 0) -> Summary | Clear:
        """The marker it becomes."""
        if self.clears:
            return Clear(
                parts=self.clears,
                reason=self.reason,
                step=self.step,
                policy=self.policy,
                trigger=self.trigger,
                tokens_before=self.before,
                tokens_after=after or self.before - self.promised,
                decision=self.decision,
            )
        return Summary(
            covers=self.covers,
            text=self.summary,
            kept=self.kept,
            shortened=self.shortened,
            asked=self.asked,
            merges=self.merges,
            trigger=self.trigger,
            step=self.step,
            policy=self.policy,
            model=self.model,
            tokens_before=self.before,
            tokens_after=after or self.before - self.promised,
            cost=self.cost,
            ledger=self.ledger,
            facts=self.facts,
            expand=self.expand,
            decision=self.decision,
            reason=self.reason,
        )
