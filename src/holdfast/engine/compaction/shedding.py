"""Shedding: the oldest messages leave so that the rest fits, with no model asked.

It comes last, when no step of the ladder was enough, and always fits unless what was just asked and
what has arrived since the last reply do not. Where they leave no room for a summary, it leaves too.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.core.compaction.shed import LEAVES, Scale, asking, cut, last_reply, legal
from holdfast.core.compaction.situation import tagged
from holdfast.core.log.boundary import (
    answer_at,
    boundaries,
    is_request,
    just_asked,
    notices_from,
    unread_from,
)
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.assemble import Surroundings
from holdfast.core.window.truncate import all_shown, shown
from holdfast.engine.loading import messages
from holdfast.engine.window.over_budget import floor_error, too_large, unknown_model
from holdfast.engine.window.turn_state import TurnState
from holdfast.errors import OverBudget
from holdfast.model.log import Entry, Head, Summary
from holdfast.model.message import Message, ToolCall, ToolResult
from holdfast.model.span import OPEN, Span, Spans, clip
from holdfast.model.view import View
from holdfast.model.window import Budget, Window

PAGE = 256
"""How many heads are read at once, newest first."""

REACH = 2.0
"""Planning reads the newest messages up to so many times the room; what is older is covered."""

NOTE = 64
"""What a marker's own words take in the window."""

LEFT = (
    "Entries up to {last} of this conversation are not shown, to make room. They are kept word for "
    "word; search_history finds them and recall brings them back."
)


