"""A session as Codex keeps its own: a rollout, which it reads when it is told to resume.

Rule 1: the live window is written, not the log; where a summary stands, what was said before is
        replaced by it.
Rule 2: what people and the model said is told twice, as an item and as an event: the items make
        the next request, the events the screen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins

from holdfast.core.workspace.snapshots import ghost_commit
from holdfast.exporters.native import Live, lines, named, nothing, origin, summary, uuid, when
from holdfast.model.portable import Fidelity

NAME = "codex"
VERSION = "0.144.0"
"""The version whose records these are; newer ones read them."""


def session_file(now: int, id: str) -> str:
    """Where Codex looks for a session, beneath its own directory."""
    time = when(now)
    date, clock = time[:10], time[11:19].replace(":", "-")
    return f"sessions/{date.replace('-', '/')}/rollout-{date}T{clock}-{id}.jsonl"


def export(live: Live, fidelity: Fidelity) -> bytes:
    """The lines of the session's file; the last says what they carry, which Codex skips.

    Whom it asks is not named: Codex would refuse to go on with anybody else.
    """
    records = [
        {"timestamp": when(live.now + number), **record}
        for number, record in enumerate(_records(live))
    ]
    before, last = lines(records), when(live.now + len(records))
    told = {**origin(live, before), "fidelity": to_builtins(fidelity)}
    return before + lines([{"timestamp": last, **_record("holdfast_export", told)}])


def _records(live: Live) -> Iterator[dict[str, Any]]:
    id = named(live, NAME)
    yield _record("session_meta", _meta(live, id))
    yield _record("turn_context", _context(live, id))
    if live.summaries:
        yield _record("compacted", _replaced(live))
    for one in live.snapshots:  # `/undo` of Codex takes the newest, wherever it stands
        yield _record("response_item", ghost_commit(one))
    for item in live.items:
        if item.get("type") == "message" and (item := _rest(live, item)) is None:
            continue
        yield from _event(item)
        yield _record("response_item", item)


def _replaced(live: Live) -> dict[str, Any]:
    """What Codex writes of a compaction: the summary, and the history that it leaves."""
    text = "\n\n".join(live.summaries)
    content = [{"type": "input_text", "text": text}]
    history = [{"type": "message", "role": "user", "content": content}]
    return {"message": text, "replacement_history": history}


def _rest(live: Live, item: dict[str, Any]) -> dict[str, Any] | None:
    """A message without the summary in it, which has been told; None where nothing is left."""
    if nothing(_text(item)):
        return None
    content: Any = item.get("content")
    if item.get("role") != "user" or not isinstance(content, list):
        return item
    told: list[dict[str, Any]] = content
    left = [one for one in told if not summary(live, one)]
    return {**item, "content": left} if left else None


def _record(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "payload": payload}


def _meta(live: Live, id: str) -> dict[str, Any]:
    return {
        "id": id,
        "timestamp": when(live.now),
        "cwd": live.directory,
        "originator": "holdfast",
        "cli_version": VERSION,
        "source": "cli",
    }


def _context(live: Live, id: str) -> dict[str, Any]:
    return {
        "turn_id": uuid(id, "turn"),
        "cwd": live.directory,
        "approval_policy": "on-request",
        "sandbox_policy": {"type": "read-only"},
        "model": live.model,
        "summary": "auto",
    }


def _event(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The event that shows an item to people."""
    role, text = item.get("role"), _text(item)
    if role == "user" and text:
        yield _record("event_msg", {"type": "user_message", "message": text, "images": []})
    elif role == "assistant" and text:
        yield _record("event_msg", {"type": "agent_message", "message": text})


def _text(item: dict[str, Any]) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return content
    found = [each.get("text") for each in content or () if isinstance(each.get("text"), str)]
    return "\n".join(text for text in found if text)
