"""About how many bytes a body takes: what is written in one transaction is bounded by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.model.log import Body
from holdfast.model.message import Message, Record, Text, ToolCall, ToolResult


def bulk(body: Body) -> int:
    """About how many bytes a body takes."""
    if not isinstance(body, Message):
        return 1_000
    return sum([_SIZES.get(type(part), _any_size)(part) for part in body.parts])


def _any_size(part: Any) -> int:
    return 64 + sum(
        len(value)
        for name in ("text", "output", "input", "data")
        if isinstance(value := getattr(part, name, ""), (str, bytes))
    )


_SIZES: dict[type, Callable[[Any], int]] = {
    Text: lambda part: 64 + len(part.text),
    ToolCall: lambda part: 64 + len(part.input),
    ToolResult: lambda part: 64 + len(part.output),
    Record: lambda part: 64 + len(part.data),
}
