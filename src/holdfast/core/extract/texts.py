"""The texts of a message that names are looked for in: what was written, and what tools printed."""

from __future__ import annotations

from holdfast.core.extract.names import values
from holdfast.core.search.searchable_text import searchable
from holdfast.core.window.fullness_notice import TAG
from holdfast.model.message import Message, Part, Text, ToolCall, ToolResult


def printed(body: Message) -> str:
    """What tools printed."""
    return "\n".join([searchable(part) for part in body.parts if isinstance(part, ToolResult)])


def written(body: Message) -> str:
    """What people and the model wrote."""
    return "\n".join([_written_in(part) for part in body.parts if not isinstance(part, ToolResult)])


def _written_in(part: Part) -> str:
    if isinstance(part, Text) and part.scaffold == TAG:
        return ""  # how full a window was is no name of anything
    return values(part.input) if isinstance(part, ToolCall) else searchable(part)
