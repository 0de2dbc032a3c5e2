"""Something that happens in a turn, for whoever looks on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from holdfast.model.log import Entry
from holdfast.model.message import ToolCall, ToolResult
from holdfast.model.plan import Plan
from holdfast.model.reply import Delta

Kind = Literal[
    "delta", "reply", "call", "result", "refused", "interrupted", "compacting", "compacted",
    "warning", "note",
]  # fmt: skip


class AgentEvent(Struct, frozen=True, kw_only=True):
    """What happened, and what it is about."""

    kind: Kind
    delta: Delta | None = None
    entry: Entry | None = None
    """The reply, or the marker that a compaction became."""
    call: ToolCall | None = None
    result: ToolResult | None = None
    plan: Plan | None = None
    words: str = ""
    """What somebody should know: a hook that failed, a rule that could not be written."""
    subtask: str = ""
    """The session of the subtask it happened in; empty for the conversation itself."""


EventHandler = Callable[[AgentEvent], None]
