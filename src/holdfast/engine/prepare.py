"""Preparing a turn: from the log to a window that fits, and its request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.assemble import Seen, Surroundings, assemble, breakpoints, shortages, weighed
from holdfast.core.boundary import is_request, just_asked
from holdfast.core.budget import budget as allot
from holdfast.core.calibrate import excess
from holdfast.core.count import MESSAGE, weigh_body
from holdfast.core.estimate import recurring
from holdfast.core.fold import fold
from holdfast.core.refusal import cured
from holdfast.core.repair import Limits, Repaired, repair
from holdfast.core.secrets import redact
from holdfast.core.shed import LEAVES, asking, cut, legal, weight
from holdfast.engine import load, surround
from holdfast.engine.counting import Counting, Shown, tuned
from holdfast.engine.overbudget import floor_error, too_large, unknown_model
from holdfast.engine.surround import Given
from holdfast.errors import OverBudget
from holdfast.model import wire
from holdfast.model.log import Body, Context, Entry, Folded, Head, Summary
from holdfast.model.message import Message
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.span import OPEN, Span, Spans, clip, within
from holdfast.model.view import View
from holdfast.model.window import Budget, Window
from holdfast.ports import Log

if TYPE_CHECKING:
    from holdfast.engine.session import OpenSession

PAGE = 256
"""How many heads are read at once, newest first."""

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


class Preparation:
    """One turn being prepared for one session."""

    def __init__(
        self, session: OpenSession, given: Given, profile: Profile, policy: Policy
    ) -> None:
        self._session = session
        self._log = session.store.log
        self._given = given
        self._profile = profile
        self._policy = policy
        self._pretended: tuple[Entry, ...] = ()

    async def window(self, *, write: bool, compact: bool) -> Prepared:
        """The window to send now; sheds first, where allowed, when the log no longer fits."""
        view = await self._session.view()
        if told := await self._news(view):
            view = await self._told(view, told, write=write)
        counting = await self._counting(write=write)
        around, budget = await self._around(view.folded)
        limit, aim = counting.hopeful(budget), counting.careful(budget)
        attempts = ATTEMPTS if compact else 0
        while True:
            if attempts and (marker := await self._shed_or_ask(view, around, limit, aim)):
                view = await self._marked(view, marker, write=write)
                around, budget = await self._around(view.folded)
            made = await self._settled(view, around, budget, counting)
            attempts -= 1
            if not made.window.over or attempts <= 0:
                return made
            limit = aim = tuned(budget, made.worth)

    async def _counting(self, *, write: bool) -> Counting:
        given = wire.digest(wire.encode(self._given)).hex()
        return await Counting(
            self._session, self._profile, self._policy, given, write=write
        ).begin()

    async def _settled(
        self, view: View, around: Surroundings, budget: Budget, counting: Counting
    ) -> Prepared:
        """The window of a view, counted as surely as it has to be."""
        seen = await self._seen(view)
        window, fixed = self._assembled(seen, around, budget)
        estimated = counting.estimated(window)
        shown = Shown([entry for entry in seen.messages if entry.seq <= view.last], view)
        count = await counting.settled(window, estimated, shown)
        return Prepared(
            window=weighed(window, count, self._policy),
            fixed=fixed,
            view=view,
            estimated=estimated,
            worth=window.tokens.tokens / max(budget.room + excess(count, budget), 1) * CAREFUL,
        )

    async def _told(self, view: View, news: tuple[Body, ...], *, write: bool) -> View:
        """The view once what has changed around is told, or would be."""
        if not write:
            return self._as_if(view, *news)
        await self._session.append_all(news)
        return await self._session.view()

    async def _marked(self, view: View, marker: Summary, *, write: bool) -> View:
        """The view once a marker stands, or would stand."""
        if not write:
            return self._as_if(view, marker)
        await self._session.append(marker, epoch=view.folded.epoch)
        return await self._session.view()

    async def of(self, view: View) -> tuple[Window, Repaired]:
        """The window of a view as it is, past or present; nothing is written or shed."""
        around, budget = await self._around(view.folded)
        return self._assembled(await self._seen(view), around, budget)

    def _assembled(
        self, seen: Seen, around: Surroundings, budget: Budget
    ) -> tuple[Window, Repaired]:
        window = assemble(seen, around, self._policy, budget, self._given.model)
        blocks = cured(window.blocks, seen.repairs) if seen.repairs else window.blocks
        fixed = repair(blocks, limits_of(self._profile))
        return with_blocks(window, fixed), fixed

    async def _news(self, view: View) -> tuple[Body, ...]:
        """What is to be told because it is not as the newest snapshot has it."""
        secrets = self._session.secrets
        now = {name: redact(text, secrets) for name, text in self._given.sections.items()}
        newest = await self._snapshot(view.folded.context)
        first = newest is None and bool(now)
        begun = first and await surround.begun(self._log, view)
        told = surround.news(newest, now, begun=begun)
        return (*told, *await surround.switched(self._log, view, self._given.model))

    async def _snapshot(self, seq: int) -> dict[str, str] | None:
        told = next((entry.body for entry in self._pretended if entry.seq == seq), None)
        if isinstance(told, Context):
            return told.sections
        return await surround.snapshot(self._log, self._session.id, seq)

    async def _around(self, folded: Folded) -> tuple[Surroundings, Budget]:
        log, id = self._log, self._session.id
        shown = await self._snapshot(folded.base)
        base = self._given.sections if shown is None else shown
        pins = await surround.pinned(log, id, folded) if folded.pins else []
        around = surround.surroundings(self._given, base, pins)
        system = recurring(around.system) + around.tools_tokens
        files = bool(around.chat_files)
        return around, allot(self._profile, self._policy.budget, system, files=files)

    async def _seen(self, view: View) -> Seen:
        return Seen(
            folded=view.folded,
            messages=(*await self._session.visible.messages(view), *self._as_if_said(view)),
            summaries=await self._summaries(view),
            repairs=await standing_repairs(self._log, view),
        )

    async def _summaries(self, view: View) -> tuple[Entry, ...]:
        written = await load.summaries(self._log, view)
        pretended = (entry for entry in self._pretended if isinstance(entry.body, Summary))
        return (*sorted(written, key=lambda entry: entry.seq), *pretended)

    def _as_if(self, view: View, *bodies: Body) -> View:
        """The view as it would be with these appended; a summary takes over one pretended before.

        Its `last` stays: what is only pretended must not be asked of the store.
        """
        entries = tuple(
            Entry(
                id="preview",
                session=view.session.id,
                seq=seq,
                body=body,
                created=0,
                counts=weigh_body(body),
            )
            for seq, body in enumerate(bodies, _newest(view) + 1)
        )
        before = [entry for entry in self._pretended if not isinstance(entry.body, Summary)]
        self._pretended = (*before, *entries)
        return View(session=view.session, folded=fold(entries, view.folded), last=view.last)

    def _as_if_said(self, view: View, first: int = 0) -> tuple[Entry, ...]:
        """The messages that are only pretended, from an entry on."""
        said = (entry for entry in self._pretended if entry.is_message and entry.seq >= first)
        return tuple(entry for entry in said if within(entry.seq, view.folded.visible))

    async def _shed_or_ask(
        self, view: View, around: Surroundings, limit: Budget, aim: Budget
    ) -> Summary | None:
        """The same as shedding, but where the policy asks the user nothing is refused."""
        try:
            marker = await self._shed(view, around, limit, aim)
            if marker and self._is_a_guess():
                raise unknown_model(self._profile)
            return marker
        except OverBudget:
            if self._policy.asks_before_overlong:
                return None
            raise

    def _is_a_guess(self) -> bool:
        """Whether the window is only assumed, for a model that is not the session's own."""
        own = self._session.info.model
        return "window" in self._profile.assumed and bool(own) and own != self._given.model

    async def _shed(
        self, view: View, around: Surroundings, limit: Budget, aim: Budget
    ) -> Summary | None:
        """The marker that makes it fit the aim; None where it fits the limit as it is."""
        floor = await self._floor(view, around, limit)
        if floor.over:
            raise floor_error(floor, (await self._around(view.folded))[1].room)
        few = await self._few(view)
        if few is not None and sum(map(_weight, few)) <= _left(limit, floor, _asked_for(few)):
            return None
        heads = await self._heads(view, limit.room)
        turn = sum(map(weight, heads[asking(heads) :]))
        most = _left(limit, floor, turn)
        if sum(map(weight, heads)) <= most:
            return None
        keep = cut(heads, int(_left(aim, floor, turn) * LEAVES))
        marker = await self._marker(view, heads, keep, most)
        return marker if marker.covers else None

    async def _few(self, view: View) -> tuple[Entry, ...] | None:
        few = await self._session.visible.few(view)
        return None if few is None else (*few, *self._as_if_said(view))

    async def _floor(self, view: View, around: Surroundings, budget: Budget) -> Window:
        """What is in the window whatever is shed: everything but the conversation."""
        summaries = await self._summaries(view)
        bare = Seen(folded=replace(view.folded, kept=()), summaries=summaries)
        return assemble(bare, around, self._policy, budget, self._given.model)

    async def _heads(self, view: View, room: int) -> list[Head]:
        """The newest heads, until they fill more than the room or there are no more."""
        found = [_head(entry) for entry in self._as_if_said(view)]
        left: Spans = view.spans
        while left and sum(map(weight, found)) <= room:
            page = await self._log.heads(view.session.id, left, limit=PAGE)
            if not page:
                break
            found = [*page, *found]
            left = clip(left, 1, page[0].seq - 1)
        return [head for head in found if head.kind == "message"]

    async def _marker(self, view: View, heads: list[Head], keep: int, room: int) -> Summary:
        first = heads[keep].seq if keep < len(heads) else OPEN
        stay = await messages(self._log, view.session.id, clip(view.spans, first))
        stay = (*stay, *self._as_if_said(view, first))
        start = legal(stay, 0)
        while start < len(stay) and sum(map(_weight, stay[start:])) > room:
            start = legal(stay, start + 1)
        asked = await self._asked(view, stay[start:])
        last = stay[start].seq - 1 if start < len(stay) else _newest(view)
        taken = sum(map(_weight, stay[start:])) + (_weight(asked) if asked else 0)
        if asked and taken > room:
            raise too_large(asked.seq, _weight(asked), await self._really(view), room)
        return Summary(
            covers=clip(replace(view, last=_newest(view)).spans, 1, last),
            text=LEFT.format(last=last),
            kept=(asked.seq,) if asked else (),
            merges=await self._shed_before(view),
            step="shed",
            policy=self._policy.name,
            reason=f"the window of {self._given.model} was full",
            tokens_before=sum(map(weight, heads)),
            tokens_after=taken,
        )

    async def _really(self, view: View) -> int:
        """What is left for what was just asked by the budget itself, with no hope added."""
        around, budget = await self._around(view.folded)
        return max(0, budget.room - (await self._floor(view, around, budget)).tokens.tokens)

    async def _asked(self, view: View, stay: tuple[Entry, ...]) -> Entry | None:
        """What was just asked, where it would not stay by itself."""
        if any(isinstance(e.body, Message) and is_request(e.body) for e in stay):
            return None
        left = view.spans
        while heads := await self._log.heads(view.session.id, left, limit=PAGE):
            for head in reversed(heads):
                if head.role == "user":
                    spans = clip(left, head.seq, head.seq)
                    (entry,) = await self._log.read(view.session.id, spans)
                    if isinstance(entry.body, Message) and is_request(entry.body):
                        return entry
            left = clip(left, 1, heads[0].seq - 1)
        return None

    async def _shed_before(self, view: View) -> tuple[int, ...]:
        """Earlier shedding, which this one takes over; a summary somebody wrote stays."""
        standing = await markers(self._log, view.session.id, view.standing)
        return tuple(
            e.seq for e in standing if isinstance(e.body, Summary) and e.body.step == "shed"
        )


