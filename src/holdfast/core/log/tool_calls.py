"""The state of each tool call, read off the log.

A call is `pending` while the reply that holds it is unfinished, `running` from then on, `completed`
or `error` once its result is there. A call that the conversation left behind without a result was
interrupted, which is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from holdfast.model.log import Entry
from holdfast.model.message import Message, ToolCall, ToolResult

State = Literal["pending", "running", "completed", "error"]


class ToolState(Struct, frozen=True, kw_only=True):
    """Where one tool call stands."""

    call: str
    name: str
    seq: int
    """The entry that asks for it."""
    state: State
    started: int | None = None
    ended: int | None = None
    interrupted: bool = False


def tool_states(log: Iterable[Entry]) -> dict[str, ToolState]:
    """The state of every tool call in these entries, given in order, by the call's id."""
    states: dict[str, ToolState] = {}
    waiting: list[str] = []
    for entry in log:
        body = entry.body
        if not isinstance(body, Message):
            continue
        if body.role in ("user", "assistant"):
            _leave_behind(states, waiting, entry)
        for part in body.parts:
            if isinstance(part, ToolCall):
                states[part.id] = _asked(entry, part)
                waiting.append(part.id)
            elif isinstance(part, ToolResult) and part.call in states:
                states[part.call] = _answered(states[part.call], entry, part)
                waiting = [call for call in waiting if call != part.call]
    return states


def _asked(entry: Entry, part: ToolCall) -> ToolState:
    return ToolState(
        call=part.id,
        name=part.name,
        seq=entry.seq,
        state="pending" if entry.completed is None else "running",
        started=entry.completed,
    )


def _answered(state: ToolState, entry: Entry, part: ToolResult) -> ToolState:
    return replace(
        state,
        state="error" if part.error else "completed",
        started=part.started if part.started is not None else state.started,
        ended=entry.created,
    )


def _leave_behind(states: dict[str, ToolState], waiting: list[str], entry: Entry) -> None:
    """The conversation goes on: what has no result by now was interrupted."""
    for call in waiting:
        states[call] = replace(states[call], state="error", ended=entry.created, interrupted=True)
    waiting.clear()
