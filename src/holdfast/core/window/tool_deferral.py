"""Tools whose definitions would take too much of the window wait behind one that finds them.

Rule 1: what the caller calls its tools stays, and so does a provider's own; of the others as many
        stay, in order, as fit.
Rule 2: what was found or used in the visible conversation stays too, behind all the rest, in the
        order it came up: a tool that joins changes as little of what is cached as it can.
Rule 3: who stays depends on nothing else, so that the same conversation has the same tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

from msgspec import Struct

from holdfast.core.tokens.count import tool_text, weigh_tools
from holdfast.core.tokens.estimate import estimate
from holdfast.model import wire
from holdfast.model.message import Message, ToolCall, ToolResult
from holdfast.model.window import Tool

TOOL_SEARCH: Final = Tool(
    name="tool_search",
    description=(
        "Find tools that can be used but are not defined here; <available-deferred-tools> names "
        "them. What is found can be called from your next reply on."
    ),
    schema={
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "Words of what the tool does, or select:NAME,NAME by name.",
            },
            "limit": {"type": "integer", "description": "How many at most; 5 if left out."},
        },
        "required": ["query"],
    },
)

SELECT: Final = "select:"
FOUND: Final = "Found: "
HITS: Final = 5
MOST_HITS: Final = 20
NAMED: Final = 3
"""A word counts so many times as much in a name as in a description."""

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Offer(Struct, frozen=True, kw_only=True):
    """The tools of a request, and those that have to be found first."""

    tools: tuple[Tool, ...]
    deferred: tuple[Tool, ...] = ()
    finding: bool = False
    """Whether there is a tool that finds the others."""


def offer(
    tools: Sequence[Tool], more: Sequence[Tool], most: int, wanted: Iterable[str] = ()
) -> Offer:
    """Which tools a request has: all of them where they take at most so many tokens."""
    taken = {one.name for one in tools}
    others = {one.name: one for one in reversed(more) if one.name not in taken}
    rest = [others[name] for name in dict.fromkeys(one.name for one in more) if name in others]
    if weigh_tools([*tools, *rest]) <= most:
        return Offer(tools=(*tools, *rest))
    first = [*tools, TOOL_SEARCH, *(one for one in rest if one.native)]
    left = most - weigh_tools(first)
    for one in (one for one in rest if not one.native):
        if (weight := weigh_tools([one])) <= left:
            first.append(one)
            left -= weight
    there = {one.name for one in first}
    joined = [others[name] for name in dict.fromkeys(wanted) if name in others.keys() - there]
    there |= {one.name for one in joined}
    deferred = tuple(one for one in rest if one.name not in there)
    return Offer(tools=(*first, *joined), deferred=deferred, finding=True)


def named(deferred: Sequence[Tool], most: int) -> str:
    """The names of the tools that wait, a line each, as many as fit; how many more there are."""
    lines: list[str] = []
    left = most
    for place, one in enumerate(deferred):
        left -= estimate(one.name) + 1
        if left < 0:
            lines.append(f"… and {len(deferred) - place:,} more, found by what they do")
            break
        lines.append(one.name)
    return "\n".join(lines)


def wanted(said: Iterable[Message]) -> list[str]:
    """The tools that a conversation has used or found, in the order they came up."""
    names: list[str] = []
    searches: set[str] = set()
    for part in (part for message in said for part in message.parts):
        if isinstance(part, ToolCall):
            names.append(part.name)
            searches |= {part.id} if part.name == TOOL_SEARCH.name else set()
        elif isinstance(part, ToolResult) and part.call in searches:
            names += _read(part.output)
    return list(dict.fromkeys(names))


def _read(output: str) -> list[str]:
    try:
        told = json.loads(output.partition("\n")[0].removeprefix(FOUND))
    except ValueError:
        return []
    if not isinstance(told, list):
        return []
    return [name for name in cast("list[Any]", told) if isinstance(name, str)]


def search(query: str, tools: Sequence[Tool], limit: int = HITS) -> list[Tool]:
    """The tools that a query means, the best first: by name, or by the words it shares."""
    if query.strip().lower().startswith(SELECT):
        names = [name.strip() for name in query.strip()[len(SELECT) :].split(",")]
        by = {one.name.lower(): one for one in reversed(tools)}
        return [by[name] for name in dict.fromkeys(n.lower() for n in names) if name in by]
    words = set(_words(query))
    scored = [(_score(words, one), place) for place, one in enumerate(tools)]
    best = sorted((-score, place) for score, place in scored if score)
    return [tools[place] for _, place in best[: max(1, min(limit, MOST_HITS))]]


def _score(words: set[str], one: Tool) -> int:
    inside = set(_words(one.name))
    about = set(_words(f"{one.description} {' '.join(_fields(one))}"))
    exact = sum(NAMED if word in inside else word in about for word in words)
    partly = sum(any(word in whole for whole in inside) for word in words if len(word) > 2)
    return 2 * exact + partly


def _fields(one: Tool) -> list[str]:
    properties = one.schema.get("properties")
    return list(cast("dict[str, Any]", properties)) if isinstance(properties, dict) else []


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_HUMP.sub(" ", text[:4_000]))]


def told(found: Sequence[Tool], query: str, most: int) -> str:
    """What tool_search answers: the names, then each definition as far as there is room."""
    if not found:
        return (
            f"No tool that waits matches {query[:200]!r}. Try other words, or select:NAME with a "
            "name out of <available-deferred-tools>; what is defined can be called as it is."
        )
    head = f"{FOUND}{json.dumps([one.name for one in found])}"
    lines = [head, "From your next reply on they can be called:"]
    left = most - estimate(head)
    for one in found:
        line = tool_text(one)
        if estimate(line) > left:
            short = {"name": one.name, "description": one.description[:200]}
            line = wire.encode(short).decode()
        lines.append(line)
        left -= estimate(line)
    return "\n".join(lines)
