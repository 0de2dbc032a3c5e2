"""What users said in a transcript of any format, in order, without what harnesses added."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.ledger.transcripts import records


def messages(file: Path) -> list[str]:
    """The user's messages of a file, each told once."""
    kind = next(name for name in READERS if name in file.parts)
    found = (text.strip() for text in READERS[kind](file))
    return list(dict.fromkeys(text for text in found if text and not _added(text)))


def _added(text: str) -> bool:
    return text.startswith(("<", "[Request", "Caveat", "# AGENTS"))


def _flat(content: Any) -> str:
    if isinstance(content, list):
        blocks = [b for b in content if isinstance(b, dict)]
        return "\n".join(str(b["text"]) for b in blocks if b.get("text"))
    return content if isinstance(content, str) else ""


def _claude(file: Path) -> Iterator[str]:
    for record in records(file):
        added = record.get("isMeta") or record.get("isSidechain") or record.get("isCompactSummary")
        if record.get("type") == "user" and not added:
            yield _flat((record.get("message") or {}).get("content"))


def _codex(file: Path) -> Iterator[str]:
    for record in records(file):
        payload = record.get("payload", record)
        if file.name == "history.jsonl":
            yield str(record.get("text"))
        elif isinstance(payload, dict) and payload.get("role") == "user":
            yield _flat(payload.get("content"))


def _aider(file: Path) -> Iterator[str]:
    said: list[str] = []
    for line in [*file.read_text("utf-8", "replace").splitlines(), ""]:
        if line.startswith("#### "):
            said.append(line[5:].rstrip())
        elif said:
            yield "\n".join(said)
            said = []


def _gemini(file: Path) -> Iterator[str]:
    try:
        told = json.loads(file.read_text("utf-8")).get("messages") or []
    except ValueError:
        told = list(records(file))
    for one in told:
        if one.get("type") == "user":
            yield _flat(one.get("content"))


def _opencode(file: Path) -> Iterator[str]:
    for one in json.loads(file.read_text("utf-8")).get("messages") or []:
        if one["info"].get("role") == "user":
            parts = [p for p in one["parts"] if p.get("type") == "text" and not p.get("synthetic")]
            yield "\n".join(p.get("text", "") for p in parts)


def _pi(file: Path) -> Iterator[str]:
    for record in records(file):
        message = record.get("message")
        if isinstance(message, dict) and message.get("role") == "user":
            yield _flat(message.get("content"))


def _copilot(file: Path) -> Iterator[str]:
    for record in records(file):
        if record.get("type") == "user.message":
            yield str(record["data"].get("content"))


READERS = {
    "claude": _claude,
    "codex": _codex,
    "aider": _aider,
    "gemini": _gemini,
    "opencode": _opencode,
    "other-pi": _pi,
    "other-copilot": _copilot,
}
