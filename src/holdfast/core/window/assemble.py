"""From what is visible to exactly what will be sent.

Rule 1: sections stand in the policy's order; inside history the log's order is never changed, and
        a summary of what came after something that is still visible stands behind it.
Rule 2: a block carries its source and the rule that kept it; nothing is in the window without both.
Rule 3: assembling never fails: what is too much is told as `over` and `shortages`.
Rule 4: what changes from call to call (chat files, reminder) stands behind the last breakpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.compaction.provider_edits import echoed, without_compactions
from holdfast.core.log.boundary import just_asked
from holdfast.core.log.transcript_text import told
from holdfast.core.tokens.calibrate import SLACK, excess
from holdfast.core.tokens.count import MESSAGE, WEIGHED, media_of, weigh
from holdfast.core.tokens.estimate import recurring
from holdfast.core.window.layout import breakpoints, bundled, framed_pictures, shape
from holdfast.core.window.recall import note
from holdfast.core.window.repair import is_picture
from holdfast.core.window.scaffold import elements, escape, wrap
from holdfast.core.window.truncate import shorten
from holdfast.model.log import Entry, Folded, Handle, Pinned, Summary
from holdfast.model.message import (
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.policy import Place, Policy
from holdfast.model.span import OPEN
from holdfast.model.view import place_of
from holdfast.model.window import Block, Budget, Count, SectionName, Shortage, Tool, Window


class Surroundings(Struct, frozen=True, kw_only=True):
    """What surrounds the conversation this time: given by the caller and the sources."""

    system: str = ""
    examples: tuple[Message, ...] = ()
    sections: dict[str, str] = {}
    """Text by section, as the snapshot in force has it."""
    pins: tuple[tuple[Pinned, Entry | None], ...] = ()
    chat_files: str = ""
    reminder: str = ""
    deferred: str = ""
    """The names of tools that wait to be found."""
    tools: tuple[Tool, ...] = ()
    tools_tokens: int = 0
    reminder_role: Role | None = None
    """Who says the reminder, where that depends on the model; None: as the policy says."""


class Seen(Struct, frozen=True, kw_only=True):
    """What is visible of the log: messages in order, the summaries, and what stands."""

    folded: Folded
    messages: tuple[Entry, ...] = ()
    summaries: tuple[Entry, ...] = ()
    repairs: tuple[Entry, ...] = ()
    """Refusals of providers, and what is sent differently since."""


def assemble(
    seen: Seen, around: Surroundings, policy: Policy, budget: Budget, model: str
) -> Window:
    """The window of what is visible, under a policy."""
    places = policy.order(bool(seen.summaries))
    made = _Sections(seen, around, policy, budget.pins)
    blocks = bundled([block for place in places for block in made.blocks(place)], policy)
    blocks = _with_reminder(blocks, policy, budget, around.tools_tokens)
    tokens = around.tools_tokens + sum(block.tokens for block in blocks)
    over = max(0, tokens - budget.room)
    window = Window(
        model=model,
        blocks=tuple(blocks),
        budget=budget,
        tools=around.tools,
        tokens=Count(tokens=tokens),
        breakpoints=breakpoints(blocks, bool(around.tools), policy),
        over=over,
        asks=_asks(policy, tokens, over, budget),
    )
    return replace(window, shortages=shortages(window))


class _Sections:
    """Makes the blocks of each section, once."""

    def __init__(self, seen: Seen, around: Surroundings, policy: Policy, pinned: int) -> None:
        self._seen, self._around, self._policy = seen, around, policy
        self._kept = frozenset(seen.folded.kept) - {seen.folded.asked}
        self._shortened = {one.seq: one.tokens for one in seen.folded.shortened}
        self._cleared = frozenset((ref.seq, ref.ordinal) for ref in seen.folded.cleared)
        tail = [entry for entry in seen.messages if entry.seq not in self._kept]
        bodies = [entry.body for entry in tail if isinstance(entry.body, Message)]
        asked = just_asked(bodies)
        self._history, self._current = tail[:asked], tail[asked:]
        self._turn = self._current[0].seq if self._current else OPEN
        shown = {entry.seq for entry in seen.messages} if around.pins else set[int]()
        self._pins = _cut_pins(
            [(pin, e) for pin, e in around.pins if not (pin.seq and pin.seq in shown)], pinned
        )
        self._settled = max(seen.folded.summaries, default=0)
        self._pin_place = Place("pins")
        self._late = self._summaries_behind(tail)
        self._early = [one for one in seen.summaries if one not in self._late]
        self._from = place_of(self._early[-1]) if self._early else 0.0
        self._behind = self._placed(self._current[0]) if self._current else float(OPEN)
        self._places = {place.section: place for place in policy.order(bool(seen.summaries))}

    def blocks(self, place: Place) -> list[Block]:
        make = _MAKERS.get(place.section)
        made = make(self, place) if make else self._text(place)
        return [*made, _answer(place)] if made and place.answer else made

    def _text(self, place: Place) -> list[Block]:
        content = self._around.sections.get(place.section, "")
        return [self._said(place, content, f"source {place.section}")] if content else []

    def _said(self, place: Place, content: str, source: str) -> Block:
        return _said(place, content, source, "stable section", values=self._values)

    @cached_property
    def _values(self) -> dict[str, str]:
        """The values of the context, for forms that name them."""
        return elements(self._around.sections.get("context", ""))

    def system(self, place: Place) -> list[Block]:
        content = self._around.system
        said = [_said(place, content, "system prompt", "given")] if content else []
        return [*said, *self._deferred()]

    def _deferred(self) -> list[Block]:
        """The names of tools that wait to be found: right behind the tools and the system."""
        names, place = self._around.deferred, Place("tools", "user", "available-deferred-tools")
        return [_said(place, names, "deferred tools", "found by tool_search")] if names else []

    def examples(self, place: Place) -> list[Block]:
        return [
            Block(
                section="examples",
                role=message.role,
                parts=message.parts,
                tokens=_tokens(message.parts),
                source="example",
                rule="given",
            )
            for message in self._around.examples
        ]

    def pins(self, place: Place) -> list[Block]:
        self._pin_place = place
        return [
            _said(place, text, f"pin {pin.id}", "pinned")
            for pin, text in self._pins
            if pin.at <= self._settled
        ]

    def _with_new_pins(self, blocks: list[Block], first: int, last: float) -> list[Block]:
        """The blocks with what was pinned meanwhile at its own place among them.

        In its section it would change what is cached; there it stands from the next summary on.
        """
        new = [
            (pin, t) for pin, t in self._pins if pin.at > self._settled and first <= pin.at < last
        ]
        for pin, text in new:
            said = _said(self._pin_place, text, f"pin {pin.id}", "pinned")
            behind = next((i for i, b in enumerate(blocks) if b.seq > pin.at), len(blocks))
            blocks.insert(behind, replace(said, seq=pin.at))
        return blocks

    def _summaries_behind(self, tail: Sequence[Entry]) -> list[Entry]:
        """The summaries of what came after something that is still visible: they stand behind it.

        What was being worked on is no such thing: it stands behind the summary that kept it.
        """
        first = next((one.seq for one in tail if one.seq != self._seen.folded.asked), OPEN)
        return [one for one in self._seen.summaries if place_of(one) > first]

    def summary(self, place: Place) -> list[Block]:
        return [self._summary(place, entry) for entry in self._early]

    def _summary(self, place: Place, entry: Entry) -> Block:
        assert isinstance(entry.body, Summary)
        preserved = any(one.seq < entry.seq for one in (*self._history, *self._current))
        content = _summary(entry.body, self._policy, preserved=preserved)
        sealed = entry.body.sealed
        rule = "stands for what it covers"
        block = _said(place, content, f"summary {entry.id}", rule, sealed=True)
        if sealed and entry in self._early:  # elsewhere it would hide what stands before it
            block = echoed(block, sealed)
        return replace(block, entry=entry.id, seq=entry.seq)

    def kept(self, place: Place) -> list[Block]:
        kept = [entry for entry in self._seen.messages if entry.seq in self._kept]
        early = [entry for entry in kept if not self._late or entry.seq < self._from]
        return [self._kept_entry(place, entry) for entry in early]

    def _with_late(self, made: list[tuple[float, Block]], first: float, last: float) -> list[Block]:
        """Blocks by their places, with the summaries that stand among them and what is kept beside
        these."""
        if not self._late:
            return [block for _, block in made]
        summary, kept = self._places.get("summary"), self._places.get("kept")
        if summary:
            made += [(place_of(one), self._summary(summary, one)) for one in self._late]
        if kept:
            beside = (e for e in self._seen.messages if e.seq in self._kept and e.seq > self._from)
            made += [(float(one.seq), self._kept_entry(kept, one)) for one in beside]
        return [block for place, block in sorted(made, key=_first) if first <= place < last]

    def _placed(self, entry: Entry) -> float:
        """Where a message stands: what was being worked on is behind the summary that kept it."""
        if entry.seq != self._seen.folded.asked:
            return float(entry.seq)
        keeping = next((one for one in self._seen.summaries if place_of(one) > entry.seq), None)
        if keeping is None or keeping not in self._late:
            return float(entry.seq)
        return place_of(keeping) + 0.25

    def _kept_entry(self, place: Place, entry: Entry) -> Block:
        """An earlier message beside a summary; in a tag where a policy says so, so that nobody
        takes it for a request that still waits."""
        block = self._entry(entry, "kept", "kept word for word")
        most = self._shortened.get(entry.seq)
        if most is None and not place.tag:
            return block
        rule = f"kept, cut to {most} tokens" if most else block.rule
        parts = block.parts if most is None else self._cut(block.parts, most, entry)
        parts = tuple(_marked(part, place.tag) for part in parts)
        return replace(block, parts=parts, tokens=_tokens(parts), rule=rule)

    def _cut(self, parts: Sequence[Part], most: int, entry: Entry) -> tuple[Part, ...]:
        """A message's parts within so many tokens, as the policy counts: its texts give way."""
        own = WEIGHED.get(self._policy.counts_with, weigh)
        texts = sum(own(part) for part in parts if _is_plain(part))
        left = most - sum(own(part) for part in parts) + texts
        return tuple(
            _shortened(part, max(left * own(part) // max(texts, 1), 1), entry, own)
            if isinstance(part, Text) and _is_plain(part)
            else part
            for part in parts
        )

    def history(self, place: Place) -> list[Block]:
        made = [(self._placed(e), self._entry(e, "history", "visible")) for e in self._history]
        blocks = self._with_late(made, 0, self._behind)
        return self._with_new_pins(blocks, 0, self._turn) if self._pins else blocks

    def current(self, place: Place) -> list[Block]:
        made = [(self._placed(e), self._entry(e, "current", "just asked")) for e in self._current]
        blocks = self._with_late(made, self._behind, OPEN)
        return self._with_new_pins(blocks, self._turn, OPEN) if self._pins else blocks

    def chat_files(self, place: Place) -> list[Block]:
        content = self._around.chat_files
        return [_said(place, content, "chat files", "in the chat")] if content else []

    def reminder(self, place: Place) -> list[Block]:
        content, role = self._around.reminder, self._around.reminder_role
        place = replace(place, role=role) if role else place
        return [_said(place, content, "reminder", "said last")] if content else []

    def _entry(self, entry: Entry, section: SectionName, rule: str) -> Block:
        assert isinstance(entry.body, Message)
        parts, tokens = entry.body.parts, sum(entry.counts) + MESSAGE
        if self._cleared:
            parts, tokens = self._without_cleared(entry, parts, tokens)
        if len(parts) != 1 or type(parts[0]) is not Text:  # most messages are one text
            parts, tokens = self._as_shown(entry.body.role, parts, tokens)
        return Block(
            section=section,
            role=entry.body.role,
            parts=parts,
            tokens=tokens,
            entry=entry.id,
            seq=entry.seq,
            source=f"entry {entry.seq}",
            rule=rule,
            provider=entry.provider,
            model=entry.model,
        )

    def _as_shown(
        self, role: Role, parts: tuple[Part, ...], tokens: int
    ) -> tuple[tuple[Part, ...], int]:
        """The parts without a provider's own compactions, and with tags around pictures."""
        shown = without_compactions(parts)
        if self._policy.image_tags and role == "user":
            shown = framed_pictures(shown)
        return (parts, tokens) if shown == parts else (shown, _tokens(shown))

    def _without_cleared(
        self, entry: Entry, parts: tuple[Part, ...], tokens: int
    ) -> tuple[tuple[Part, ...], int]:
        if not any((entry.seq, ordinal) in self._cleared for ordinal in range(len(parts))):
            return parts, tokens
        shown = tuple(
            new
            for ordinal, part in enumerate(parts)
            if (new := self._shown(part, entry, ordinal)) is not None
        )
        return shown, _tokens(shown)

    def _shown(self, part: Part, entry: Entry, ordinal: int) -> Part | None:
        """A part, what stands for it once it is cleared, or nothing for a cleared thought."""
        if (entry.seq, ordinal) not in self._cleared:
            return part
        if isinstance(part, (Reasoning, Opaque)):
            return None
        call = self._calls.get(part.call) if isinstance(part, ToolResult) else None
        return placeholder(part, Handle(entry.id, ordinal), _counted(entry, ordinal), call)

    @cached_property
    def _calls(self) -> dict[str, ToolCall]:
        """The visible tool calls by id, so that what is cleared can say what it was."""
        bodies = (entry.body for entry in self._seen.messages)
        said = (part for body in bodies if isinstance(body, Message) for part in body.parts)
        return {part.id: part for part in said if isinstance(part, ToolCall)}


_MAKERS: dict[str, Callable[[_Sections, Place], list[Block]]] = {
    "system": _Sections.system,
    "examples": _Sections.examples,
    "pins": _Sections.pins,
    "summary": _Sections.summary,
    "kept": _Sections.kept,
    "history": _Sections.history,
    "current": _Sections.current,
    "chat_files": _Sections.chat_files,
    "reminder": _Sections.reminder,
}


def _first(placed: tuple[float, Block]) -> float:
    return placed[0]


def placeholder(part: Part, handle: Handle, tokens: int, call: ToolCall | None = None) -> Part:
    """What stands for a part whose content has left the window: what it was, and its handle."""
    line = note(part, handle, tokens, call)
    if isinstance(part, ToolResult):
        return ToolResult(part.call, line, part.error, part.name)
    return Text(line, scaffold="system-reminder")


def _is_plain(part: Part) -> bool:
    """Whether it is a text that may be changed."""
    return isinstance(part, Text) and not (part.seal and part.seal.sent)


def _shortened(part: Text, most: int, entry: Entry, own: Callable[[Part], int]) -> Text:
    """A text of an earlier message, cut to so many tokens."""
    text = shorten(part.text, most, f"#{entry.seq}", lambda words: own(Text(words)))
    return part if text == part.text else replace(part, text=text, seal=None)


def _marked(part: Part, tag: str) -> Part:
    """A part of an earlier message in the tag of its section."""
    if not (tag and isinstance(part, Text) and _is_plain(part)):
        return part
    return Text(wrap(tag, part.text), scaffold=tag)


def shortages(window: Window) -> tuple[Shortage, ...]:
    """What besides tokens there is too much of."""
    found: list[Shortage] = []
    limits = window.budget
    images = sum(_images(block.parts) for block in window.blocks) if limits.most_images else 0
    if images > limits.most_images:
        found.append(Shortage(what="images", have=images, limit=limits.most_images))
    memory = sum(block.tokens for block in window.section("memory"))
    if limits.memory and memory > limits.memory + SLACK:  # a frame stands around it
        found.append(Shortage(what="memory", have=memory, limit=limits.memory))
    if limits.most_tools and len(window.tools) > limits.most_tools:
        found.append(Shortage(what="tools", have=len(window.tools), limit=limits.most_tools))
    return tuple(found)


def _images(parts: Sequence[Part]) -> int:
    return sum(is_picture(media) for part in parts for media in media_of(part))


def _said(
    place: Place,
    content: str,
    source: str,
    rule: str,
    *,
    sealed: bool = False,
    values: Mapping[str, str] = MappingProxyType({}),
) -> Block:
    """A block of a section; `sealed` content is escaped already, tags of our own in it aside."""
    text = shape(place, content, values, sealed=sealed)
    return Block(
        section=place.section,
        role=place.role,
        parts=(Text(text, scaffold=place.tag or place.section),),
        tokens=recurring(text) + MESSAGE,
        source=source,
        rule=rule,
        bundle=place.bundle,
    )


def _answer(place: Place) -> Block:
    """What the model is taken to have answered to a section, so that the roles take turns."""
    parts = (Text(place.answer, scaffold=place.section),)
    return Block(
        section=place.section,
        role="assistant",
        parts=parts,
        tokens=_tokens(parts),
        source=f"answer to {place.section}",
        rule="part of the layout",
    )


def _summary(body: Summary, policy: Policy, *, preserved: bool) -> str:
    """What stands for a stretch, whoever wrote it: nothing in it can pass for scaffolding."""
    facts = wrap("ledger", body.ledger) if body.ledger else ""
    beside = policy.summary_preserved if preserved else ""
    pieces = (
        policy.summary_preamble, escape(body.text), facts, escape(body.expand), beside,
        policy.summary_closing,
    )  # fmt: skip
    return "\n\n".join(piece for piece in pieces if piece)


def pinned_text(pin: Pinned, entry: Entry | None) -> str:
    """What a pin shows; a file's content stands in a section of its own."""
    if pin.fact:
        return pin.fact
    if entry is not None and isinstance(entry.body, Message):
        return entry.body.text or told(entry)
    return f"entry {pin.seq}" if pin.seq else ""


def _cut_pins(pins: Sequence[tuple[Pinned, Entry | None]], most: int) -> list[tuple[Pinned, str]]:
    """The pins within their budget: where they take more, the longest are cut."""
    texts = [(pin, text) for pin, entry in pins if (text := pinned_text(pin, entry))]
    taken = sum(recurring(text) for _, text in texts)
    if not most or taken <= most:
        return texts
    each = max(most // len(texts), 64)
    return [(pin, shorten(text, each, f"#{pin.seq or pin.at}")) for pin, text in texts]


def _tokens(parts: Sequence[Part]) -> int:
    return sum(map(weigh, parts)) + MESSAGE


def _counted(entry: Entry, ordinal: int) -> int:
    return entry.counts[ordinal] if ordinal < len(entry.counts) else 0


def _with_reminder(
    blocks: list[Block], policy: Policy, budget: Budget, tools_tokens: int
) -> list[Block]:
    """A reminder that may be left out is, where it would not fit; one that the user says belongs
    to the message of theirs that it stands behind."""
    if policy.reminder_by_model:
        blocks = _with_the_last(blocks)
    if not policy.reminder_if_it_fits:
        return blocks
    rest = [block for block in blocks if block.section != "reminder"]
    taken = tools_tokens + sum(block.tokens for block in rest)
    last = sum(block.tokens for block in blocks if block.section == "reminder")
    return blocks if taken + last <= budget.room else rest


def _with_the_last(blocks: list[Block]) -> list[Block]:
    """The blocks, with a reminder of the user's as a part of the message before it."""
    if len(blocks) < 2 or blocks[-1].section != "reminder" or blocks[-2].role != blocks[-1].role:
        return blocks
    return [*blocks[:-2], *(replace(block, bundle="reminder") for block in blocks[-2:])]


def weighed(window: Window, count: Count, policy: Policy) -> Window:
    """The window with a better count of it."""
    over = excess(count, window.budget)
    asks = _asks(policy, count.tokens, over, window.budget)
    return replace(window, tokens=count, over=over, asks=asks)


def _asks(policy: Policy, tokens: int, over: int, budget: Budget) -> tuple[str, ...]:
    if not (policy.asks_before_overlong and over):
        return ()
    return (
        f"About {tokens:,} tokens would be sent, {over:,} more than the {budget.room:,} that fit. "
        "Send it all the same?",
    )
