"""One line of conversation in a file: its records in order, as messages, rewinds and compactions.

Rule 1: the lines of one API response are one message; what comes between them comes behind it.
Rule 2: records hang in a tree, and the file's order is the order of telling. A record that hangs
        elsewhere than at the end is a rewind, unless only answers and injected context lie between:
        tools that are called together answer each at its own call.
Rule 3: a parent that is missing, that comes later or that is nobody says nothing: the order does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.codecs.anthropic.decode import stop_of, used
from holdfast.importers.budget import Allowance
from holdfast.importers.claude_code.attachments import injected
from holdfast.importers.claude_code.blocks import OWNER, asked, nameless, replied, thinned
from holdfast.importers.claude_code.compactions import AGENT, cleared, compacted
from holdfast.importers.jsonl import Found, milliseconds, parted, rest, whole
from holdfast.importers.values import count
from holdfast.model import wire
from holdfast.model.message import (
    Message,
    Part,
    Record,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.reply import Usage
from holdfast.model.transcript_events import (
    CallRead,
    Compacted,
    MessageRead,
    Problem,
    Rewound,
    TranscriptEvent,
)

SYNTHETIC = "<synthetic>"
"""The model that a message of the program itself says it is from."""

WAITING = 2_000
"""How many records are held back for the rest of a reply."""

_NOBODY = re.compile(
    r"\s*<(?:command-|local-command|bash-|task-notification|system-reminder|user-memory-input)"
)
_SPILLED = re.compile(r"\s*<persisted-output>.{0,200}?saved to: ([^\n]+)", re.DOTALL)
_DELEGATES = ("Task", "Agent")
"""The tools that have a subagent do something."""


class Reply(Struct):
    """One API response, as far as its lines have come."""

    key: str
    native: str
    parent: str
    created: int
    model: str
    request: str
    request_id: str = ""
    """The id of the request, where that is told."""
    prompt: tuple[int, ...] | None = None
    """How much its pieces say was sent."""
    name: str = ""
    """The first message that is a piece of it."""
    completed: int = 0
    parts: list[Part] = []
    records: list[Record] = []
    usage: dict[str, Any] = {}
    stop: str | None = None


class Strand:
    """Records of one session, or of one of its subagents."""

    def __init__(self, native: str, sidecar: Callable[[str], bytes | None]) -> None:
        self.native, self._sidecar = native, sidecar
        self.subagents: dict[str, str] = {}
        """The sessions of subagents, by what they were asked."""
        self._entries: dict[str, int] = {}
        self._seen: set[int] = set()
        self._natives: list[str] = []
        self._turns: list[int] = []
        self._head = -1
        self._preserved: set[int] = set()
        self._summary = self._end = -1
        """The newest summary, and what of its preserved tail is gone on from."""
        self._compaction: Compacted | None = None
        self._reply: Reply | None = None
        self._replies: dict[str, tuple[str, tuple[int, ...] | None, str]] = {}
        """For each id that replies have, of the newest: its request, its prompt and its name."""
        self._waiting: list[TranscriptEvent] = []
        self._boundary: Found | None = None
        self._prompts: dict[str, str] = {}
        self._allowance = Allowance()

    def holds(self, uuid: str) -> bool:
        """Whether a record of this name has been told."""
        return uuid in self._entries

    def feed(self, found: Found) -> Iterator[TranscriptEvent]:
        """What one more record tells, or makes known."""
        kind, uuid = found.text("type"), found.text("uuid")
        if uuid and self._repeated(found):
            yield from self._behind(found, kind)
        elif kind == "assistant" and type(found.fields.get("message")) is dict:
            yield from self._assistant(found)
        elif kind == "user" and type(found.fields.get("message")) is dict:
            yield from self._user(found)
        elif kind == "system":
            yield from self._system(found)
        elif kind == "attachment":
            yield from self._attachment(found)
        else:
            yield from self._behind(found, kind or "untyped")

    def close(self) -> Iterator[TranscriptEvent]:
        """What is left when the file ends here."""
        yield from self._finish(open=True)
        if boundary := self._boundary:  # its summary may be written next
            yield Problem("a compaction whose summary is not there yet", boundary.line, "notice")
            yield whole(AGENT, "system/compact_boundary", boundary)
        yield from self._allowance.told()

    def _repeated(self, found: Found) -> bool:
        """Whether the very same record was there before."""
        print = hash(found.data)
        known = print in self._seen
        self._seen.add(print)
        return known

    def _behind(self, found: Found, kind: str) -> Iterator[TranscriptEvent]:
        """Keep a record behind the message before it; what hangs on it hangs on that."""
        if uuid := found.text("uuid"):
            parent = found.text("parentUuid")
            self._entries.setdefault(uuid, self._entries.get(parent, self._head))
        yield from self._later(whole(AGENT, kind, found))

    def _later(self, *told: TranscriptEvent) -> Iterator[TranscriptEvent]:
        """Hold something back until the reply before it is whole."""
        self._waiting += told
        if self._reply is None or len(self._waiting) > WAITING:
            yield from self._finish()

    def _finish(self, *, open: bool = False) -> Iterator[TranscriptEvent]:
        reply, self._reply = self._reply, None
        if reply is not None:
            yield from _said(reply, open=open and not self._waiting)
        waiting, self._waiting = self._waiting, []
        yield from waiting

    def _place(
        self, found: Found, native: str, *, turn: bool, answer: bool = False
    ) -> list[TranscriptEvent]:
        """Give a message its place; the rewind that goes before it, if it hangs elsewhere."""
        told: list[TranscriptEvent] = []
        parent = None if answer else self._entries.get(found.text("parentUuid"))
        created = milliseconds(found.fields.get("timestamp"))
        if parent in self._preserved:
            told += self._cut_tail(parent, created)
            parent = self._summary  # what is behind the tail is behind the summary
        if parent is not None and self._turn(parent) != self._turn(self._head):
            to = self._natives[parent] if parent >= 0 else ""
            told = told or [Rewound(to=to, created=created)]
            self._head = parent
        number = len(self._natives)
        self._natives.append(native)
        self._turns.append(number if turn else self._turn(self._head))
        self._head = number
        if uuid := found.text("uuid"):
            self._entries[uuid] = number
        return told

    def _cut_tail(self, parent: int, created: int) -> Iterator[TranscriptEvent]:
        """What goes on from inside a preserved tail has the same summary, and less of the tail."""
        again = self._compaction
        if not again or self._turn(parent) == self._turn(self._end):
            return
        if not self._allowance.take(len(self._preserved)):
            return
        self._end = parent
        kept = tuple(self._natives[n] for n in sorted(self._preserved) if n <= parent)
        yield Rewound(to=self._natives[parent], created=created)
        yield replace(again, kept=kept, records=())

    def _turn(self, number: int) -> int:
        return self._turns[number] if number >= 0 else -1

    def _assistant(self, found: Found) -> Iterator[TranscriptEvent]:
        message = found.table("message")
        key = _text(message.get("id")) or found.text("uuid") or str(found.line)
        if self._reply is None or self._reply.key != key or self._is_another(found, message):
            yield from self._finish()
            yield from self._lone_boundary()
            native = found.text("uuid") or f"line {found.line}"
            yield from self._place(found, native, turn=True)
            self._reply = Reply(
                key=key,
                native=native,
                parent=found.text("parentUuid"),
                created=milliseconds(found.fields.get("timestamp")),
                model=_text(message.get("model")),
                request=_text(message.get("id")) or found.text("requestId"),
                request_id=found.text("requestId"),
                parts=[],
                records=[],
            )
            self._reply.name = self._name(self._reply, message)
        elif uuid := found.text("uuid"):
            self._entries[uuid] = self._entries.get(self._reply.native, self._head)
        self._add(self._reply, found, message)

    def _is_another(self, found: Found, message: dict[str, Any]) -> bool:
        """Whether a reply of the same id is another one: some servers repeat theirs.

        Pieces of one reply, with results between them, tell the same request and the same prompt.
        """
        reply, request_id = self._reply, found.text("requestId")
        if reply is None or not self._waiting:
            return False
        if reply.request_id and request_id and reply.request_id != request_id:
            return True
        return reply.prompt is not None and reply.prompt != _prompt(message)

    def _name(self, reply: Reply, message: dict[str, Any]) -> str:
        """What a reply is called: as its first piece, where it is one more of a reply before."""
        before = self._replies.get(reply.key)
        known = (reply.request_id, _prompt(message))
        if before is None or not reply.request_id or before[:2] != known:
            self._replies[reply.key] = before = (*known, reply.native)
        return before[2]

    def _add(self, reply: Reply, found: Found, message: dict[str, Any]) -> None:
        content, left = parted(found.data, "message", "content")
        parts = replied(found.data, content, reply.model, found.text("uuid"))
        reply.parts += parts
        reply.records.append(Record(AGENT, "assistant", left, found.line))
        reply.completed = milliseconds(found.fields.get("timestamp")) or reply.created
        usage = message.get("usage")
        reply.prompt = _prompt(message)
        if type(usage) is dict and _weight(usage) >= _weight(reply.usage):
            reply.usage = usage
        reply.stop = _text(message.get("stop_reason")) or reply.stop
        for part in parts:
            if isinstance(part, ToolCall) and part.name in _DELEGATES:
                self._prompts[part.id] = _text(part.fields.get("prompt"))

    def _user(self, found: Found) -> Iterator[TranscriptEvent]:
        content = found.table("message").get("content")
        if found.fields.get("isCompactSummary") is True:
            yield from self._finish()
            yield from self._compacted(found, content)
            return
        call = nameless(found.text("sourceToolAssistantUUID") or found.text("parentUuid"))
        said = asked(content, meta=found.fields.get("isMeta") is True, answers=call)
        if not said:
            yield from self._behind(found, "user")
            return
        yield from self._messages(found, content, said)

    def _messages(
        self, found: Found, content: Any, said: list[Message]
    ) -> Iterator[TranscriptEvent]:
        answer, human = said[0].role == "tool", _is_human(said[-1])
        if human:
            yield from self._finish()
        if not answer:
            yield from self._lone_boundary()
        created = milliseconds(found.fields.get("timestamp"))
        uuid = found.text("uuid") or f"line {found.line}"
        told: list[TranscriptEvent] = []
        for number, message in enumerate(said):
            native = f"{uuid}#{number + 1}" if number else uuid
            told += self._place(found, native, turn=human and message.role == "user", answer=answer)
            records = (*_left(found, content), *self._spilled(found, message)) if not number else ()
            told.append(MessageRead(
                message=self._linked(found, message), created=created, completed=created,
                native=native, parent=found.text("parentUuid"), records=records,
            ))  # fmt: skip
        yield from self._later(*told)

    def _spilled(self, found: Found, message: Message) -> Iterator[Record]:
        """The whole of a result of which the model was shown the beginning."""
        for part in message.parts:
            if isinstance(part, ToolResult) and (saved := _SPILLED.match(part.output)):
                name = PurePosixPath(saved[1].replace("\\", "/")).name
                if data := self._sidecar(name):
                    yield Record(AGENT, "tool-result", data, found.line)

    def _linked(self, found: Found, message: Message) -> Message:
        """A tool's answer, with the session of the subagent that gave it."""
        if message.role != "tool":
            return message
        agent = _text(found.table("toolUseResult").get("agentId"))
        prompt = self._prompts.get(_first_call(message), "")
        session = f"{found.text('sessionId')}/{agent}" if agent else self.subagents.get(prompt, "")
        if not session:
            return message
        return replace(message, parts=(*message.parts, Subtask(session)))

    def _system(self, found: Found) -> Iterator[TranscriptEvent]:
        kind = found.text("subtype")
        if kind == "compact_boundary":
            yield from self._finish()
            yield from self._lone_boundary()
            self._boundary = found
        elif kind == "microcompact_boundary":
            yield from self._behind(found, f"system/{kind}")
            yield from self._later(cleared(found))
        else:
            yield from self._behind(found, f"system/{kind}" if kind else "system")

    def _attachment(self, found: Found) -> Iterator[TranscriptEvent]:
        attachment = found.table("attachment")
        kind = f"attachment/{_text(attachment.get('type'))}"
        message = injected(attachment, found.fields.get("rendered"))
        if message is None:
            yield from self._behind(found, kind)
            return
        created = milliseconds(found.fields.get("timestamp"))
        native = found.text("uuid") or f"line {found.line}"
        said = MessageRead(
            message=message, created=created, completed=created, native=native,
            parent=found.text("parentUuid"),
            records=(Record(AGENT, kind, found.data, found.line),),
        )  # fmt: skip
        yield from self._lone_boundary()
        yield from self._later(*self._place(found, native, turn=False, answer=True), said)

    def _lone_boundary(self) -> Iterator[TranscriptEvent]:
        """A compaction whose summary never came."""
        if boundary := self._boundary:
            yield Problem("a compaction without its summary", boundary.line, "notice")
            yield from self._compacted(boundary, "")

    def _compacted(self, found: Found, content: Any) -> Iterator[TranscriptEvent]:
        boundary, self._boundary = self._boundary, None
        text = content if type(content) is str else "\n".join(m.text for m in asked(content))
        created = milliseconds(found.fields.get("timestamp"))
        native = found.text("uuid") or f"line {found.line}"
        if boundary is None:
            yield from self._place(found, native, turn=True)
            yield MessageRead(
                message=Message("user", (SummaryText(text),)), created=created, completed=created,
                native=native, records=(rest(AGENT, "user", found, "message", "content"),),
            )  # fmt: skip
            return
        kept = self._kept(boundary.table("compactMetadata"))
        self._place(found, native, turn=True, answer=True)
        self._entries[boundary.text("uuid")] = self._head
        self._preserved, self._summary = set(kept), self._head
        self._end = max(kept, default=-1)
        natives = tuple(self._natives[n] for n in kept)
        self._compaction = compacted(boundary, found, text, native, natives)
        yield self._compaction

    def _kept(self, metadata: dict[str, Any]) -> list[int]:
        """What a compaction left visible, by number."""
        named = _table(metadata, "preservedMessages").get("uuids")
        if type(named) is list:
            found = [self._entries.get(one, -1) for one in named if type(one) is str]
            return sorted({number for number in found if number >= 0})
        segment = _table(metadata, "preservedSegment")
        first = self._entries.get(_text(segment.get("headUuid")), -1)
        last = self._entries.get(_text(segment.get("tailUuid")), -1)
        if not 0 <= first <= last or not self._allowance.take(last + 1 - first):
            return []
        return list(range(first, last + 1))


