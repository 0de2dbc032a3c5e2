"""Nothing is out of reach: one line for whatever left the window, and the tools that bring it back.

Rule 1: a handle names a part (`prt_ID.2`), an entry (its id, or `#12`) or a stretch (`#3-#9`).
Rule 2: the line says what it was: the tool and what it was asked, or the first words.
Rule 3: what comes back comes within a budget; where it is cut it says how to go on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from holdfast.core.ledger.facts.tool_dialects import TOOLS
from holdfast.core.log.tool_input import arguments, text_of
from holdfast.core.search.searchable_text import searchable
from holdfast.core.tokens.estimate import estimate
from holdfast.errors import InvalidRequest
from holdfast.model.log import Entry, Handle
from holdfast.model.message import Media, Message, Part, Reasoning, ToolCall, ToolResult
from holdfast.model.window import Tool

LINE: Final = 100
"""How long the line of one handle is at most, in characters."""

SMALLEST: Final = 120
"""What took fewer tokens is not listed among what can be expanded."""

RECALL: Final = Tool(
    name="recall",
    description=(
        "Bring back, word for word, something of this conversation that is no longer shown. "
        "Give the handle as it stands in the conversation: prt_…, an entry such as #12, or a "
        "stretch such as #12-#20. Long content comes in pieces: give the offset it ends with."
    ),
    schema={
        "type": "object",
        "properties": {
            "handle": {"type": "string", "description": "What to bring back, such as #12."},
            "offset": {
                "type": "integer",
                "description": "The character to go on from; leave it out at first.",
            },
        },
        "required": ["handle"],
    },
)

SEARCH: Final = Tool(
    name="search_history",
    description=(
        "Search everything that was said in this conversation, also what is no longer shown. "
        "Each hit comes with its handle, which recall brings back in full."
    ),
    schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "The words to look for."},
            "limit": {"type": "integer", "description": "How many hits at most; 8 if left out."},
        },
        "required": ["query"],
    },
)

TOOLS_OF_RECALL: Final = (RECALL, SEARCH)


def recall_tools(format: str = "") -> list[Any]:
    """The tools recall and search_history, to be offered to a model.

    As they are for `window(tools=…)`; with the name of a wire format, as its requests have them.
    """
    shape = _SHAPES.get(format)
    if format and shape is None:
        raise InvalidRequest(f"no wire format {format!r}; name one of {', '.join(_SHAPES)}")
    return [shape(one) if shape else one for one in TOOLS_OF_RECALL]


def _fields(one: Tool, schema: str) -> dict[str, Any]:
    return {"name": one.name, "description": one.description, schema: one.schema}


_SHAPES: Final[dict[str, Callable[[Tool], dict[str, Any]]]] = {
    "anthropic": lambda one: _fields(one, "input_schema"),
    "openai-responses": lambda one: {"type": "function", **_fields(one, "parameters")},
    "openai-chat": lambda one: {"type": "function", "function": _fields(one, "parameters")},
    "gemini": lambda one: _fields(one, "parametersJsonSchema"),
}

_STRETCH = re.compile(r"#(\d{1,18})(?:\s*(?:-|–|—|to|\.\.)\s*#?(\d{1,18}))?")


class Stretch(Struct, frozen=True):
    """Entries from one to another, both included."""

    first: int
    last: int


def read_handle(text: str) -> Handle | Stretch | None:
    """What a handle names; None where the text is none."""
    told = text.strip().strip("[]()`'\".,;").removeprefix("recall ").strip()
    if found := _STRETCH.fullmatch(told):
        first = int(found[1])
        return Stretch(first, int(found[2] or first))
    entry, dot, ordinal = told.removeprefix("prt_").partition(".")
    if not entry.isalnum() or (dot and not (ordinal.isascii() and ordinal.isdigit())):
        return None
    return Handle(entry, int(ordinal) if dot else -1)


def label(part: Part, call: ToolCall | None = None) -> str:
    """What a part was, in one line."""
    if isinstance(part, ToolResult):
        name = part.name or (call.name if call else "tool")
        return _line(f"{name} {_subject(call)}{' (failed)' if part.error else ''}".strip())
    if isinstance(part, ToolCall):
        return _line(f"{part.name} {_subject(part)}")
    if isinstance(part, Reasoning):
        return _line(f"reasoning: {part.text}")
    if isinstance(part, Media):
        return _line(f"{part.type} {part.name}".strip())
    return _line(searchable(part)) or type(part).__name__.lower()


def _subject(call: ToolCall | None) -> str:
    """What a tool was asked for: its path, command or pattern."""
    if call is None:
        return ""
    fields, reading = arguments(call.input), TOOLS.get(call.name)
    told = text_of(fields, reading.subject) if reading else ""
    texts = [value for value in fields.values() if isinstance(value, str)]
    return told or next(iter(texts), "")


def _line(text: str) -> str:
    one = " ".join(text[: LINE * 4].split())
    return one if len(one) <= LINE else one[: LINE - 1] + "…"


def note(part: Part, handle: Handle, tokens: int, call: ToolCall | None = None) -> str:
    """What stands for a part whose content has left the window."""
    return f"[cleared: {label(part, call)} · {tokens:,} tokens · recall {handle}]"


def expandable(entries: Sequence[Entry], calls: Mapping[str, ToolCall], budget: int) -> str:
    """The largest things of a covered stretch with a handle and a line each, in order."""
    found: list[tuple[int, int, str]] = []
    for entry in entries:
        parts = entry.body.parts if isinstance(entry.body, Message) else ()
        for ordinal, part in enumerate(parts):
            tokens = entry.counts[ordinal] if ordinal < len(entry.counts) else 0
            if isinstance(part, (ToolResult, Media)) and tokens >= SMALLEST:
                call = calls.get(part.call) if isinstance(part, ToolResult) else None
                line = f"- recall {Handle(entry.id, ordinal)} · {label(part, call)} · {tokens:,}"
                found.append((tokens, entry.seq, f"{line} tokens"))
    chosen: list[tuple[int, str]] = []
    left = budget - estimate(EXPAND)
    for _, seq, line in sorted(found, key=lambda one: -one[0]):
        cost = estimate(line) + 1
        if cost <= left:
            chosen.append((seq, line))
            left -= cost
    return "\n".join((EXPAND, *(line for _, line in sorted(chosen)))) if chosen else ""


def recalled(first: int, last: int) -> str:
    """One line that says how the stretch that a summary covers can be brought back."""
    return (
        f"[All that this summary covers is kept word for word: recall #{first}-#{last} "
        "brings it back, search_history finds any of it.]"
    )


def without_recalled(text: str) -> str:
    """A summary without such a line, which a model copied from the summary before it."""
    return _RECALLED.sub("", text).strip() if "recall #" in text else text


_RECALLED = re.compile(r"\[All that this summary covers is kept word for word: recall #[^\]\n]*\]")


EXPAND: Final = "What can be brought back word for word, among all the rest:"


def piece(text: str, offset: int, tokens: int) -> tuple[str, int]:
    """A text from a place on, within so many tokens; and where to go on, 0 at its end."""
    rest = text[max(offset, 0) :]
    if estimate(rest) <= tokens:
        return rest, 0
    keep = min(len(rest), tokens * 8)
    while keep > 1 and estimate(rest[:keep]) > tokens:
        keep = keep * 4 // 5
    return rest[:keep], max(offset, 0) + keep
