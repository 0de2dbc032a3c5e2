"""The events of Copilot CLI: JSONL of `{type, data, id, timestamp, parentId}`, one for each thing.

Rule 1: what says what a subagent did names the call that started it: that is a session of its own,
        which begins with what it was asked.
Rule 2: a reply tells what it wrote alone, the end of a session what each model took in all. So the
        rest of it, beside what the replies have told, is one more call of that model.
Rule 3: a truncation drops the oldest messages; as many as it says, or nobody knows which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from holdfast.importers.budget import Allowance
from holdfast.importers.copilot_usage import Used, summarised
from holdfast.importers.jsonl import Found, milliseconds, records, rest, whole
from holdfast.importers.values import count, rows, table, text, written
from holdfast.model.message import (
    Message,
    Part,
    Reasoning,
    Record,
    Subtask,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.transcript_events import (
    Compacted,
    MessageRead,
    Problem,
    Rewound,
    SessionStarted,
    Titled,
    TranscriptEvent,
)
from holdfast.ports import TranscriptFile

AGENT = "copilot-cli"

REMINDER = "system-reminder"
"""What the program told the model in the user's place."""

_EVENT = re.compile(
    rb'"type"\s*:\s*"(?:session\.(?:start|resume|model_change|info|shutdown)|user\.message|'
    rb'assistant\.(?:turn_start|turn_end|message)|tool\.execution_(?:start|complete))"'
)

KNOWN = re.compile(
    r"(?:session|user|assistant|tool|hook|subagent|system|skill|permission|elicitation|user_input|"
    r"pending_messages|command|external_tool|mcp_app|exit_plan_mode|auto_mode_switch|sampling)\.\w+"
    r"|abort"
)
"""The kinds of event that are known, whether or not they have a place in the model."""


class CopilotCli:
    """Reads what Copilot CLI leaves beneath ~/.copilot."""

    name = AGENT
    reach = 0

    def default_paths(self) -> tuple[str, ...]:
        return (".copilot/session-state", ".copilot/history-session-state")

    def matches_name(self, name: str) -> bool:
        return name.endswith(".jsonl")

    def recognises(self, head: bytes, name: str) -> bool:
        return bool(_EVENT.search(head)) and b'"data"' in head

    def read(self, material: TranscriptFile) -> Iterator[TranscriptEvent]:
        return Reading(material).told()


class Strand:
    """One conversation of a file: the user's, or a subagent's."""

    def __init__(self, native: str, parent: str = "") -> None:
        self.native, self.parent = native, parent
        self.visible: list[str] = []
        """What is said in it and was not dropped, by native ids."""
        self.thought = ""
        """What the model has thought aloud before its next message."""