def _prompt(message: dict[str, Any]) -> tuple[int, ...] | None:
    """How much was sent, in its buckets; None where that is not told."""
    usage = message.get("usage")
    if type(usage) is not dict:
        return None
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return tuple(count(usage.get(name)) for name in names)


def _said(reply: Reply, *, open: bool) -> Iterator[TranscriptEvent]:
    own = reply.model == SYNTHETIC
    usage, iterations = used(reply.usage)
    provider = "" if own else OWNER
    yield MessageRead(
        message=Message("assistant", tuple(reply.parts)), created=reply.created,
        completed=reply.completed, native=reply.native, parent=reply.parent, provider=provider,
        model=reply.model, request="" if own else reply.request, records=tuple(reply.records),
        open=open,
    )  # fmt: skip
    if usage != Usage() and not own:
        yield CallRead(
            usage=usage, iterations=iterations, request=reply.request, reply=reply.name,
            started=reply.created,
            provider=provider, model=reply.model,
            stop=stop_of(reply.stop) if reply.stop else None,
        )  # fmt: skip


def _left(found: Found, content: Any) -> tuple[Record, ...]:
    """What a user's record says besides its content, and what its content says besides parts."""
    record = rest(AGENT, "user", found, "message", "content")
    more = thinned(content)
    if more is None:
        return (record,)
    return (record, Record(AGENT, "user.content", wire.encode(more), found.line))


def _is_human(message: Message) -> bool:
    """Whether somebody said it, and no program."""
    if message.role != "user":
        return False
    texts = [part for part in message.parts if isinstance(part, Text)]
    if not texts:
        return True  # a picture
    return any(not text.scaffold and not _NOBODY.match(text.text) for text in texts)


def _first_call(message: Message) -> str:
    return next((part.call for part in message.parts if hasattr(part, "call")), "")  # type: ignore[union-attr]


def _weight(usage: dict[str, Any]) -> int:
    return sum(count(value) for name, value in usage.items() if name.endswith("_tokens"))


def _text(value: Any) -> str:
    return value if type(value) is str else ""


def _table(table: dict[str, Any], name: str) -> dict[str, Any]:
    value = table.get(name)
    return value if type(value) is dict else {}
