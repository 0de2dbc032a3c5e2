"""A conversation as text, for whoever is to summarise it: complete, and in pieces that fit.

Rule 1: nothing is left out: every message, call and result is there, as the window showed it.
Rule 2: each piece says where it comes from, `#12`, so that a summary can name it.
Rule 3: the pieces of a conversation, put together, are the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from holdfast.core.search.searchable_text import searchable
from holdfast.core.tokens.estimate import estimate
from holdfast.model.log import Entry, Summary
from holdfast.model.message import Media, Message, Opaque, Part, Text, ToolCall, ToolResult

_HEADS = re.compile(r"^(?:\[#\d+ \w+\]|# (?:USER|ASSISTANT|TOOL|SYSTEM)\b)", re.MULTILINE)


def told(entry: Entry, headings: bool = False) -> str:
    """One message as text; with headings as `# USER` and `# ASSISTANT`."""
    body = entry.body
    if not isinstance(body, Message):
        return ""
    lines = [_inert(line) for part in body.parts if (line := _part(part))]
    head = f"# {body.role.upper()}" if headings else f"[#{entry.seq} {body.role}]"
    return "\n".join((head, *lines)) if lines else ""


def _inert(text: str) -> str:
    """What somebody said, without lines that could pass for the head of another message."""
    return _HEADS.sub(r"  \g<0>", text)


def _part(part: Part) -> str:
    if isinstance(part, ToolCall):
        return f"(calls {part.name} {part.input})"
    if isinstance(part, ToolResult):
        how = "failed" if part.error else "answered"
        pictures = "".join(f"\n({media.type} {media.name})" for media in part.media)
        return f"({part.name or 'the tool'} {how})\n{part.output}{pictures}"
    if isinstance(part, Media):
        return f"({part.type} {part.name})"
    if isinstance(part, Opaque):
        return ""
    if isinstance(part, Text) and part.scaffold:
        return f"(the program that manages the conversation says)\n{part.text}"
    return searchable(part)


def earlier(summaries: Sequence[Entry]) -> list[str]:
    """What earlier summaries say; shedding says nothing worth carrying on."""
    bodies = [entry.body for entry in summaries]
    return [b.text for b in bodies if isinstance(b, Summary) and b.step != "shed"]


def chunks(texts: Iterable[str], tokens: int) -> Iterator[str]:
    """The texts put together, in pieces of at most so many tokens."""
    held: list[str] = []
    taken = 0
    for text in texts:
        for piece in _split(text, tokens):
            cost = estimate(piece) + 1
            if held and taken + cost > tokens:
                yield "\n\n".join(held)
                held, taken = [], 0
            held.append(piece)
            taken += cost
    if held:
        yield "\n\n".join(held)


def _split(text: str, tokens: int) -> Iterator[str]:
    """A text in pieces that fit; itself where it does."""
    whole = estimate(text)
    if whole < tokens:
        yield text
        return
    size = max(len(text) * max(tokens - 1, 1) // max(whole, 1), 1)
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        while end - start > 1 and estimate(text[start:end]) >= tokens:
            end = start + (end - start) * 3 // 4
        yield text[start:end]
        start = end
