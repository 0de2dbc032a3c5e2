"""Writes sessions as Copilot CLI does, event by event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MODEL = "claude-sonnet-4.6"


class Story:
    """Events in order, each behind the one before."""

    def __init__(self, session: str = "s-1") -> None:
        self.events: list[dict[str, Any]] = []
        context = {"cwd": "/home/me/project"}
        self.add("session.start", sessionId=session, version=1, selectedModel=MODEL,
                 context=context)  # fmt: skip

    def add(self, kind: str, **data: Any) -> str:
        number = len(self.events)
        id = f"e{number:03d}"
        self.events.append({
            "type": kind, "data": data, "id": id, "timestamp": f"2026-01-02T03:04:{number:02d}Z",
            "parentId": f"e{number - 1:03d}" if number else None,
        })  # fmt: skip
        return id

    def user(self, text: str) -> str:
        return self.add("user.message", content=text, transformedContent=f"<now/>{text}")

    def reply(self, text: str, *calls: tuple[str, str, Any], **data: Any) -> str:
        asked = [{"toolCallId": id, "name": name, "arguments": given} for id, name, given in calls]
        return self.add("assistant.message", content=text, toolRequests=asked, **data)

    def result(self, call: str, output: str, **data: Any) -> str:
        return self.add("tool.execution_complete", toolCallId=call, success=True,
                        result={"content": output}, **data)  # fmt: skip

    def write(self, place: Path) -> Path:
        file = place / "s-1" / "events.jsonl"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(json.dumps(one) + "\n" for one in self.events))
        return file


def story() -> Story:
    """Turns with thought and tools, a subagent, a truncation, a rewind, a compaction, usage."""
    told = Story()
    told.user("Look at the roof.")
    told.add("assistant.reasoning", content="Hm.")
    told.reply("", ("c1", "task", {"prompt": "Look at it."}), ("c2", "bash", '{"command":"ls"}'),
               outputTokens=3, messageId="m1")  # fmt: skip
    told.reply("So.", ("c3", "view", {"path": "a"}), parentToolCallId="c1")
    told.result("c3", "“a”", parentToolCallId="c1")
    told.add("tool.execution_start", toolCallId="c1", toolName="task", arguments={})
    back = told.result("c1", "All well.")
    told.add("tool.execution_complete", toolCallId="c2", success=False, error={"message": "no"})
    told.add("session.truncation", messagesRemovedDuringTruncation=1,
             preTruncationTokensInMessages=900, postTruncationTokensInMessages=300)  # fmt: skip
    told.add("session.snapshot_rewind", upToEventId=back)
    told.add("session.model_change", newModel="gpt-5.1")
    told.add("session.title_changed", title="The roof")
    told.add("session.compaction_complete", success=True, summaryContent="So far.",
             compactionTokensUsed={"input": 100, "output": 20, "cachedInput": 60})  # fmt: skip
    used = {"inputTokens": 300, "outputTokens": 100, "cacheReadTokens": 200}
    told.add("session.shutdown", modelMetrics={MODEL: {"requests": {"count": 2}, "usage": used}})
    told.add("brand.new", more=1)
    told.user("Go on.")
    return told