LEFT = (
    "Entries up to {last} of this conversation are not shown, to make room. They are kept word for "
    "word; search_history finds them and recall brings them back."
)


def _newest(view: View) -> int:
    """The newest entry of a view, be it only pretended."""
    return max(view.last, view.folded.epoch)


def _head(entry: Entry) -> Head:
    role = entry.body.role if isinstance(entry.body, Message) else ""
    return Head(id=entry.id, seq=entry.seq, kind="message", role=role, counts=entry.counts)


def _left(budget: Budget, floor: Window, turn: int) -> int:
    """What a budget leaves for the conversation; a cap on history is none on the current turn."""
    return min(budget.room - floor.tokens.tokens, budget.history + turn)


def _asked_for(entries: Sequence[Entry]) -> int:
    """What the current turn takes."""
    bodies = [entry.body for entry in entries if isinstance(entry.body, Message)]
    return sum(map(_weight, entries[just_asked(bodies) :]))


def _weight(entry: Entry) -> int:
    return sum(entry.counts) + MESSAGE if entry.is_message else 0


async def messages(log: Log, session: str, spans: Spans) -> tuple[Entry, ...]:
    """The messages inside some spans."""
    return tuple([entry for entry in await load.read(log, session, spans) if entry.is_message])


async def standing_repairs(log: Log, view: View) -> tuple[Entry, ...]:
    """What refusals have taught, as far as it is in force."""
    spans = tuple(Span(seq, seq) for seq in view.folded.repairs)
    return await markers(log, view.session.id, spans) if spans else ()


async def markers(log: Log, session: str, spans: Spans) -> tuple[Entry, ...]:
    """The markers inside some spans."""
    return tuple([entry for entry in await load.read(log, session, spans) if not entry.is_message])


def with_blocks(window: Window, fixed: Repaired) -> Window:
    """The window with its blocks repaired."""
    if fixed.blocks is window.blocks:
        return window
    tokens = window.tokens.tokens
    tokens += sum(b.tokens for b in fixed.blocks) - sum(b.tokens for b in window.blocks)
    made = replace(
        window,
        blocks=fixed.blocks,
        tokens=replace(window.tokens, tokens=tokens),
        breakpoints=breakpoints(fixed.blocks, bool(window.tools)),
        over=max(0, tokens - window.budget.room),
    )
    return replace(made, shortages=shortages(made))


def limits_of(profile: Profile) -> Limits:
    """What repairing for this model has to keep to."""
    pixels = profile.provider == "anthropic"
    return Limits(
        prefill=profile.can("prefill"),
        most_images=profile.most_images,
        longest_side=8_000 if pixels else 0,
        longest_of_many=2_000 if pixels else 0,
    )
