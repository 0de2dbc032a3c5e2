"""Writes transcripts as Claude Code does, record by record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "5d1a2b3c-0000-4000-8000-000000000001"
MODEL = "claude-sonnet-4-6"


class Transcript:
    """Records in order; each hangs on the one before unless told otherwise."""

    def __init__(self, session: str = SESSION) -> None:
        self.session = session
        self.records: list[dict[str, Any]] = []
        self._last: str | None = None

    def add(self, kind: str, **fields: Any) -> str:
        """A record with an envelope; its uuid."""
        number = len(self.records) + 1
        uuid = fields.pop("uuid", f"{self.session[:8]}-u{number:04d}")
        record = {
            "parentUuid": fields.pop("parent", self._last),
            "isSidechain": False,
            "cwd": "/home/me/project",
            "sessionId": self.session,
            "version": "2.1.114",
            "gitBranch": "main",
            "type": kind,
            "uuid": uuid,
            "timestamp": f"2026-01-02T03:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
            **fields,
        }
        self.records.append(record)
        self._last = uuid
        return uuid

    def bare(self, **fields: Any) -> None:
        """A record without an envelope."""
        self.records.append(fields)

    def user(self, text: Any, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": text}, **fields)

    def reply(self, id: str, *blocks: dict[str, Any], usage: Any = None, **fields: Any) -> str:
        """A reply, one record for each block, as the program writes it."""
        used = usage or {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 7}
        message = {
            "id": id, "type": "message", "role": "assistant", "model": MODEL,
            "stop_reason": None, "usage": used,
        }  # fmt: skip
        last = ""
        for block in blocks:
            whole = {**message, "content": [block]}
            last = self.add("assistant", message=whole, requestId=f"req_{id}", **fields)
        return last

    def result(self, call: str, output: Any = "done", **fields: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": output}
        return self.user([block], **{"toolUseResult": {"stdout": output}, **fields})

    def compact(self, summary: str | None = "They went on.", **metadata: Any) -> None:
        told = {"trigger": "auto", "preTokens": 155_116, **metadata}
        self.add("system", subtype="compact_boundary", content="Conversation compacted",
                 compactMetadata=told, parent=None)  # fmt: skip
        if summary is not None:
            self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    @property
    def lines(self) -> list[bytes]:
        return [json.dumps(record).encode() + b"\n" for record in self.records]

    def write(self, directory: Path, many: int | None = None, name: str = "") -> Path:
        """Write the first records to the file of the session."""
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / (name or f"{self.session}.jsonl")
        path.write_bytes(b"".join(self.lines[:many]))
        return path


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: str, name: str = "Bash", **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def thought(words: str = "hm", signature: str = "c2lnbmVk") -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": signature}


def story(session: str = SESSION) -> Transcript:
    """Turns with thought, tools called together, a compaction, a rewind and stray records."""
    t = Transcript(session)
    t.bare(type="summary", summary="Somebody else's", leafUuid="nowhere")
    t.bare(type="file-history-snapshot", messageId="m", snapshot={"a": 1})
    t.user("Please mend the roof.")
    t.reply("msg_1", thought(), text("I look at it."), call("toolu_1", command="ls"))
    first = t.reply("msg_1", call("toolu_2", command="pwd"))
    t.result("toolu_1", "roof.py", parent=first)
    t.add("progress", data={"type": "bash_progress"})
    t.result("toolu_2", "/home/me", parent=first)
    end = t.reply("msg_2", text("The roof has a hole."))
    t.user("Paint it red.")
    t.reply("msg_3", text("Painted red."))
    t.user("No: paint it blue.", parent=end)
    t.reply("msg_4", text("Painted blue."))
    t.compact("The roof was mended and painted blue.")
    t.user("What is left?")
    t.reply("msg_5", text("Nothing is left."), usage={"input_tokens": 11, "output_tokens": 2})
    t.bare(type="custom-title", customTitle="The roof", sessionId=session)
    return t