class Shedding:
    """What has to leave for one turn."""

    def __init__(self, turn: TurnState) -> None:
        self._turn = turn
        self.weighed = 0
        """What all that is shown was weighed at when it was last looked at."""

    async def marker(
        self, view: View, around: Surroundings, limit: Budget, aim: Budget
    ) -> Summary | None:
        """The marker that makes it fit the aim; None where it fits the limit as it is.

        Where the policy asks the user, nothing is refused.
        """
        try:
            marker = await self._shed(view, around, limit, aim)
            if marker and self._turn.guessed:
                raise unknown_model(self._turn.profile)
            return marker
        except OverBudget:
            if self._turn.policy.asks_before_overlong:
                return None
            raise

    async def _shed(
        self, view: View, around: Surroundings, limit: Budget, aim: Budget
    ) -> Summary | None:
        floor = await self._turn.floor(view, around, limit)
        spare = sum(block.tokens for block in floor.section("summary"))
        if floor.over > spare:
            raise floor_error(floor, (await self._turn.around(view.folded))[1].room)
        few, scale = await self._turn.few(view), self.scale(view)
        known: dict[int, int] = {}
        if few is not None:
            taken = [scale.entry(entry) for entry in few]
            self.weighed = floor.tokens.tokens + sum(taken)
            if sum(taken) <= _left(limit, floor, sum(taken[_turn(few) :])) and not floor.over:
                return None
            known = {entry.seq: tokens for entry, tokens in zip(few, taken, strict=True)}
        heads = await self.heads(view, limit.room)
        weights = [known.get(head.seq) or scale.head(head) for head in heads]
        self.weighed = floor.tokens.tokens + sum(weights)
        turn = sum(weights[asking(heads) :])
        most = _left(limit, floor, turn)
        if sum(weights) <= most and not floor.over:
            return None
        keep = cut(heads, weights, int(_left(aim, floor, turn) * LEAVES))
        made = await self._marker(view, heads, keep, most, spare)
        return made if made.covers else None

    def scale(self, view: View) -> Scale:
        """What entries take as they are shown."""
        folded = view.folded
        kept = {*folded.kept} - {folded.asked}
        frame = estimate(tagged(self._turn.policy, "kept", "")) if kept else 0
        return Scale(self._turn.cap, folded.cleared, kept, frame)

    async def beyond(self, view: View, room: int) -> Spans:
        """What is visible and too far back to be read: a log is longer than what looks at it."""
        if await self._turn.few(view) is not None:
            return ()
        heads = await self.heads(view, int(room * REACH))
        return clip(view.spans, 1, heads[0].seq - 1 if heads else 0)

    async def heads(self, view: View, room: int) -> list[Head]:
        """The newest heads, until they fill more than the room or there are no more."""
        found = [_head(entry) for entry in self._turn.log.unstored(view)]
        left: Spans = view.spans
        weight = self.scale(view).head
        taken = sum(map(weight, found))
        while left and taken <= room:
            page = await self._turn.stored.heads(view.session.id, left, limit=PAGE)
            if not page:
                break
            taken += sum(map(weight, page))
            found = [*page, *found]
            left = clip(left, 1, page[0].seq - 1)
        return [head for head in found if head.kind == "message"]

    async def _marker(
        self, view: View, heads: list[Head], keep: int, room: int, spare: int
    ) -> Summary:
        """The marker; `spare` is what the summaries that stand take, where they have to leave."""
        turn, weight = self._turn, self.scale(view).entry
        stay = await self._stay(view, heads, keep)
        bodies = _bodies(stay)
        just, answer, last_cut = await self._asked(view), answer_at(bodies), self._unread(bodies)

        def left(start: int) -> Sequence[Entry]:
            """What stays from a cut on: what was just asked too, unless its answer leaves."""
            goes = just is None or (answer is not None and answer < start)
            return stay[start:] if goes else _staying(stay[start:], just)

        start = 0
        while start < last_cut and sum(map(weight, left(start))) > room:
            start = legal(stay, start + 1)
        staying = left(start)
        taken, merges = sum(map(weight, staying)), await self._shed_before(view)
        if taken > room:
            merges = view.folded.summaries
            if taken > room + spare - NOTE:
                room, real = room + spare, await self._really(view) + spare
                raise too_large(staying, taken, real, room)
        asked = just.seq if just and just in staying and just not in stay[start:] else 0
        last = stay[start].seq - 1 if start < len(stay) else view.newest
        covers = clip(_spans(view), 1, last)
        return Summary(
            covers=covers or (clip((Span(1, last),), 1) if taken > room else ()),
            text=LEFT.format(last=last),
            kept=(asked,) if asked else (),
            asked=asked,
            merges=merges,
            step="shed",
            policy=turn.policy.name,
            trigger="overflow",
            reason=f"the window of {turn.given.model} was full",
            tokens_before=sum(map(self.scale(view).head, heads)),
            tokens_after=taken,
        )

    async def _stay(self, view: View, heads: list[Head], keep: int) -> tuple[Entry, ...]:
        """What may stay, as it is shown: the newest messages from here on, what has arrived since
        the last reply among them, and no result without its call."""
        keep = min(keep, last_reply(heads))
        stay = await self._shown(view, heads, keep)
        if not _has_its_calls(stay):
            whole = await self._shown(view, heads, 0)
            stay = whole[max((at for at in boundaries(_bodies(whole)) if at <= keep), default=0) :]
        return stay

    async def _shown(self, view: View, heads: list[Head], keep: int) -> tuple[Entry, ...]:
        """The messages from a head on, as they are shown."""
        first = heads[keep].seq if keep < len(heads) else OPEN
        read = await messages(self._turn.stored, view.session.id, clip(view.spans, first))
        return (*all_shown(read, self._turn.cap), *self._turn.log.unstored(view, first))

    def _unread(self, bodies: Sequence[Message]) -> int:
        """The cut behind which nothing may leave."""
        return (unread_from if self._turn.policy.keeps_unread else notices_from)(bodies)

    async def _really(self, view: View) -> int:
        """What is left for what was just asked by the budget itself, with no hope added."""
        around, budget = await self._turn.around(view.folded)
        return max(0, budget.room - (await self._turn.floor(view, around, budget)).tokens.tokens)

    async def _asked(self, view: View) -> Entry | None:
        """What was just asked, as it is shown; it stays, wherever the cut is."""
        log, left = self._turn.stored, view.spans
        while heads := await log.heads(view.session.id, left, limit=PAGE):
            for head in reversed(heads):
                if head.role == "user":
                    (entry,) = await log.read(
                        view.session.id, clip(left, head.seq, head.seq), bare=True
                    )
                    if isinstance(entry.body, Message) and is_request(entry.body):
                        return shown(entry, self._turn.cap)
            left = clip(left, 1, heads[0].seq - 1)
        return None

    async def _shed_before(self, view: View) -> tuple[int, ...]:
        """Earlier shedding, which this one takes over; a summary somebody wrote stays."""
        standing = await self._turn.log.summaries(view)
        return tuple(
            e.seq for e in standing if isinstance(e.body, Summary) and e.body.step == "shed"
        )


def _bodies(entries: Sequence[Entry]) -> list[Message]:
    return [entry.body for entry in entries if isinstance(entry.body, Message)]


def _has_its_calls(entries: Sequence[Entry]) -> bool:
    """Whether no result is among these without its call."""
    parts = [part for body in _bodies(entries) for part in body.parts]
    calls = {part.id for part in parts if isinstance(part, ToolCall)}
    return all(part.call in calls for part in parts if isinstance(part, ToolResult))


def _staying(stay: Sequence[Entry], asked: Entry | None) -> Sequence[Entry]:
    """The entries with what was just asked, where that is not among them."""
    return stay if asked is None or asked in stay else (asked, *stay)


def _spans(view: View) -> Spans:
    """What a view shows, entries that are only pretended included."""
    return View(session=view.session, folded=view.folded, last=view.newest).spans


def _head(entry: Entry) -> Head:
    role = entry.body.role if isinstance(entry.body, Message) else ""
    return Head(id=entry.id, seq=entry.seq, kind="message", role=role, counts=entry.counts)


def _left(budget: Budget, floor: Window, turn: int) -> int:
    """What a budget leaves for the conversation; a cap on history is none on the current turn."""
    return min(budget.room - floor.tokens.tokens, budget.history + turn)


def _turn(entries: Sequence[Entry]) -> int:
    """The index where the current turn begins."""
    return just_asked(_bodies(entries))
