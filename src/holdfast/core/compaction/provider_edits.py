"""The same steps done by the provider, where it can: what is asked of it, in its own words.

Rule 1: only what a policy does is asked for, with the policy's own numbers.
Rule 2: what the provider does is not done by us as well, until the window would be over.
Rule 3: where a provider cannot, the client does the same; nobody need ask which it was.
Rule 4: what no reply has come to yet is not left out, but by a policy that does exactly what
        another program did.
Rule 5: what somebody took back is not asked for again: the provider would do it again at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from holdfast.core.log.boundary import is_request, just_asked, unread_from
from holdfast.core.tokens.count import MESSAGE, weigh
from holdfast.model.log import Entry, Folded, PartRef
from holdfast.model.message import (
    Message,
    Opaque,
    Part,
    Reasoning,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.policy import Policy, Step
from holdfast.model.profile import Profile
from holdfast.model.reply import Edit, Stop
from holdfast.model.window import Block

START: Final = Folded()

SMALLEST: Final = 50_000
"""Anthropic compacts at no fewer tokens than this."""


def edits(
    policy: Policy,
    profile: Profile,
    *,
    thinking: bool,
    folded: Folded = START,
    blocks: Sequence[Block] = (),
) -> dict[str, Any]:
    """What to ask of the provider of a model; nothing where we do all ourselves.

    `thinking` says whether the model is asked to think: otherwise there is none to be cleared.
    What was undone is in `folded`, and is not asked for again. Of `blocks`, which are sent, the
    results that no reply has come to are not to be cleared.
    """
    if policy.strategy != "server":
        return {}
    compacts = not folded.shielded
    if profile.provider == "openai":
        able = compacts and profile.can("server_compaction")
        threshold = due(policy, profile) if able else 0
        return {"type": "compaction", "compact_threshold": threshold} if threshold else {}
    if profile.provider != "anthropic":
        return {}
    unread = _unread(blocks) if policy.keeps_unread else 0
    asked = [] if folded.unclearable else _clears(policy, profile, thinking, unread)
    asked += _compacts(policy, profile) if compacts else []
    return {"edits": asked} if asked else {}


def theirs(policy: Policy, profile: Profile, step: Step, folded: Folded = START) -> bool:
    """Whether a step is the provider's to take."""
    if policy.strategy != "server":
        return False
    if step in ("thinking", "microcompact"):
        return (
            not folded.unclearable
            and profile.provider == "anthropic"
            and profile.can("context_editing")
        )
    if step in ("summarise", "compact"):
        able = profile.provider in ("anthropic", "openai") and profile.can("server_compaction")
        return able and not folded.shielded
    return False


def due(policy: Policy, profile: Profile) -> int:
    """The tokens at which a policy summarises; 0 where it does not."""
    rule = policy.compact or policy.summarise
    if rule is None:
        return 0
    marks = [int(share * profile.window) for share in (rule.due.window, rule.due.room) if share]
    marks += [rule.due.tokens] if rule.due.tokens else []
    return min(marks, default=0)


def _unread(blocks: Sequence[Block]) -> int:
    """How many results are sent that no reply has come to yet."""
    talk = [Message(block.role, block.parts) for block in blocks]
    fresh = talk[unread_from(talk) :]
    return sum(isinstance(part, ToolResult) for message in fresh for part in message.parts)


def _clears(policy: Policy, profile: Profile, thinking: bool, unread: int) -> list[dict[str, Any]]:
    """Clearing, thinking first as the provider wants it."""
    if not profile.can("context_editing"):
        return []
    asked: list[dict[str, Any]] = []
    if policy.thinking and thinking:
        keep: Any = {"type": "thinking_turns", "value": max(policy.thinking.keep, 1)}
        keep = "all" if policy.thinking.keep_all else keep
        asked.append({"type": "clear_thinking_20251015", "keep": keep})
    if policy.microcompact:
        rule = policy.microcompact
        clears: dict[str, Any] = {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": rule.trigger},
            "keep": {"type": "tool_uses", "value": max(rule.keep, unread)},
        }
        if rule.least:
            clears["clear_at_least"] = {"type": "input_tokens", "value": rule.least}
        if rule.exclude:
            clears["exclude_tools"] = [*rule.exclude]
        if rule.inputs:
            clears["clear_tool_inputs"] = True
        asked.append(clears)
    return asked


