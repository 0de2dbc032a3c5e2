"""The records of a rollout, whatever version wrote them: kind, payload, time and place.

Until September 2025 a line was a bare item without an envelope and without a time; since then it is
`{"timestamp", "type", "payload"}`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from holdfast.importers.jsonl import Found, milliseconds
from holdfast.importers.values import count, text
from holdfast.model.message import Record

AGENT = "codex"

RESPONSE = frozenset(
    """
    message agent_message reasoning local_shell_call local_shell_call_output function_call
    function_call_output tool_search_call tool_search_output custom_tool_call
    custom_tool_call_output web_search_call image_generation_call ghost_snapshot compaction
    compaction_summary compaction_trigger context_compaction additional_tools configuration_update
    """.split()  # noqa: SIM905
)
"""The items that a model is sent, or sends."""

EVENTS = frozenset(
    """
    user_message agent_message agent_reasoning agent_reasoning_raw_content
    agent_reasoning_section_break token_count task_started task_complete turn_started turn_complete
    turn_aborted context_compacted thread_rolled_back thread_name_updated thread_goal_updated
    thread_settings_applied patch_apply_begin patch_apply_end mcp_tool_call_begin mcp_tool_call_end
    web_search_begin web_search_end exec_command_begin exec_command_end image_generation_begin
    image_generation_end view_image_tool_call entered_review_mode exited_review_mode item_completed
    sub_agent_activity collab_agent_spawn_begin collab_agent_spawn_end collab_agent_interaction_end
    collab_waiting_begin collab_waiting_end collab_close_end collab_resume_end guardian_assessment
    dynamic_tool_call_request dynamic_tool_call_response undo_started undo_completed error warning
    stream_error plan_update turn_diff background_event deprecation_notice session_configured
    shutdown_complete
    """.split()  # noqa: SIM905
)

KINDS = frozenset(
    """
    session_meta turn_context response_item event_msg compacted world_state state
    inter_agent_communication inter_agent_communication_metadata security_risk_score
    token_usage_record holdfast_export
    """.split()  # noqa: SIM905
)

_SECONDS = 1 << 36
"""Above it, a number of a time is one of milliseconds."""


class Item(Struct, frozen=True, gc=False):
    """One record: what it is, what it says, when, and where that stands in its line."""

    kind: str
    sub: str
    payload: dict[str, Any]
    time: int
    found: Found
    path: tuple[str, ...] = ("payload",)
    """The members that lead to the payload."""

    @property
    def name(self) -> str:
        return f"{self.kind}/{self.sub}" if self.sub else self.kind

    @property
    def known(self) -> bool:
        """Whether it is of a kind that somebody knows."""
        if self.kind == "response_item":
            return self.sub in RESPONSE
        return self.sub in EVENTS if self.kind == "event_msg" else self.kind in KINDS

    def text(self, name: str) -> str:
        return text(self.payload.get(name))

    @property
    def whole(self) -> Record:
        return Record(AGENT, self.name, self.found.data, self.found.line, whole=True)


def item(found: Found, before: int) -> Item:
    """The record that a line is; where it tells no time, the one before it does."""
    kind, payload = found.text("type"), found.table("payload")
    time = _time(found.fields.get("timestamp")) or before
    if "payload" in found.fields and kind:
        parted = kind in ("response_item", "event_msg")
        return Item(kind, text(payload.get("type")) if parted else "", payload, time, found)
    if kind in RESPONSE:
        return Item("response_item", kind, found.fields, time, found, ())
    if "record_type" in found.fields:
        return Item("state", "", found.fields, time, found, ())
    if found.text("id") and not kind:
        return Item("session_meta", "", found.fields, time, found, ())
    return Item(kind or "untyped", "", found.fields, time, found, ())


def _time(value: Any) -> int:
    told = count(value)
    if told:
        return told if told > _SECONDS else told * 1000
    return milliseconds(value)
