"""A session as Claude Code keeps its own: what it reads when it is told to resume.

Rule 1: the live window is written, not the log: where a summary stands, a boundary comes first,
        the summary directly behind it, and all else behind that.
Rule 2: one content block of a reply a line, all with the reply's id, each answering the line
        before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins

from holdfast.exporters.native import Live, lines, named, nothing, origin, summary, uuid, when
from holdfast.model.portable import Fidelity

NAME = "claude-code"
VERSION = "2.1.0"
"""The version whose records these are; newer ones read them."""

NO_USAGE = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}


def session_file(directory: str, id: str) -> str:
    """Where Claude Code looks for a session, beneath its own directory."""
    folder = "".join(each if each.isascii() and each.isalnum() else "-" for each in directory)
    return f"projects/{folder}/{id}.jsonl"


def export(live: Live, fidelity: Fidelity) -> bytes:
    """The lines of the session's file; the last says what they carry, which Claude Code skips."""
    before = lines([*_chained(live)])
    told = {"type": "holdfast-export", "sessionId": named(live, NAME),
            **origin(live, before), "fidelity": to_builtins(fidelity)}  # fmt: skip
    return before + lines([told])


def _chained(live: Live) -> Iterator[dict[str, Any]]:
    """Every record, each naming the one before it as its parent."""
    session = named(live, NAME)
    before: str | None = None
    for number, record in enumerate(_records(live)):
        own = uuid(session, number)
        yield {
            "parentUuid": before,
            "isSidechain": False,
            "userType": "external",
            "cwd": live.directory,
            "sessionId": session,
            "version": VERSION,
            "gitBranch": "",
            **record,
            "uuid": own,
            "timestamp": when(live.now + number),
        }
        before = own
    if live.title:
        yield {"type": "custom-title", "customTitle": live.title, "sessionId": session}


def _records(live: Live) -> Iterator[dict[str, Any]]:
    if live.summaries:
        yield _boundary(live)
        yield _summary(live)
    for number, message in enumerate(live.items):
        blocks = _blocks(message["content"])
        if message["role"] == "assistant":
            yield from _reply(live, number, blocks)
        else:
            yield from _said(live, blocks)


def _boundary(live: Live) -> dict[str, Any]:
    told = {"trigger": "manual" if live.manual else "auto", "preTokens": live.before}
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "isMeta": False,
        "level": "info",
        "compactMetadata": told,
    }


def _summary(live: Live) -> dict[str, Any]:
    """All that stands for what was said before, as the one summary that Claude Code has."""
    text = "\n\n".join(live.summaries)
    return {
        "type": "user",
        "message": {"role": "user", "content": text},
        "isCompactSummary": True,
        "isVisibleInTranscriptOnly": True,
    }


def _said(live: Live, blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What the user or a tool said; a summary in it has been told."""
    rest = [one for one in blocks if not (nothing(one.get("text")) or summary(live, one))]
    if rest:
        yield {"type": "user", "message": {"role": "user", "content": rest}}


def _reply(live: Live, number: int, blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    name = uuid(live.session, live.head, "reply", number).replace("-", "")[:24]
    calls = any(block["type"] == "tool_use" for block in blocks)
    for block in blocks:
        message = {
            "id": f"msg_{name}",
            "type": "message",
            "role": "assistant",
            "model": live.model,
            "content": [block],
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": NO_USAGE,
        }
        yield {"type": "assistant", "message": message, "requestId": f"req_{name}"}


def _blocks(content: Any) -> list[dict[str, Any]]:
    """The blocks of a message, without the marks of a cache."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [{name: block[name] for name in block if name != "cache_control"} for block in blocks]
