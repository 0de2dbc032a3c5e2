"""Writes sessions as Gemini CLI does: lines that are added to, or one document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "0ab84937-0000-4000-8000-00000000000a"
MODEL = "gemini-2.5-pro"


class Chat:
    """Records in order."""

    def __init__(self, session: str = SESSION, **fields: Any) -> None:
        self.header = {
            "sessionId": session, "projectHash": "9da8b3df", "kind": "main",
            "startTime": "2026-04-23T12:52:52.759Z", "lastUpdated": "2026-04-23T12:52:52.759Z",
            **fields,
        }  # fmt: skip
        self.records: list[dict[str, Any]] = [self.header]

    def add(self, id: str, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
        number = len(self.records)
        record = {
            "id": id, "timestamp": f"2026-04-23T12:{number // 60 + 53:02d}:{number % 60:02d}.000Z",
            "type": kind, "content": content, **fields,
        }  # fmt: skip
        self.records.append(record)
        return record

    def user(self, id: str, words: str, **fields: Any) -> dict[str, Any]:
        return self.add(id, "user", [{"text": words}], **fields)

    def reply(self, id: str, words: str = "", *calls: dict[str, Any], **fields: Any) -> Any:
        """A reply as it is written: without its calls, and then with them."""
        told = {"thoughts": [], "tokens": tokens(), "model": MODEL, **fields}
        first = self.add(id, "gemini", words, **told)
        self.set(lastUpdated="2026-04-23T12:53:11.257Z")
        if not calls:
            return first
        self.records.append({**first, "toolCalls": list(calls)})
        return self.records[-1]

    def set(self, **fields: Any) -> None:
        self.records.append({"$set": fields})

    def rewind(self, id: str) -> None:
        self.records.append({"$rewindTo": id})

    @property
    def lines(self) -> list[bytes]:
        return [json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in self.records]

    def write(self, directory: Path, many: int | None = None) -> Path:
        path = _place(directory, f"session-2026-04-23T12-52-{SESSION[:8]}.jsonl")
        path.write_bytes(b"".join(self.lines[:many]))
        return path

    def document(self, directory: Path, many: int | None = None) -> Path:
        """The same as one document, of its first messages."""
        messages: dict[str, Any] = {}
        for record in self.records[1:]:
            if "id" in record:
                messages[record["id"]] = record
        path = _place(directory, f"session-2026-04-23T12-52-{SESSION[:8]}.json")
        whole = {**self.header, "messages": list(messages.values())[:many]}
        path.write_text(json.dumps(whole, indent=2, ensure_ascii=False))
        return path


def _place(directory: Path, name: str) -> Path:
    chats = directory / "some-project" / "chats"
    chats.mkdir(parents=True, exist_ok=True)
    return chats / name


def tokens(input: int = 100, output: int = 10, cached: int = 40, thoughts: int = 5) -> Any:
    total = input + output + thoughts
    return {"input": input, "output": output, "cached": cached, "thoughts": thoughts, "tool": 0,
            "total": total}  # fmt: skip


def call(id: str, output: str = "done", name: str = "run_shell_command", **fields: Any) -> Any:
    answer = {"id": id, "name": name, "response": {"output": output}}
    return {
        "id": id, "name": name, "args": {"command": "ls"}, "status": "success",
        "result": [{"functionResponse": answer}], "timestamp": "2026-04-23T12:53:12.000Z",
        "resultDisplay": output, "displayName": "Shell", **fields,
    }  # fmt: skip


def snapshot(words: str) -> str:
    return f"<state_snapshot>\n{words}\n</state_snapshot>"


def story() -> Chat:
    """Turns with thought, tools, a replaced reply, a rewind, a compression and stray records."""
    chat = Chat()
    chat.add("i1", "info", "An update is available.")
    chat.user("u1", "Please mend the roof.", displayContent=[{"text": "/mend"}])
    chat.reply("g1", "I look.", call("c1", "roof.py"), call("c2", "/home/me"),
               thoughts=[{"subject": "Roof", "description": "It may leak."}])  # fmt: skip
    chat.reply("g2", "The roof has a hole.")
    chat.user("u2", "Paint it red.")
    chat.reply("g3", "Painted red.")
    chat.rewind("u2")
    tail = [chat.user("u3", "Paint it blue."), chat.reply("g4", "Painted blue.")]
    summary = {"id": "s1", "timestamp": "2026-04-23T12:54:40.000Z", "type": "user",
               "content": [{"text": snapshot("The roof was mended.")}]}  # fmt: skip
    nod = {"id": "s2", "timestamp": "2026-04-23T12:54:40.000Z", "type": "gemini",
           "content": [{"text": "Got it."}]}  # fmt: skip
    chat.set(messages=[summary, nod, *tail], lastUpdated="2026-04-23T12:54:41.000Z")
    chat.user("u4", "What is left?")
    chat.reply("g5", "Nothing is left.")
    chat.set(summary="The roof")
    return chat
