"""What a window has to show of a session, told from what was appended and apart from the package.

Nothing in here asks the package what is new, what is its own, or what a line of names is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.model.message import Message, SummaryText, Text, ToolResult

HEADING = "Names used, and the entries they can be read in:"
OWN = re.compile(r"prt_\w|\b[0-9A-HJKMNP-TV-Z]{26}\b|\b(?:recall|search_history|tool_search)\b")
SMALL = 3_000
"""A result of fewer characters is below the cap of every policy in every window here,"""
TOGETHER = 0.3
"""but for what one reply called for: together it has this share of the window at least."""


def fresh(said: Sequence[Message]) -> list[Message]:
    """What was appended after the newest reply."""
    for at in range(len(said) - 1, -1, -1):
        parts = said[at].parts
        if said[at].role == "assistant" and not all(isinstance(p, SummaryText) for p in parts):
            return list(said[at + 1 :])
    return list(said)


def hidden(said: Sequence[Message], strings: Sequence[str], most: int) -> list[str]:
    """What of the newest is not in a request; a result of more than so many characters is cut."""
    text = "\n".join(strings)
    missing: list[str] = []
    for message in fresh(said):
        for part in message.parts:
            if isinstance(part, ToolResult) and not _shown(part, text, most):
                missing.append(f"the result of {part.call}")
            if isinstance(part, Text) and message.role == "user" and part.text not in text:
                missing.append(f"what the user said: {part.text[:40]!r}")
    return missing


def whole(said: Sequence[Message], window: int) -> int:
    """How many characters of each new result are shown in any case, be there ever so many."""
    many = sum(isinstance(part, ToolResult) for one in fresh(said) for part in one.parts)
    return min(SMALL, int(window * TOGETHER / max(many, 1)) * 2)


def _shown(part: ToolResult, text: str, most: int) -> bool:
    """Whether a result is there: word for word, or where it is long from its beginning on."""
    if part.output in text:
        return True
    return len(part.output) > most and part.output[: most // 4] in text


def strings(value: Any) -> Iterator[str]:
    """Every text in a request, wherever it stands."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from strings(one)


def cleared(request: Any, said: Sequence[Message]) -> str:
    """Whether a provider is asked to clear results that are new; empty where it is not."""
    many = sum(isinstance(part, ToolResult) for one in fresh(said) for part in one.parts)
    for edit in (request.get("context_management") or {}).get("edits", ()):
        keep = edit.get("keep", {})
        if "clear_tool_uses" in edit["type"] and keep.get("value", 3) < many:
            return f"the provider is asked to keep {keep.get('value')} results, {many} are new"
    return ""


def own_names(text: str) -> list[str]:
    """The lines of names in a summary that hold a handle, an id or a tool of ours."""
    listed = text.partition(HEADING)[2].splitlines()
    lines = [line for line in listed if re.match(r"- .*#\d+$", line)]
    return [line for line in lines if OWN.search(re.sub(r"\S*/\S*", _path, line))]


def _path(word: re.Match[str]) -> str:
    """A path as it is, but for a file that is called like a tool of ours."""
    return "" if re.search(r"(recall|search)", word[0]) and "prt_" not in word[0] else word[0]
