"""Writes sessions as Pi does, entry by entry."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

MODEL = "claude-sonnet-4-6"
PIXEL = b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0" + b"\0" * 20
).decode()


class Story:
    """Entries in order; each hangs on the one before unless told otherwise."""

    def __init__(self, *, ids: bool = True) -> None:
        self._ids = ids
        self.entries: list[dict[str, Any]] = []
        self._last: str | None = None
        self.add("session", id="s-1", version=3, cwd="/home/me/project")

    def add(self, kind: str, **fields: Any) -> str:
        number = len(self.entries)
        id = fields.pop("id", f"e{number:03d}")
        hung = {"id": id, "parentId": fields.pop("parent", self._last)} if self._ids else {}
        made = {"type": kind, **hung, "timestamp": f"2026-01-02T03:04:{number:02d}.000Z", **fields}
        if kind == "session":
            made["id"] = id
        else:
            self._last = id
        self.entries.append(made)
        return id

    def say(self, role: str, content: Any, parent: str | None = "", **fields: Any) -> str:
        hung = {} if parent == "" else {"parent": parent}
        return self.add("message", message={"role": role, "content": content, **fields}, **hung)

    def user(self, words: str, **fields: Any) -> str:
        return self.say("user", [{"type": "text", "text": words}], **fields)

    def reply(self, *blocks: dict[str, Any], stop: str = "stop", **fields: Any) -> str:
        usage = {"input": 3, "output": 5, "cacheRead": 7, "cacheWrite": 11,
                 "cost": {"total": 0.0125}}  # fmt: skip
        told = {"api": "anthropic-messages", "provider": "anthropic", "model": MODEL,
                "usage": usage, "stopReason": stop, **fields}  # fmt: skip
        return self.say("assistant", list(blocks), **told)

    def write(self, place: Path) -> Path:
        file = place / "2026-01-02_s-1.jsonl"
        file.write_text("".join(json.dumps(one) + "\n" for one in self.entries))
        return file


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": "read", "arguments": arguments}


def story() -> Story:
    """Turns with thought, tools and a picture, a compaction with a tail, a branch."""
    told = Story()
    told.say("user", [text("Sée."), {"type": "image", "data": PIXEL, "mimeType": "image/png"}])
    thought = {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "c2ln"}
    first = told.reply(thought, text("Two."), call("c1", path="a"), responseId="msg_1")
    told.say("toolResult", [text("a")], toolCallId="c1", toolName="read", isError=True)
    told.say("bashExecution", None, command="ls", output="a.py")
    told.add("custom_message", customType="todo", content="Two things.", display=True)
    told.add("compaction", summary="So far.", firstKeptEntryId=first, tokensBefore=9)
    told.add("model_change", parent=first, provider="openai", modelId="gpt-5.1")
    told.add("branch_summary", fromId="e004", summary="A mistake was made.")
    told.user("Three.")
    told.reply(stop="aborted", responseId="msg_2", usage={"input": 9, "cost": {"total": 0}})
    told.add("session_info", name="A name")
    told.add("brand_new", more=1)
    return told
