"""How many tokens a part is likely to take, from its content alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.core.estimate import estimate
from holdfast.model.log import Body
from holdfast.model.message import (
    Media,
    Message,
    Opaque,
    Part,
    Patch,
    Reasoning,
    Seal,
    Snapshot,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)  # fmt: skip

PICTURE = 1_600
"""A picture whose size is unknown: what the largest common one takes."""

PIXELS_PER_TOKEN = 750
SEALED_BYTES_PER_TOKEN = 4
"""Signatures and encrypted text: base64 that its owner counts by length."""

MESSAGE = 4
"""The frame of a message around its parts."""

CALL = 12
"""The frame of a tool call or result around its content."""


def weigh(part: Part) -> int:
    """The estimate of one part."""
    return _WEIGHTS[type(part)](part)


def weigh_body(body: Body) -> tuple[int, ...]:
    """The estimate of each part of a message; nothing for a marker."""
    return tuple(map(weigh, body.parts)) if isinstance(body, Message) else ()


def _sealed(seal: Seal | None) -> int:
    return len(seal.data) // SEALED_BYTES_PER_TOKEN if seal else 0


def _media(part: Media) -> int:
    if part.width and part.height:
        return part.width * part.height // PIXELS_PER_TOKEN + 1
    return PICTURE


def _call(part: ToolCall) -> int:
    return estimate(part.name) + estimate(part.input) + CALL + _sealed(part.seal)


def _result(part: ToolResult) -> int:
    return estimate(part.output) + CALL + sum(map(_media, part.media)) + _sealed(part.seal)


def _words(part: Text | Reasoning | SummaryText) -> int:
    return estimate(part.text) + _sealed(part.seal)


def _patch(part: Patch) -> int:
    return estimate(part.diff)


def _snapshot(part: Snapshot) -> int:
    return 0


def _subtask(part: Subtask) -> int:
    return estimate(part.prompt) + estimate(part.result)


def _opaque(part: Opaque) -> int:
    return len(part.data) // SEALED_BYTES_PER_TOKEN


_WEIGHTS: dict[type, Callable[[Any], int]] = {
    Text: _words,
    Reasoning: _words,
    SummaryText: _words,
    ToolCall: _call,
    ToolResult: _result,
    Media: _media,
    Patch: _patch,
    Snapshot: _snapshot,
    Subtask: _subtask,
    Opaque: _opaque,
}
