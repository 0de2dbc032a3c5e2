"""One turn being prepared: the view, what surrounds it, and the window they make.

Markers may be pretended, so that what would happen can be shown with nothing written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.calls.refusals import cured
from holdfast.core.log.fold import fold
from holdfast.core.secrets import redact
from holdfast.core.tokens.count import weigh_body
from holdfast.core.tokens.estimate import estimate, recurring
from holdfast.core.window.assemble import Seen, Surroundings, assemble, shortages
from holdfast.core.window.budget import budget as allot
from holdfast.core.window.budget import room_of
from holdfast.core.window.layout import breakpoints, current_date, shown_values
from holdfast.core.window.repair import Limits, Repaired, repair
from holdfast.core.window.scaffold import TAGS
from holdfast.core.window.truncate import cap
from holdfast.engine import loading
from holdfast.engine.usage.telemetry import compacted
from holdfast.engine.window import pins, sections
from holdfast.engine.window.sections import Given
from holdfast.errors import InvalidRequest
from holdfast.model.log import Body, Clear, Context, Entry, Folded, Summary
from holdfast.model.message import Message
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.span import Span, Spans, within
from holdfast.model.view import View, place_of
from holdfast.model.window import Budget, Window
from holdfast.ports import Log

if TYPE_CHECKING:
    from holdfast.engine.session import AsyncSession


class Assembled(Struct, frozen=True):
    """The window of a view, and what it was made from."""

    view: View
    around: Surroundings
    seen: Seen
    window: Window
    fixed: Repaired
    added: int = 0
    """Tokens that repairing has put in: results for calls that have none, and the like."""


class TurnState:
    """What is known while one turn is prepared for one session."""

    def __init__(
        self, session: AsyncSession, given: Given, profile: Profile, policy: Policy
    ) -> None:
        self.session = session
        self.log: Log = session.store.log
        self.given = given
        self.profile = profile
        self.policy = reserving(policy, given.max_tokens)
        self.cap = cap(policy, profile)
        _check(policy)
        self._directory = session.info.directory
        self._pretended: tuple[Entry, ...] = ()
        self._last: Assembled | None = None
        self._surroundings: dict[object, tuple[Surroundings, Budget]] = {}
        self._since = session.now()

    @property
    def guessed(self) -> bool:
        """Whether the window is only assumed, for a model that is not the session's own."""
        own = self.session.info.model
        return "window" in self.profile.assumed and bool(own) and own != self.given.model

    async def view(self, *, write: bool) -> View:
        """What is visible, once what has changed around is told, or would be."""
        view = await self.session.view()
        if not (news := await self._news(view)):
            return view
        if not write:
            return self._as_if(view, *news)
        await self.session.append_all(news)
        return await self.session.view()

    async def marked(self, view: View, marker: Summary | Clear, *, write: bool) -> View:
        """The view once a marker stands, or would stand."""
        if not write:
            return self._as_if(view, marker)
        entry = await self.session.append(marker, epoch=view.folded.epoch)
        self.session.watch.emit(compacted(self.session, marker, self._since))
        self._since = self.session.now()
        await self.session.upkeep.applied(entry)
        return await self.session.view()

    async def said(self, view: View, message: Message, *, write: bool) -> View:
        """The view once something is said at its end, or would be."""
        if not write:
            self._last = None  # a view does not show what is only pretended
            return self._as_if(view, message)
        await self.session.append(message)
        return await self.session.view()

    def unsay(self) -> None:
        """Take back what was pretended last."""
        self._pretended, self._last = self._pretended[:-1], None

    async def assembled(self, view: View, around: Surroundings, budget: Budget) -> Assembled:
        """The window of a view; made once for as long as nothing changes."""
        last = self._last
        if last and last.view == view and last.around is around and last.window.budget == budget:
            return last
        seen = await self.seen(view)
        window = assemble(seen, around, self.policy, budget, self.given.model)
        blocks = cured(window.blocks, seen.repairs) if seen.repairs else window.blocks
        fixed = repair(blocks, limits_of(self.profile))
        made = with_blocks(window, fixed, self.policy)
        added = max(made.tokens.tokens - window.tokens.tokens, 0)
        self._last = Assembled(view, around, seen, made, fixed, added)
        return self._last

    async def around(self, folded: Folded) -> tuple[Surroundings, Budget]:
        """What surrounds the conversation, and the budget that leaves it; the same each time."""
        named = (folded.base, folded.context, folded.pins)
        if named not in self._surroundings:
            self._surroundings = {named: await self._surround(folded)}
        return self._surroundings[named]

    async def _surround(self, folded: Folded) -> tuple[Surroundings, Budget]:
        shown = await self._snapshot(folded.base)
        if shown and folded.context != folded.base and self._outgrown(shown):
            shown = await self._snapshot(folded.context)
        base = self._placed(self.given.sections) if shown is None else shown
        if newest := await self._snapshot(folded.context):
            base = at_once(base, newest)
        pins = await sections.pinned(self.log, self.session.id, folded) if folded.pins else []
        around = sections.surroundings(self.given, base, pins)
        if self.policy.reminder_by_model:
            around = replace(around, reminder_role=self.profile.reminder)
        system = recurring(around.system) + around.tools_tokens
        files = bool(around.chat_files)
        return around, allot(self.profile, self.policy.budget, system, files=files)

    def _outgrown(self, sections: Mapping[str, str]) -> bool:
        """Whether sections were made for a larger window: they fill more than half of this one."""
        return (
            sum(map(estimate, sections.values())) > room_of(self.profile, self.policy.budget)[2] / 2
        )

    async def floor(self, view: View, around: Surroundings, budget: Budget) -> Window:
        """What is in the window whatever leaves: everything but the conversation."""
        bare = Seen(
            folded=replace(view.folded, kept=(), asked=0), summaries=await self.summaries(view)
        )
        return assemble(bare, around, self.policy, budget, self.given.model)

    async def seen(self, view: View) -> Seen:
        """What is visible, as it is shown."""
        said = await self.session.message_cache.messages(view, self.cap)
        return Seen(
            folded=view.folded,
            messages=(*said, *self.as_if_said(view)),
            summaries=await self.summaries(view),
            repairs=await standing_repairs(self.log, view),
        )

    async def few(self, view: View) -> tuple[Entry, ...] | None:
        """The visible messages, where no more than a page has to be read; otherwise None."""
        few = await self.session.message_cache.few(view, self.cap)
        return None if few is None else (*few, *self.as_if_said(view))

    async def summaries(self, view: View) -> tuple[Entry, ...]:
        """The summaries that stand, pretended ones included.

        Another writer may meanwhile have appended something where one is pretended to stand.
        """
        pretended = {entry.seq: entry for entry in self._pretended}
        written = {entry.seq: entry for entry in await loading.summaries(self.log, view)}
        standing = {*view.folded.summaries}
        found = (one for seq, one in {**written, **pretended}.items() if seq in standing)
        return tuple(sorted(found, key=place_of))

    def as_if_said(self, view: View, first: int = 0) -> tuple[Entry, ...]:
        """The messages that are only pretended, from an entry on."""
        said = (entry for entry in self._pretended if entry.is_message and entry.seq >= first)
        return tuple(entry for entry in said if within(entry.seq, view.folded.visible))

    def _as_if(self, view: View, *bodies: Body) -> View:
        """The view as it would be with these appended.

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
            for seq, body in enumerate(bodies, newest(view) + 1)
        )
        self._pretended = (*self._pretended, *entries)
        return View(session=view.session, folded=fold(entries, view.folded), last=view.last)

    async def _news(self, view: View) -> tuple[Body, ...]:
        """What is to be told because it is not as the newest snapshot has it."""
        secrets = self.session.secrets
        now = {name: redact(text, secrets) for name, text in self._sections(view).items()}
        snapshot = await self._snapshot(view.folded.context)
        first = snapshot is None and bool(now)
        begun = first and await sections.begun(self.log, view)
        tag = next((one.tag for one in self.policy.layout if one.section == "context"), "")
        told = sections.news(snapshot, now, begun=begun, tag=tag)
        return (*told, *await sections.switched(self.log, view, self.given.model))

    def _sections(self, view: View) -> dict[str, str]:
        """What was given by section; pinned files stand among those that are read-only."""
        given = self._placed(self.given.sections)
        if not any(pin.path for pin in view.folded.pins):
            return given
        most = allot(self.profile, self.policy.budget).pins
        pinned = pins.files(self._directory, view.folded.pins, most)
        read_only = "\n\n".join(filter(None, (given.get("read_only_files", ""), pinned)))
        return {**given, "read_only_files": read_only}

    def _placed(self, given: Mapping[str, str]) -> dict[str, str]:
        """The sections that the policy has a place for, as it shows them."""
        places = {place.section for place in self.policy.layout}
        now = {name: text for name, text in given.items() if name in places}
        if "date" in places and (date := current_date(given.get("context", ""))):
            now.setdefault("date", date)
        if context := now.get("context"):
            now["context"] = shown_values(context, self.policy)
        return {name: text for name, text in now.items() if text}

    async def _snapshot(self, seq: int) -> dict[str, str] | None:
        told = next((entry.body for entry in self._pretended if entry.seq == seq), None)
        if isinstance(told, Context):
            return told.sections
        return await sections.snapshot(self.log, self.session.id, seq)


def reserving(policy: Policy, output: int) -> Policy:
    """The policy with so much kept free for a reply; as it is where nobody has said how much."""
    if not output or policy.budget.output == output:
        return policy
    return replace(policy, budget=replace(policy.budget, output=output))


def _check(policy: Policy) -> None:
    """Refuse a policy that lays a section in a tag that nobody knows."""
    tags = [(one.section, one.tag) for one in (*policy.layout, *policy.layout_compacted)]
    tags += [(bundle.name, bundle.tag) for bundle in policy.bundles]
    for name, tag in tags:
        if tag and tag not in TAGS:
            raise InvalidRequest(
                f"the policy {policy.name} lays {name} in the tag {tag!r}, which "
                f"is none; name one of {', '.join(sorted(TAGS))}"
            )


def at_once(base: Mapping[str, str], newest: Mapping[str, str]) -> Mapping[str, str]:
    """The sections as shown, with those that never wait as the newest snapshot has them."""
    if all(base.get(name) == newest.get(name) for name in sections.AT_ONCE):
        return base
    rest = {name: text for name, text in base.items() if name not in sections.AT_ONCE}
    return rest | {name: newest[name] for name in sections.AT_ONCE if name in newest}


def newest(view: View) -> int:
    """The newest entry of a view, be it only pretended."""
    return max(view.last, view.folded.epoch)


async def messages(log: Log, session: str, spans: Spans) -> tuple[Entry, ...]:
    """The messages inside some spans."""
    return tuple([entry for entry in await loading.read(log, session, spans) if entry.is_message])


async def standing_repairs(log: Log, view: View) -> tuple[Entry, ...]:
    """What refusals have taught, as far as it is in force."""
    spans = tuple(Span(seq, seq) for seq in view.folded.repairs)
    return await markers(log, view.session.id, spans) if spans else ()


async def markers(log: Log, session: str, spans: Spans) -> tuple[Entry, ...]:
    """The markers inside some spans."""
    return tuple(
        [entry for entry in await loading.read(log, session, spans) if not entry.is_message]
    )


def with_blocks(window: Window, fixed: Repaired, policy: Policy) -> Window:
    """The window with its blocks repaired."""
    if fixed.blocks is window.blocks:
        return window
    tokens = window.tokens.tokens
    tokens += sum(b.tokens for b in fixed.blocks) - sum(b.tokens for b in window.blocks)
    made = replace(
        window,
        blocks=fixed.blocks,
        tokens=replace(window.tokens, tokens=tokens),
        breakpoints=breakpoints(fixed.blocks, bool(window.tools), policy),
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
