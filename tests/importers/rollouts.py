"""Writes rollouts as Codex does, record by record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

THREAD = "019f5ccd-3d12-7ee2-b82d-f7e03a3a0001"
MODEL = "gpt-5.4"
CONTEXT = "<environment_context>\n  <cwd>/home/me/project</cwd>\n</environment_context>"


class Rollout:
    """Records in order, a second apart."""

    def __init__(self, thread: str = THREAD, **meta: Any) -> None:
        self.thread = thread
        self.records: list[dict[str, Any]] = []
        self._calls = 0
        self._totals = [0, 0, 0, 0]
        told = {
            "id": thread, "timestamp": "2026-01-02T03:00:00.000Z", "cwd": "/home/me/project",
            "originator": "codex_cli_rs", "cli_version": "0.144.2", "source": "cli",
            "model_provider": "openai",
        }  # fmt: skip
        self.add("session_meta", **(told | meta))

    def add(self, kind: str, **payload: Any) -> None:
        number = len(self.records)
        time = f"2026-01-02T03:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
        self.records.append({"timestamp": time, "type": kind, "payload": payload})

    def item(self, type: str, **payload: Any) -> None:
        self.add("response_item", type=type, **payload)

    def event(self, type: str, **payload: Any) -> None:
        self.add("event_msg", type=type, **payload)

    def start(self, model: str = MODEL) -> None:
        self.event("task_started", model_context_window=258_400)
        self.add("turn_context", cwd="/home/me/project", model=model)

    def says(self, role: str, words: str) -> None:
        self.add("response_item", **said(role, words))

    def asks(self, words: str) -> None:
        """A human's turn, as an item and as an event."""
        self.says("user", words)
        self.event("user_message", message=words, images=[])

    def replies(self, words: str) -> None:
        self.event("agent_message", message=words)
        self.says("assistant", words)

    def turn(self, asked: str, reply: str) -> None:
        self.start()
        self.asks(asked)
        self.replies(reply)
        self.event("task_complete", last_agent_message=reply)

    def calls(self, output: Any = "Exit code: 0\nOutput:\ndone", **arguments: Any) -> str:
        """A call of the shell and its answer."""
        self._calls += 1
        id = f"call_{self._calls}"
        self.item("function_call", name="shell", arguments=json.dumps(arguments), call_id=id)
        self.item("function_call_output", call_id=id, output=output)
        return id

    def uses(self, read: int, cached: int, output: int, reasoning: int = 0) -> None:
        """One call of the model, added to the totals."""
        last = [read, cached, output, reasoning]
        self._totals = [a + b for a, b in zip(self._totals, last, strict=True)]
        self.counts(self._totals, last)

    def counts(self, total: list[int] | None, last: list[int] | None) -> None:
        info: dict[str, Any] = {"model_context_window": 258_400}
        info |= {"total_token_usage": tokens(*total)} if total else {}
        info |= {"last_token_usage": tokens(*last)} if last else {}
        self.event("token_count", info=info if total or last else None, rate_limits={})

    def compacts(self, *history: dict[str, Any], message: str = "", **more: Any) -> None:
        self.add("compacted", message=message, replacement_history=list(history), **more)

    @property
    def lines(self) -> list[bytes]:
        return [json.dumps(record).encode() + b"\n" for record in self.records]

    def write(self, directory: Path, many: int | None = None, name: str = "") -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / (name or f"rollout-2026-01-02T03-00-00-{self.thread}.jsonl")
        path.write_bytes(b"".join(self.lines[:many]))
        return path


def said(role: str, words: str) -> dict[str, Any]:
    type = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": type, "text": words}]}


def sealed(words: str = "Y29tcGFjdGVk") -> dict[str, Any]:
    return {"type": "compaction", "id": "cmp_1", "encrypted_content": words}


def thought(summary: str = "", encrypted: str = "c2VhbGVk") -> dict[str, Any]:
    told = [{"type": "summary_text", "text": summary}] if summary else []
    return {"type": "reasoning", "summary": told, "encrypted_content": encrypted}


def tokens(read: int, cached: int, output: int, reasoning: int = 0) -> dict[str, int]:
    return {
        "input_tokens": read, "cached_input_tokens": cached, "output_tokens": output,
        "reasoning_output_tokens": reasoning, "total_tokens": read + output,
    }  # fmt: skip


def story() -> Rollout:
    """Context, thought, tools, pictures, usage, a rollback, a compaction and stray records."""
    t = Rollout()
    t.start()
    t.says("developer", "<permissions instructions>\nAll is allowed.</permissions instructions>")
    t.says("user", CONTEXT)
    t.asks("Mend the roof.")
    t.add("response_item", **thought("Look first."))
    t.replies("I look at it.")
    t.calls("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno such file", command=["ls"])
    t.uses(1_000, 600, 50, 20)
    t.item("custom_tool_call", name="exec", input="look()", call_id="call_c", status="completed")
    picture = "data:image/png;base64,iVBORw0KGgo="
    t.item("custom_tool_call_output", call_id="call_c",
           output=[{"type": "input_text", "text": "Script completed"},
                   {"type": "input_image", "image_url": picture}])  # fmt: skip
    t.uses(1_200, 1_000, 30)
    t.counts([2_200, 1_600, 80, 20], [1_200, 1_000, 30, 0])
    t.replies("The roof has a hole.")
    t.event("task_complete", last_agent_message="The roof has a hole.")
    t.turn("Paint it red.", "Painted red.")
    t.event("thread_rolled_back", num_turns=1)
    t.turn("Paint it blue.", "Painted blue.")
    t.uses(1_500, 1_200, 40)
    t.compacts(said("user", "Mend the roof."), said("user", "Paint it blue."),
               said("user", CONTEXT), sealed())  # fmt: skip
    t.counts([3_700, 2_800, 120, 20], [900, 0, 0, 0])
    t.event("context_compacted")
    t.turn("What is left?", "Nothing is left.")
    t.item("ghost_snapshot", ghost_commit={"id": "abc"})
    t.item("web_search_call", status="completed", action={"type": "search", "query": "roofs"})
    t.replies("That was all.")
    t.event("thread_name_updated", thread_name="The roof")
    return t
