"""What a provider did to the context by itself, as what our own markers say of it.

Rule 1: a provider tells how many it cleared, not which. It documents that the oldest go first, so
        they are the first of what it was sent.
Rule 2: what it compacted is all that it was sent; what was just asked stays word for word as long
        as it is being worked on.
Rule 3: the newest result and the newest thought are never taken for cleared, whatever is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from holdfast.core.boundary import is_request, just_asked
from holdfast.core.count import MESSAGE, weigh
from holdfast.model.log import Entry, PartRef
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
from holdfast.model.reply import Edit, Stop
from holdfast.model.window import Block

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
    places = {place for place, part in enumerate(parts) if _compacts(part)}
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


def _compacts(part: Part) -> bool:
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
