"""What of an entry can be found by its words.

Rule 1: one text for each part, at the part's own place, so that a hit can name the part.
Rule 2: a marker has one text, at place 0: what a person would remember it by, or nothing.
Rule 3: the text is as it was said; whoever puts it in an index masks it first (secrets.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, cast

from holdfast.model import wire
from holdfast.model.log import Body, Checkpoint, Context, Pin, Rewind, Summary
from holdfast.model.message import (
    Media,
    Message,
    Part,
    Patch,
    Reasoning,
    Snapshot,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)


def searchable(part: Part) -> str:
    """The words of one part; empty where it has none to find."""
    words = _PARTS.get(type(part))
    return words(part) if words else ""


def searchable_body(body: Body) -> tuple[str, ...]:
    """The words of a message, part by part; of a marker, one text."""
    if isinstance(body, Message):
        return tuple(searchable(part) for part in body.parts)
    words = _MARKERS.get(type(body))
    return (words(body) if words else "",)


def _lines(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def _call(part: ToolCall) -> str:
    """The name, and what stands in the input: read as JSON, an escaped line break parts words."""
    try:
        found = _leaves(wire.value(part.input))
        return _lines(part.name, *found)
    except (ValueError, RecursionError):
        return _lines(part.name, part.input)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in cast(dict[str, Any], value).items():
            yield name
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value
    elif value is not None:
        yield json.dumps(value)


def _media(part: Media) -> str:
    return _lines(part.name, "" if part.url.startswith("data:") else part.url)


_PARTS: dict[type, Callable[[Any], str]] = {
    Text: lambda part: part.text,
    Reasoning: lambda part: part.text,
    ToolCall: _call,
    ToolResult: lambda part: _lines(part.name, part.output, *map(_media, part.media)),
    Media: _media,
    SummaryText: lambda part: part.text,
    Patch: lambda part: _lines(*part.files, part.diff),
    Snapshot: lambda part: part.name,
    Subtask: lambda part: _lines(part.prompt, part.result),
}

_MARKERS: dict[type, Callable[[Any], str]] = {
    Summary: lambda body: body.text,
    Pin: lambda body: _lines(body.fact, body.path),
    Rewind: lambda body: body.reason,
    Checkpoint: lambda body: body.label,
    Context: lambda body: _lines(*body.sections.values()),
}
