"""What `gemini --output-format stream-json` prints: one event a line.

Rule 1: pieces of a reply are one message, up to the answer of a tool or the next prompt.
Rule 2: what was used is told once, at the end, for all calls together.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.importers.gemini_cli.turns import AGENT, OWNER
from holdfast.importers.jsonl import Found, milliseconds, records, rest, whole
from holdfast.importers.values import count, table
from holdfast.model import wire
from holdfast.model.message import Message, Part, Record, Text, ToolCall, ToolResult
from holdfast.model.reply import Usage
from holdfast.model.transcript_events import (
    CallRead,
    MessageRead,
    Problem,
    SessionStarted,
    TranscriptEvent,
)
from holdfast.ports import TranscriptFile


class Stream:
    """The reading of one stream."""

    def __init__(self, material: TranscriptFile) -> None:
        self._material = material
        self._model = ""
        self._role, self._native, self._created = "", "", 0
        self._parts: list[Part] = []
        self._words: list[str] = []
        """The pieces of the text that comes behind the parts."""
        self._records: list[Record] = []
        self._strange: set[str] = set()

    def told(self) -> Iterator[TranscriptEvent]:
        """Everything that stands in it."""
        begun = False
        for found in records(self._material, AGENT):
            if isinstance(found, Found) and not begun:
                begun = True
                yield from self._begin(found)
            elif isinstance(found, Found):
                yield from self._feed(found)
            else:
                yield found
        yield from self._finish(open=True)

    def _begin(self, found: Found) -> Iterator[TranscriptEvent]:
        """The first event, which says whose stream this is."""
        self._model = found.text("model")
        created = milliseconds(found.fields.get("timestamp"))
        yield SessionStarted(
            native=found.text("session_id") or self._material.name, created=created
        )
        yield from self._feed(found)

    def _feed(self, found: Found) -> Iterator[TranscriptEvent]:
        kind = found.text("type")
        if kind == "message" and found.text("content"):
            role = "user" if found.text("role") == "user" else "assistant"
            yield from self._say(role, found, Text(found.text("content")), "content")
        elif kind == "tool_use" and found.text("tool_id"):
            input = wire.encode(found.fields.get("parameters", {})).decode("utf-8", "replace")
            call = ToolCall(found.text("tool_id"), found.text("tool_name") or "unnamed", input)
            yield from self._say("assistant", found, call, "parameters")
        elif kind == "tool_result" and found.text("tool_id"):
            failed = found.text("status") == "error"
            words = found.text("output") or str(table(found.fields.get("error")).get("message", ""))
            answer = ToolResult(found.text("tool_id"), words, error=failed)
            yield from self._say("tool", found, answer, "output")
        else:
            yield from self._other(found, kind)

    def _say(self, role: str, found: Found, part: Part, told: str) -> Iterator[TranscriptEvent]:
        if role != self._role or role == "user":
            yield from self._finish()
            self._role, self._native = role, f"line {found.line}"
            self._created = milliseconds(found.fields.get("timestamp"))
        if isinstance(part, Text):
            self._words.append(part.text)
        else:
            self._join()
            self._parts.append(part)
        self._records.append(rest(AGENT, found.text("type"), found, told))

    def _join(self) -> None:
        self._parts += [Text("".join(self._words))] if self._words else []
        self._words = []

    def _finish(self, *, open: bool = False) -> Iterator[TranscriptEvent]:
        self._join()
        parts, records, role = tuple(self._parts), tuple(self._records), self._role
        self._parts, self._records, self._role = [], [], ""
        if not parts:
            return
        model = self._model if role == "assistant" else ""
        yield MessageRead(
            message=Message(role, parts), created=self._created, completed=self._created,  # type: ignore[arg-type]
            native=self._native, provider=OWNER if model else "", model=model, records=records,
            open=open,
        )  # fmt: skip

    def _other(self, found: Found, kind: str) -> Iterator[TranscriptEvent]:
        if kind == "result":
            yield from self._finish()
            yield from self._called(found)
        elif kind not in ("init", "error", "message") and kind not in self._strange:
            self._strange.add(kind)
            what = f"events of kind {kind!r} are kept, but nobody knows what they mean"
            yield Problem(what, found.line, "unknown")
        yield whole(AGENT, kind or "untyped", found)

    def _called(self, found: Found) -> Iterator[TranscriptEvent]:
        stats = table(found.fields.get("stats"))
        cached, sent = count(stats.get("cached")), count(stats.get("input_tokens"))
        usage = Usage(
            input=max(sent - cached, 0), cache_read=cached, output=count(stats.get("output_tokens"))
        )
        if usage != Usage():
            ended = milliseconds(found.fields.get("timestamp"))
            yield CallRead(
                usage=usage, request=f"{self._native}@{ended}", started=ended, ended=ended,
                provider=OWNER, model=self._model,
            )  # fmt: skip
