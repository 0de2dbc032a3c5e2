"""Real transcripts as entries: a small reader for Claude Code, Codex and Pi.

It shares no code with the package's own reading of files, commands and statuses: what it makes are
messages with the text that the model saw, and nothing more.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from holdfast.model.log import Entry
from holdfast.model.message import Message, Part, SummaryText, Text, ToolCall, ToolResult


def records(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; anything else in it is left out."""
    for line in file.read_text("utf-8", "replace").splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def when(record: dict[str, Any]) -> int:
    """When a record was written, in milliseconds; 1 where it does not say."""
    told = record.get("timestamp")
    if not isinstance(told, str):
        return told if isinstance(told, int) else 1
    try:
        return int(datetime.fromisoformat(told).timestamp() * 1000)
    except ValueError:
        return 1


class Log:
    """Entries as they are made: replies in pieces become one message."""

    def __init__(self) -> None:
        self.at = self.spoke = 1
        """When what is being read was written, and when the reply that is going on was."""
        self.entries: list[Entry] = []
        self.parts: list[Part] = []
        self.key = ""
        self.model = ""

    def say(self, role: str, *parts: Part, **fields: Any) -> None:
        self.flush()
        self._add(Message(role, parts), **fields)  # type: ignore[arg-type]

    def reply(self, key: str, *parts: Part, model: str = "") -> None:
        if key != self.key:
            self.flush()
        self.key, self.model, self.spoke = key, model, self.at
        self.parts += parts

    def flush(self, *, cut: bool = False) -> None:
        if self.parts:
            told, at = Message("assistant", tuple(self.parts)), self.spoke
            self._add(told, completed=None if cut else at, model=self.model, at=at)
        self.parts, self.key = [], ""

    def _add(self, body: Message, completed: int | None = 1, model: str = "", at: int = 0) -> None:
        seq = len(self.entries) + 1
        self.entries.append(
            Entry(
                id=f"e{seq}", session="s", seq=seq, body=body, created=at or self.at,
                completed=completed, model=model, native=f"n{seq}",
            )
        )  # fmt: skip


def claude(file: Path) -> list[Entry]:
    """A session of Claude Code, in the order of its file, without sidechains."""
    log, seen = Log(), set[str]()
    for record in records(file):
        message = record.get("message")
        twice = record.get("uuid") in seen
        if record.get("isSidechain") or not isinstance(message, dict) or twice:
            continue
        seen.add(record.get("uuid") or f"line {len(seen)}")
        log.at = when(record)
        if record.get("type") == "assistant":
            key = str(message.get("id") or record.get("uuid"))
            log.reply(key, *_spoken(message), model=message.get("model") or "")
        elif record.get("type") == "user":
            _claude_user(log, record, message)
    log.flush()
    return log.entries


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict)]


def _spoken(message: dict[str, Any]) -> Iterator[Part]:
    for block in _blocks(message):
        if block.get("type") == "text":
            yield Text(block.get("text") or "")
        elif block.get("type") == "tool_use":
            told = json.dumps(block.get("input"), ensure_ascii=False)
            yield ToolCall(str(block.get("id")), str(block.get("name")), told)


def _claude_user(log: Log, record: dict[str, Any], message: dict[str, Any]) -> None:
    blocks = _blocks(message)
    results = [
        ToolResult(
            str(block.get("tool_use_id")),
            flat(block.get("content")),
            error=bool(block.get("is_error")),
        )
        for block in blocks
        if block.get("type") == "tool_result"
    ]
    if results:
        log.say("tool", *results)
    texts = [str(block.get("text")) for block in blocks if block.get("type") == "text"]
    if record.get("isCompactSummary"):
        log.say("user", SummaryText("\n".join(texts)))
    elif texts:
        scaffold = "system-reminder" if record.get("isMeta") else ""
        log.say("user", *(Text(text, scaffold=scaffold) for text in texts))


def flat(content: Any) -> str:
    """What a tool answered, as one text."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else "" if content is None else json.dumps(content)


def codex(file: Path) -> list[Entry]:
    """A session of Codex, with or without an envelope around each record."""
    log = Log()
    for record in records(file):
        payload = record.get("payload", record)
        if record.get("type") in ("compacted", "session_meta") or not isinstance(payload, dict):
            continue
        kind, log.at = str(payload.get("type")), when(record)
        if kind == "turn_aborted":
            log.flush(cut=True)
            log.say("user", Text("<turn_aborted>\nThe user interrupted the turn.\n</turn_aborted>"))
        elif kind == "message":
            _codex_message(log, payload)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            log.reply("reply", _codex_call(payload))
        elif kind.endswith("_call_output"):
            log.say("tool", ToolResult(str(payload.get("call_id")), flat(payload.get("output"))))
    log.flush()
    return log.entries


def _codex_message(log: Log, payload: dict[str, Any]) -> None:
    texts = [Text(str(block.get("text") or "")) for block in _blocks(payload)]
    if payload.get("role") == "assistant":
        log.reply("reply", *texts)
    elif payload.get("role") == "user" and texts:
        log.say("user", *texts)


def _codex_call(payload: dict[str, Any]) -> ToolCall:
    given = payload.get("arguments") or payload.get("input") or payload.get("action") or ""
    told = given if isinstance(given, str) else json.dumps(given)
    return ToolCall(str(payload.get("call_id")), str(payload.get("name") or "local_shell"), told)


def pi(file: Path) -> list[Entry]:
    """A session of Pi."""
    log = Log()
    for record in records(file):
        message = record.get("message")
        if record.get("type") != "message" or not isinstance(message, dict):
            continue
        log.at = when(record)
        texts = [Text(str(b.get("text"))) for b in _blocks(message) if b.get("type") == "text"]
        if message.get("role") == "user":
            log.say("user", *texts)
        elif message.get("role") == "assistant":
            _pi_reply(log, message, texts)
        elif message.get("role") == "toolResult":
            output = flat(message.get("content"))
            error = bool(message.get("isError"))
            log.say("tool", ToolResult(str(message.get("toolCallId")), output, error=error))
    return log.entries


def _pi_reply(log: Log, message: dict[str, Any], texts: list[Text]) -> None:
    calls = [
        ToolCall(str(b.get("id")), str(b.get("name")), json.dumps(b.get("arguments")))
        for b in _blocks(message)
        if b.get("type") == "toolCall"
    ]
    cut = message.get("stopReason") in ("aborted", "error")
    log.say("assistant", *texts, *calls, completed=None if cut else 1)