def _compacts(policy: Policy, profile: Profile) -> list[dict[str, Any]]:
    threshold = due(policy, profile)
    if not threshold or not profile.can("server_compaction"):
        return []
    trigger = {"type": "input_tokens", "value": max(threshold, SMALLEST)}
    asked: dict[str, Any] = {"type": "compact_20260112", "trigger": trigger}
    rule = policy.compact or policy.summarise
    if rule and rule.pause:
        asked["pause_after_compaction"] = True
    if rule and rule.instructions:
        asked["instructions"] = rule.instructions
    return [asked]


OVER: tuple[Stop, ...] = ("end", "refused")
"""How a reply ends after which nothing is being worked on."""


def cleared(
    sent: Sequence[Entry], edits: Sequence[Edit], asked: dict[str, Any], gone: Iterable[PartRef]
) -> tuple[PartRef, ...]:
    """The parts that a provider left out of what it was sent; those that are gone already aside."""
    found: list[PartRef] = []
    away = frozenset(gone)
    spared = _spared(asked)
    for edit in edits:
        if edit.cleared_tool_uses:
            found += _results(sent, spared)[:-1][: edit.cleared_tool_uses]
        if edit.cleared_thinking_turns:
            turns = _thoughts(sent, away)[:-1][: edit.cleared_thinking_turns]
            found += [ref for turn in turns for ref in turn]
    return tuple(sorted({*found} - away))


def kept(sent: Sequence[Entry], stop: Stop) -> tuple[int, ...]:
    """What the user just asked, where the reply goes on with it: the newest request first."""
    if stop in OVER:
        return ()
    bodies = [entry.body for entry in sent if isinstance(entry.body, Message)]
    asked = just_asked(bodies)
    return tuple(
        entry.seq
        for entry, body in zip(sent[asked:], bodies[asked:], strict=True)
        if is_request(body)
    )


def without_compactions(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """A message without the provider's compactions: their summaries say where they stand.

    Sent at its own place, such a block would hide from its provider all that stands before it.
    """
    places = {place for place, part in enumerate(parts) if _compacting(part)}
    if not places:
        return parts
    told = {place + 1 for place in places}
    return tuple(
        part
        for place, part in enumerate(parts)
        if place not in places and not (place in told and isinstance(part, SummaryText))
    )


def echoed(block: Block, sealed: Opaque) -> Block:
    """A summary that a provider made: its owner is sent its own, anybody else the words."""
    (words,) = block.parts
    assert isinstance(words, Text)
    parts = (sealed, SummaryText(words.text))
    return replace(block, parts=parts, tokens=max(map(weigh, parts)) + MESSAGE)


def _compacting(part: Part) -> bool:
    return type(part) is Opaque and part.type == "compaction"


def _spared(asked: dict[str, Any]) -> frozenset[str]:
    """The tools that a provider was told to leave alone."""
    edits: list[dict[str, Any]] = asked.get("edits") or []
    return frozenset(name for edit in edits for name in edit.get("exclude_tools") or ())


def _results(sent: Sequence[Entry], spared: frozenset[str]) -> list[PartRef]:
    """The results of tools, in their order."""
    found: list[PartRef] = []
    names: dict[str, str] = {}
    for entry, ordinal, part in _parts(sent):
        if isinstance(part, ToolCall):
            names[part.id] = part.name
        elif isinstance(part, ToolResult) and names.get(part.call, part.name) not in spared:
            found.append(PartRef(entry.seq, ordinal))
    return found


def _thoughts(sent: Sequence[Entry], gone: frozenset[PartRef]) -> list[list[PartRef]]:
    """The thoughts of each turn that has any, in their order."""
    turns: list[list[PartRef]] = [[]]
    at = 0
    for entry, ordinal, part in _parts(sent):
        assert isinstance(entry.body, Message)
        if entry.seq != at and is_request(entry.body):
            turns.append([])
        at = entry.seq
        thought = isinstance(part, Reasoning) or (
            isinstance(part, Opaque) and part.type == "redacted_thinking"
        )
        if thought and PartRef(entry.seq, ordinal) not in gone:
            turns[-1].append(PartRef(entry.seq, ordinal))
    return [turn for turn in turns if turn]


def _parts(sent: Sequence[Entry]) -> Iterable[tuple[Entry, int, Part]]:
    for entry in sent:
        if isinstance(entry.body, Message):
            for ordinal, part in enumerate(entry.body.parts):
                yield entry, ordinal, part
