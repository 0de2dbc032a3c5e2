"""Turn state: what one turn was given, and the window it makes of a view.

A view is assembled once for as long as nothing changes. Whether what a turn appends is kept is for
its log to say (`window/turn_log.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.calls.refusals import cured
from holdfast.core.secrets import redact
from holdfast.core.tokens.estimate import estimate, recurring
from holdfast.core.window.assemble import Seen, Surroundings, assemble, shortages
from holdfast.core.window.budget import budget as allot
from holdfast.core.window.budget import room_of
from holdfast.core.window.layout import breakpoints, current_date, shown_values
from holdfast.core.window.repair import Limits, Repaired, repair
from holdfast.core.window.scaffold import TAGS
from holdfast.core.window.truncate import cap
from holdfast.engine import loading
from holdfast.engine.window import pins, sections
from holdfast.engine.window.sections import Given
from holdfast.engine.window.turn_log import PreviewLog, SessionLog, TurnLog
from holdfast.errors import InvalidRequest
from holdfast.model import wire
from holdfast.model.log import Body, Clear, Entry, Folded, Summary
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.view import View
from holdfast.model.window import Budget, Window
from holdfast.ports import Log

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext


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
        self, session: SessionContext, given: Given, profile: Profile, policy: Policy
    ) -> None:
        self.session = session
        self.log: TurnLog = SessionLog(session)
        self.stored: Log = session.store.log
        """The log in the store, which pages of older entries are read from."""
        self.given = given
        self.profile = profile
        self.policy = reserving(policy, given.max_tokens)
        self.asks = True
        """Whether the window is for a call: models and endpoints may be asked, and caps hold."""
        self.cap = cap(policy, profile)
        _check(policy)
        self._directory = session.info.directory
        self._last: Assembled | None = None
        self._surroundings: dict[object, tuple[Surroundings, Budget]] = {}

    def preview(self, *, asks: bool = False) -> TurnState:
        """The same turn over a log of its own, so that nothing it does is written."""
        other = copy(self)
        other.log, other.asks = PreviewLog(self.log), asks
        return other

    @cached_property
    def encoded(self) -> bytes:
        """What was given, as it is kept with the call."""
        return wire.encode(self.given)

    @property
    def guessed(self) -> bool:
        """Whether the window is only assumed, for a model that is not the session's own."""
        own = self.session.info.model
        return "window" in self.profile.assumed and bool(own) and own != self.given.model

    @property
    def has_summariser(self) -> bool:
        """Whether a model may be asked for summaries."""
        return self.asks and self.session.upkeep.voice is not None

    @property
    def weak_model(self) -> Profile | None:
        """The cheaper model for summaries, where one is named and the policy asks it first."""
        rule = self.policy.summarise or self.policy.compact
        first = rule.models[0] if rule and rule.models else "main"
        name = self.session.upkeep.weak_model if first == "weak" else ""
        return self.session.catalogue.profile(name) if name else None

    async def announce(self, view: View) -> View:
        """The view once what has changed around the conversation stands at its end."""
        secrets = self.session.secrets
        now = {name: redact(text, secrets) for name, text in self._sections(view).items()}
        snapshot = await self.log.sections(view.folded.context)
        first = snapshot is None and bool(now)
        begun = first and await sections.begun(self.stored, view)
        tag = next((one.tag for one in self.policy.layout if one.section == "context"), "")
        changes = sections.news(snapshot, now, begun=begun, tag=tag)
        switches = await sections.switched(self.stored, view, self.given.model)
        return await self.append(view, *changes, *switches) if changes or switches else view

    async def append(self, view: View, *bodies: Body) -> View:
        """The view with these at its end."""
        self._last = None
        return await self.log.append(view, *bodies)

    async def mark(self, view: View, marker: Summary | Clear) -> View:
        """The view once a compaction is in force."""
        return await self.log.mark(view, marker)

    async def assembled(self, view: View) -> Assembled:
        """The window of a view; made once for as long as nothing changes."""
        around, budget = await self.around(view.folded)
        last = self._last
        if last and last.view == view and last.around is around and last.window.budget == budget:
            return last
        seen = await self._seen(view)
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
        shown = await self.log.sections(folded.base)
        if shown and folded.context != folded.base and self._outgrown(shown):
            shown = await self.log.sections(folded.context)
        base = self._placed(self.given.sections) if shown is None else shown
        if newest := await self.log.sections(folded.context):
            base = at_once(base, newest)
        pins = await sections.pinned(self.stored, self.session.id, folded) if folded.pins else []
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
            folded=replace(view.folded, kept=(), asked=0), summaries=await self.log.summaries(view)
        )
        return assemble(bare, around, self.policy, budget, self.given.model)

    async def _seen(self, view: View) -> Seen:
        return Seen(
            folded=view.folded,
            messages=await self.log.messages(view, self.cap),
            summaries=await self.log.summaries(view),
            repairs=await loading.standing_repairs(self.stored, view),
        )

    async def few(self, view: View) -> tuple[Entry, ...] | None:
        """The visible messages, where no more than a page has to be read; otherwise None."""
        return await self.log.few(view, self.cap)

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
