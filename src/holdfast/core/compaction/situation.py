"""What a planner looks at: the view, its window, the budget and the count, and what time it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from msgspec import Struct

from holdfast.core.compaction.shed import CLEARED, Scale
from holdfast.core.log.boundary import (
    answer_at,
    cut_before,
    is_reply,
    just_asked,
    notices_from,
    pending_from,
    unread_from,
)
from holdfast.core.tokens.calibrate import excess
from holdfast.core.tokens.count import MESSAGE, WEIGHED, weigh
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.scaffold import wrap
from holdfast.core.window.truncate import Cap
from holdfast.model.log import Entry, PartRef, Summary, Trigger
from holdfast.model.message import Message, ToolCall
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.span import Spans
from holdfast.model.view import View, place_of
from holdfast.model.window import Budget, Count, Window


class Situation(Struct, frozen=True, kw_only=True, dict=True):
    """One moment of a session, as every step of the ladder sees it."""

    view: View
    entries: tuple[Entry, ...]
    """The visible messages, oldest first, as they are shown; the newest of them where there are
    too many to read."""
    policy: Policy
    profile: Profile
    budget: Budget
    window: Window | None = None
    """What would be sent now; None where there is too much to read."""
    count: Count = Count(tokens=0)
    """What the window takes, as well as that is known."""
    own: int = 0
    """The same as the policy counts, where it counts in a way of its own."""
    exact: dict[PartRef, int] = {}
    """What parts take, where a policy has them counted exactly."""
    summaries: tuple[Entry, ...] = ()
    notes: Entry | None = None
    """The newest running notes."""
    safe: int = 0
    """What a prompt may be estimated at, once compacted, so that it surely fits."""
    beyond: Spans = ()
    """What is visible and older than `entries`."""
    beyond_tokens: int = 0
    floor: int = 0
    """What is in the window whatever leaves: everything but the conversation."""
    laid: int = 0
    """What the sections take more once a summary stands: what was told at the tail is in them."""
    idle: int | None = None
    """Milliseconds since the last reply; None where there was none."""
    trigger: Trigger = "auto"
    forced: bool = False
    """Whether somebody asked for it, or the window is over: whether it is due is not asked."""
    since: int = 0
    upto: int = 0
    """With these, only entries in between are covered: from here on, or up to here."""
    previous: str = ""
    """The model that was spoken to before, where it holds more than this one."""
    asks: bool = False
    """Whether a model is there to write summaries."""
    asking: Profile | None = None
    """The model that is asked first, where it is another one."""

    @property
    def over(self) -> bool:
        """Whether more would be sent than fits."""
        return bool(self.beyond) or excess(self.count, self.budget) > 0

    @property
    def tokens(self) -> int:
        """What the window takes, as this policy counts."""
        return self.own or self.count.tokens

    @cached_property
    def turns_left(self) -> int:
        """How many more calls to expect before the next compaction, as far as a policy expects any.

        It took as many calls as are visible to grow so far, and will again; on the way there half
        of what leaves now would have come back. Compacting each time this pays costs least. What
        somebody asks for need not pay: there it is said what the policy expects.
        """
        if self.trigger == "manual":
            return self.policy.turns_left
        had = sum(_message(entry).role == "assistant" for entry in self.entries)
        return min(self.policy.turns_left, had // 2)

    @cached_property
    def turn(self) -> int:
        """The index where what was just asked begins."""
        return just_asked([_message(entry) for entry in self.entries])

    @cached_property
    def unread(self) -> int:
        """The index from which on everything stays: no reply has come to it yet.

        A policy that does exactly what another program did lets it leave, but for what it is told
        of a change of the model.
        """
        messages = [_message(entry) for entry in self.entries]
        if self.policy.keeps_unread:
            return unread_from(messages)
        return cut_before(messages, min(notices_from(messages), pending_from(messages)))

    @property
    def unread_is_beyond(self) -> bool:
        """Whether what has arrived since the last reply is more than was read for a plan."""
        read = any(is_reply(_message(entry)) for entry in self.entries)
        return bool(self.beyond) and self.policy.keeps_unread and not read

    @cached_property
    def answer(self) -> int | None:
        """The index of the reply that ended the newest turn; None while it goes on."""
        return answer_at([_message(entry) for entry in self.entries])

    @cached_property
    def replaced(self) -> tuple[Entry, ...]:
        """The summaries that a new one carries on: those among what it may cover."""
        return tuple(
            one
            for one in self.summaries
            if place_of(one) > self.since and (not self.upto or place_of(one) < self.upto + 1)
        )

    @property
    def fixed(self) -> int:
        """What is in the window whatever leaves, once a new summary has replaced earlier ones."""
        return max(self.floor - sum(map(self.said, self.replaced)), 0)

    @cached_property
    def worth(self) -> float:
        """How many tokens there really are for each one estimated."""
        estimated = self.window.tokens.tokens if self.window else 0
        return self.count.tokens / estimated if estimated and self.count.tokens else 1.0

    @cached_property
    def calling(self) -> dict[str, ToolCall]:
        """Every visible tool call by its id."""
        return {
            part.id: part
            for entry in self.entries
            for part in _message(entry).parts
            if isinstance(part, ToolCall)
        }

    @cached_property
    def gone(self) -> frozenset[PartRef]:
        """Parts that are cleared already, or may not be cleared by itself."""
        kept = () if self.trigger == "manual" else self.view.folded.unclearable
        return frozenset((*self.view.folded.cleared, *kept))

    @cached_property
    def scale(self) -> Scale:
        """What entries take by estimate."""
        return Scale(Cap(), self.view.folded.cleared)

    @cached_property
    def gauge(self) -> Callable[[Entry], int]:
        """What an entry takes, as this policy counts."""
        if not self.exact and WEIGHED.get(self.policy.counts_with, weigh) is weigh:
            return lambda entry: round(self.scale.entry(entry) * self.worth)
        cleared = frozenset(self.view.folded.cleared)
        return lambda entry: sum(
            CLEARED if PartRef(entry.seq, place) in cleared else self.part(entry, place)
            for place in range(len(_message(entry).parts))
        )

    def weight(self, entry: Entry) -> int:
        """What an entry takes by estimate: what a plan promises is promised in these."""
        return self._estimated(entry, self._shortened.get(entry.seq, 0))

    def storable(self, tokens: int) -> int:
        """What a message is cut to, as it is cut and told: where a policy counts in a way of its
        own in that, otherwise by estimate."""
        return tokens if self._counts_itself else int(tokens / self.worth)

    @property
    def _counts_itself(self) -> bool:
        return WEIGHED.get(self.policy.counts_with, weigh) is not weigh

    def _estimated(self, entry: Entry, most: int) -> int:
        """What an entry takes by estimate once it is cut to so many tokens; 0 is not at all."""
        whole = self.scale.entry(entry)
        if most and self._counts_itself:
            most = -(-whole * most // max(self.gauge(entry), 1))
        return min(whole, most or whole)

    @cached_property
    def _shortened(self) -> dict[int, int]:
        return {one.seq: one.tokens for one in self.view.folded.shortened}

    @cached_property
    def frame(self) -> int:
        """What stands around a summary: the words before and behind it, and its tags."""
        own = self.policy
        words = (own.summary_preamble, own.summary_preserved, own.summary_closing)
        said = tagged(own, "summary", "\n\n".join(filter(None, words)))
        return estimate(said) + MESSAGE

    def beside(self, entry: Entry, most: int = 0) -> int:
        """What an entry takes by estimate where it is kept beside a summary, or cut to so much."""
        return self._estimated(entry, most) + self.kept_frame

    @cached_property
    def kept_frame(self) -> int:
        """What stands around a message that is kept beside a summary."""
        return estimate(tagged(self.policy, "kept", ""))

    def said(self, summary: Entry) -> int:
        """What a standing summary takes."""
        return self.spoken.get(summary.seq, 0)

    @cached_property
    def spoken(self) -> dict[int, int]:
        """What each standing summary takes."""
        if self.window is None:
            return {one.seq: self.frame + _length(one) for one in self.summaries}
        blocks = self.window.blocks
        return {block.seq: block.tokens for block in blocks if block.section == "summary"}

    def part(self, entry: Entry, ordinal: int) -> int:
        """What one part takes, as this policy counts."""
        sure = self.exact.get(PartRef(entry.seq, ordinal))
        if sure is not None:
            return sure
        own = WEIGHED.get(self.policy.counts_with, weigh)
        if own is not weigh:
            return own(_message(entry).parts[ordinal])
        counted = entry.counts[ordinal] if ordinal < len(entry.counts) else 0
        return round(counted * self.worth)


def tagged(policy: Policy, section: str, text: str) -> str:
    """A text as it stands in a section beside a summary, in the tag that a policy gives it."""
    tag = next((one.tag for one in policy.order(True) if one.section == section), "")
    return wrap(tag, text) if tag else text


def _length(summary: Entry) -> int:
    """What the words of a summary take, by estimate."""
    body = summary.body
    if not isinstance(body, Summary):
        return 0
    return sum(map(estimate, (body.text, body.ledger, body.expand)))


def _message(entry: Entry) -> Message:
    assert isinstance(entry.body, Message)
    return entry.body
