"""Shedding: the oldest messages leave so that the rest fits, with no model asked.

It comes last, when no step of the ladder was enough, and always fits unless what was just asked
does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.core.assemble import Surroundings
from holdfast.core.boundary import is_request, just_asked
from holdfast.core.estimate import estimate
from holdfast.core.shed import LEAVES, Scale, asking, cut, legal
from holdfast.core.situation import tagged
from holdfast.core.truncate import shown
from holdfast.engine.overbudget import floor_error, too_large, unknown_model
from holdfast.engine.scene import Scene, messages, newest
from holdfast.errors import OverBudget
from holdfast.model.log import Entry, Head, Summary
from holdfast.model.message import Message
from holdfast.model.span import OPEN, Spans, clip
from holdfast.model.view import View
from holdfast.model.window import Budget, Window

PAGE = 256
"""How many heads are read at once, newest first."""

LEFT = (
    "Entries up to {last} of this conversation are not shown, to make room. They are kept word for "
    "word; search_history finds them and recall brings them back."
)


class Shedding:
    """What has to leave for one turn."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
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
            if marker and self._scene.guessed:
                raise unknown_model(self._scene.profile)
            return marker
        except OverBudget:
            if self._scene.policy.asks_before_overlong:
                return None
            raise

    async def _shed(
        self, view: View, around: Surroundings, limit: Budget, aim: Budget
    ) -> Summary | None:
        floor = await self._scene.floor(view, around, limit)
        if floor.over:
            raise floor_error(floor, (await self._scene.around(view.folded))[1].room)
        few, scale = await self._scene.few(view), self.scale(view)
        known: dict[int, int] = {}
        if few is not None:
            taken = [scale.entry(entry) for entry in few]
            self.weighed = floor.tokens.tokens + sum(taken)
            if sum(taken) <= _left(limit, floor, sum(taken[_turn(few) :])):
                return None
            known = {entry.seq: tokens for entry, tokens in zip(few, taken, strict=True)}
        heads = await self.heads(view, limit.room)
        weights = [known.get(head.seq) or scale.head(head) for head in heads]
        self.weighed = floor.tokens.tokens + sum(weights)
        turn = sum(weights[asking(heads) :])
        most = _left(limit, floor, turn)
        if sum(weights) <= most:
            return None
        keep = cut(heads, weights, int(_left(aim, floor, turn) * LEAVES))
        made = await self._marker(view, heads, keep, most)
        return made if made.covers else None

    def scale(self, view: View) -> Scale:
        """What entries take as they are shown."""
        folded = view.folded
        kept = {*folded.kept} - {folded.asked}
        frame = estimate(tagged(self._scene.policy, "kept", ""))
        return Scale(self._scene.cap, folded.cleared, kept, frame)

    async def heads(self, view: View, room: int) -> list[Head]:
        """The newest heads, until they fill more than the room or there are no more."""
        found = [_head(entry) for entry in self._scene.as_if_said(view)]
        left: Spans = view.spans
        weight = self.scale(view).head
        taken = sum(map(weight, found))
        while left and taken <= room:
            page = await self._scene.log.heads(view.session.id, left, limit=PAGE)
            if not page:
                break
            taken += sum(map(weight, page))
            found = [*page, *found]
            left = clip(left, 1, page[0].seq - 1)
        return [head for head in found if head.kind == "message"]

    async def _marker(self, view: View, heads: list[Head], keep: int, room: int) -> Summary:
        scene, weight = self._scene, self.scale(view).entry
        first = heads[keep].seq if keep < len(heads) else OPEN
        stay = await messages(scene.log, view.session.id, clip(view.spans, first))
        stay = (*(shown(entry, scene.cap) for entry in stay), *scene.as_if_said(view, first))
        just = await self._asked(view)
        start = legal(stay, 0)
        while start < len(stay) and sum(map(weight, _staying(stay[start:], just))) > room:
            start = legal(stay, start + 1)
        asked = just if just not in stay[start:] else None
        last = stay[start].seq - 1 if start < len(stay) else newest(view)
        taken = sum(map(weight, _staying(stay[start:], just)))
        if asked and taken > room:
            raise too_large(asked.seq, weight(asked), await self._really(view), room)
        return Summary(
            covers=clip(_spans(view), 1, last),
            text=LEFT.format(last=last),
            kept=(asked.seq,) if asked else (),
            asked=asked.seq if asked else 0,
            merges=await self._shed_before(view),
            step="shed",
            policy=scene.policy.name,
            trigger="overflow",
            reason=f"the window of {scene.given.model} was full",
            tokens_before=sum(map(self.scale(view).head, heads)),
            tokens_after=taken,
        )

    async def _really(self, view: View) -> int:
        """What is left for what was just asked by the budget itself, with no hope added."""
        around, budget = await self._scene.around(view.folded)
        return max(0, budget.room - (await self._scene.floor(view, around, budget)).tokens.tokens)

    async def _asked(self, view: View) -> Entry | None:
        """What was just asked, as it is shown; it stays, wherever the cut is."""
        log, left = self._scene.log, view.spans
        while heads := await log.heads(view.session.id, left, limit=PAGE):
            for head in reversed(heads):
                if head.role == "user":
                    (entry,) = await log.read(
                        view.session.id, clip(left, head.seq, head.seq), bare=True
                    )
                    if isinstance(entry.body, Message) and is_request(entry.body):
                        return shown(entry, self._scene.cap)
            left = clip(left, 1, heads[0].seq - 1)
        return None

    async def _shed_before(self, view: View) -> tuple[int, ...]:
        """Earlier shedding, which this one takes over; a summary somebody wrote stays."""
        standing = await self._scene.summaries(view)
        return tuple(
            e.seq for e in standing if isinstance(e.body, Summary) and e.body.step == "shed"
        )


def _staying(stay: Sequence[Entry], asked: Entry | None) -> Sequence[Entry]:
    """The entries with what was just asked, where that is not among them."""
    return stay if asked is None or asked in stay else (asked, *stay)


def _spans(view: View) -> Spans:
    """What a view shows, entries that are only pretended included."""
    return View(session=view.session, folded=view.folded, last=newest(view)).spans


def _head(entry: Entry) -> Head:
    role = entry.body.role if isinstance(entry.body, Message) else ""
    return Head(id=entry.id, seq=entry.seq, kind="message", role=role, counts=entry.counts)


def _left(budget: Budget, floor: Window, turn: int) -> int:
    """What a budget leaves for the conversation; a cap on history is none on the current turn."""
    return min(budget.room - floor.tokens.tokens, budget.history + turn)


def _turn(entries: Sequence[Entry]) -> int:
    """The index where the current turn begins."""
    return just_asked([entry.body for entry in entries if isinstance(entry.body, Message)])