class Reading:
    """The reading of one file."""

    def __init__(self, material: TranscriptFile) -> None:
        self._material = material
        self._main: Strand | None = None
        self._strands: dict[str, Strand] = {}
        self._told = ""
        self._directory = self._model = ""
        self._began = 0
        self._names: dict[str, str] = {}
        self._prompts: dict[str, str] = {}
        self._starts: dict[str, int] = {}
        self._before: dict[str, str] = {}
        """The last message before each event: what a rewind goes back to."""
        self._used = Used()
        self._allowance = Allowance()
        self._strange: set[str] = set()

    def told(self) -> Iterator[TranscriptEvent]:
        """Everything that stands in it."""
        waiting: list[TranscriptEvent] = []
        for found in records(self._material, AGENT):
            if isinstance(found, Found):
                if self._main is None:
                    self._main = self._begin(found)
                    yield from self._tell(self._main, waiting)
                yield from self._event(self._main, found)
            elif self._main or isinstance(found, Problem):
                yield from self._tell(self._main, [found])
            else:
                waiting.append(found)
        yield from self._allowance.told()

    def _begin(self, found: Found) -> Strand:
        data = found.table("data")
        path = PurePosixPath(self._material.name)
        named = text(data.get("sessionId")) if found.text("type") == "session.start" else ""
        self._directory = text(table(data.get("context")).get("cwd"))
        self._model = text(data.get("selectedModel"))
        self._began = milliseconds(found.fields.get("timestamp"))
        stem = path.parent.name if path.stem == "events" else path.stem
        return Strand(named or stem or "?")

    def _tell(
        self, strand: Strand | None, told: list[TranscriptEvent]
    ) -> Iterator[TranscriptEvent]:
        """Tell items of a strand, once it has been said which one that is."""
        for item in told:
            if strand and self._told != strand.native and not isinstance(item, Problem):
                self._told = strand.native
                yield SessionStarted(
                    native=strand.native, created=self._began, directory=self._directory,
                    model=self._model, parent=strand.parent,
                )  # fmt: skip
            yield item

    def _event(self, main: Strand, found: Found) -> Iterator[TranscriptEvent]:
        kind, data = found.text("type"), found.table("data")
        if not KNOWN.fullmatch(kind) and kind not in self._strange:
            self._strange.add(kind)
            yield Problem(f"an event of a kind nobody knows: {kind[:80]!r}", found.line, "unknown")
        strand = main
        if started := text(data.get("parentToolCallId")):
            strand = yield from self._subagent(main, started, found)
        if id := found.text("id"):
            self._before[id] = strand.visible[-1] if strand.visible else ""
        yield from self._tell(strand, _TELL.get(kind, Reading._kept)(self, strand, found))

    def _subagent(self, main: Strand, call: str, found: Found) -> Iterator[TranscriptEvent]:
        """The conversation of the subagent that a call started."""
        known = self._strands.get(call)
        if known is None:
            known = self._strands[call] = Strand(f"{main.native}/{call}", main.native)
            if asked := self._prompts.get(call):
                said = self._said(known, found, Message("user", (Text(asked),)), f"{call}#asked")
                yield from self._tell(known, [said])
        return known

    def _kept(self, strand: Strand, found: Found) -> list[TranscriptEvent]:
        data = found.table("data")
        kind = found.text("type")
        told: list[TranscriptEvent] = [whole(AGENT, kind or "untyped", found)]
        if kind == "session.model_change":
            self._model = text(data.get("newModel")) or self._model
        elif kind == "session.title_changed" and text(data.get("title")):
            told.append(Titled(data["title"]))
        elif kind == "tool.execution_start":
            self._asked(data.get("toolCallId"), data.get("toolName"), data.get("arguments"))
            self._starts[text(data.get("toolCallId"))] = milliseconds(found.fields.get("timestamp"))
        elif kind == "assistant.reasoning":
            strand.thought = text(data.get("content"))
        return told

    def _said(
        self, strand: Strand, found: Found, message: Message, native: str, *left: Record,
        model: str = "", request: str = "",
    ) -> MessageRead:  # fmt: skip
        when = milliseconds(found.fields.get("timestamp"))
        strand.visible.append(native)
        return MessageRead(
            message=message, created=when, completed=when, native=native, model=model,
            request=request, parent=found.text("parentId"), records=left,
        )  # fmt: skip

    def _user(self, strand: Strand, found: Found) -> list[TranscriptEvent]:
        data = found.table("data")
        member = "content" if text(data.get("content")) else "transformedContent"
        if not text(data.get(member)):
            return self._kept(strand, found)
        said = Text(data[member], scaffold="" if member == "content" else REMINDER)
        left = rest(AGENT, "user.message", found, "data", member)
        return [self._said(strand, found, Message("user", (said,)), _named(found), left)]

    def _reply(self, strand: Strand, found: Found) -> list[TranscriptEvent]:
        data = found.table("data")
        model = text(data.get("model")) or self._model
        thought = text(data.get("reasoningText")) or strand.thought
        strand.thought = ""
        calls = [call for one in rows(data.get("toolRequests")) if (call := self._call(table(one)))]
        parts: list[Part] = [Reasoning(thought)] if thought else []
        parts += [Text(data["content"])] if text(data.get("content")) else []
        parts += calls
        request = text(data.get("apiCallId")) or text(data.get("messageId"))
        told: list[TranscriptEvent] = [whole(AGENT, "assistant.message", found)]
        if parts:
            left = rest(AGENT, "assistant.message", found, "data", "content")
            message = Message("assistant", tuple(parts))
            told = [self._said(strand, found, message, _named(found), left, model=model,
                               request=request)]  # fmt: skip
        when = milliseconds(found.fields.get("timestamp"))
        wrote = self._used.wrote(model, count(data.get("outputTokens")), when, request)
        return [*told, *wrote]

    def _call(self, asked: dict[str, Any]) -> ToolCall | None:
        id, name = text(asked.get("toolCallId")), text(asked.get("name"))
        given = asked.get("arguments")
        if not id or not name:
            return None
        self._asked(id, name, given)
        return ToolCall(id, name, written(given))

    def _asked(self, id: Any, name: Any, given: Any) -> None:
        """Remember what was asked of whom: its answer says neither."""
        if text(id):
            self._names[id] = text(name) or self._names.get(id, "")
            self._prompts[id] = text(table(given).get("prompt")) or self._prompts.get(id, "")

    def _result(self, strand: Strand, found: Found) -> list[TranscriptEvent]:
        data = found.table("data")
        call = text(data.get("toolCallId"))
        if not call:
            return self._kept(strand, found)
        output = text(table(data.get("result")).get("content"))
        output = output or text(table(data.get("error")).get("message"))
        parts: list[Part] = [
            ToolResult(
                call=call, output=output, error=data.get("success") is False,
                name=self._names.get(call, ""), started=self._starts.get(call),
            )
        ]  # fmt: skip
        if child := self._strands.get(call):
            parts.append(Subtask(child.native))
        left = rest(AGENT, "tool.execution_complete", found, "data", "result", "content")
        return [self._said(strand, found, Message("tool", tuple(parts)), _named(found), left)]

    def _truncation(self, strand: Strand, found: Found) -> list[TranscriptEvent]:
        data = found.table("data")
        dropped = count(data.get("messagesRemovedDuringTruncation"))
        kept = whole(AGENT, "session.truncation", found)
        if not dropped or not strand.visible:
            said = "a truncation that does not say what it dropped"
            return [kept, Problem(said, found.line, "notice")]
        allowed = self._allowance.take(max(len(strand.visible) - dropped, 0))
        left = tuple(strand.visible[dropped:]) if allowed else ()
        compacted = Compacted(
            created=milliseconds(found.fields.get("timestamp")), native=_named(found),
            trigger="auto", before=count(data.get("preTruncationTokensInMessages")),
            after=count(data.get("postTruncationTokensInMessages")), kept=left,
        )  # fmt: skip
        strand.visible = [*left, compacted.native]
        return [kept, compacted]

    def _compaction(self, strand: Strand, found: Found) -> list[TranscriptEvent]:
        data = found.table("data")
        summary = text(data.get("summaryContent"))
        told: list[TranscriptEvent] = summarised(
            data, self._model, milliseconds(found.text("timestamp"))
        )
        if data.get("success") is not True or not summary:
            return [*self._kept(strand, found), *told]
        compacted = Compacted(
            text=summary, created=milliseconds(found.fields.get("timestamp")), native=_named(found),
            before=count(data.get("preCompactionTokens")),
            after=count(data.get("postCompactionTokens")),
            records=(rest(AGENT, "session.compaction_complete", found, "data", "summaryContent"),),
        )  # fmt: skip
        strand.visible = [compacted.native]
        return [compacted, *told]

    def _rewind(self, strand: Strand, found: Found) -> list[TranscriptEvent]:
        """An event and all behind it were taken back."""
        event = text(found.table("data").get("upToEventId"))
        told = self._kept(strand, found)
        to = self._before.get(event)
        if to is None:
            return [*told, Problem("goes back to an event that is not there", found.line, "notice")]
        while strand.visible and strand.visible[-1] != to:
            strand.visible.pop()
        created = milliseconds(found.fields.get("timestamp"))
        return [*told, Rewound(to=to, created=created, reason="taken back")]

    def _shutdown(self, strand: Strand, found: Found) -> list[TranscriptEvent]:
        when = milliseconds(found.fields.get("timestamp"))
        return [*self._kept(strand, found), *self._used.rest(found.table("data"), when)]


_TELL: dict[str, Callable[[Reading, Strand, Found], list[TranscriptEvent]]] = {
    "user.message": Reading._user,
    "assistant.message": Reading._reply,
    "tool.execution_complete": Reading._result,
    "session.truncation": Reading._truncation,
    "session.compaction_complete": Reading._compaction,
    "session.snapshot_rewind": Reading._rewind,
    "session.shutdown": Reading._shutdown,
}


def _named(found: Found) -> str:
    return found.text("id") or f"line {found.line}"
