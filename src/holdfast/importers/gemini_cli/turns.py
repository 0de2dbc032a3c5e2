"""One message of Gemini CLI: words, thoughts, calls, and the answers that stand inside it.

Rule 1: answers of tools are a message of their own, behind the one that made the calls.
Rule 2: after its list was replaced, a call may stand in a message twice, and an answer in two
        messages: each is told once.
Rule 3: input includes what was cached, and output leaves out what was thought.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.importers.jsonl import UNREADABLE, Found, milliseconds
from holdfast.importers.values import count, picture, rows, table, text
from holdfast.model import wire
from holdfast.model.message import (
    Media,
    Message,
    Part,
    Reasoning,
    Record,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.reply import Usage
from holdfast.model.transcript_events import CallRead, MessageRead

AGENT, OWNER = "gemini-cli", "google"

MODEL = ("gemini", "model")
"""What messages of the model are called."""

SPOKEN = ("user", *MODEL)

SNAPSHOT = "<state_snapshot>"
"""How a summary of what was said before begins."""


class Turn(Struct):
    """One message, as far as it matters to what is told."""

    id: str
    found: Found
    said: tuple[MessageRead, ...]
    record: Record
    """What of it our model has no place for."""
    called: CallRead | None = None
    summary: str = ""
    """Its text, where it stands for what was said before."""
    core: bytes = b""
    """The same for a message of which only the answers differ."""
    answers: dict[str, bytes] = {}
    """The fingerprints of the answers in it, by call."""
    late: bool = True
    """Whether it was told after the last compaction."""

    @property
    def end(self) -> str:
        """The native id of the last that was said by it; empty where nothing was."""
        return self.id if self.summary else self.said[-1].native if self.said else ""


def turn(found: Found, answered: Callable[[str], bool]) -> Turn:
    """What a message says; `answered` is whether a call's answer has been told before it."""
    id = found.text("id") or f"line {found.line}"
    content = found.fields.get("content", found.fields.get("parts"))
    made = _Made(id, found, answered)
    if _kind(found) in MODEL:
        for thought in rows(found.fields.get("thoughts")):
            made.thought(table(thought))
    if type(content) is str:
        made.parts += [Text(content)] if content else []
    for piece in rows(content):
        made.piece(piece)
    for number, call in enumerate(rows(found.fields.get("toolCalls"))):
        made.call(table(call), number)
    return made.turn()


def _kind(found: Found) -> str:
    return found.text("type") or found.text("role")


class _Made:
    """The parts of a message as they are found."""

    def __init__(self, id: str, found: Found, answered: Callable[[str], bool]) -> None:
        self._id, self._found, self._answered = id, found, answered
        self.parts: list[Part] = []
        self._results: dict[str, ToolResult] = {}
        self._calls: set[str] = set()
        self._plain = True
        """Whether the parts say all that its content says."""

    def thought(self, thought: dict[str, Any]) -> None:
        words = [text(thought.get("subject")), text(thought.get("description"))]
        if said := "\n".join(filter(None, words)):
            self.parts.append(Reasoning(said))

    def piece(self, piece: Any) -> None:
        """One part of the content, as the API writes it."""
        if type(piece) is str:
            self.parts.append(Text(piece))
            return
        fields = table(piece)
        self._plain = self._plain and fields.keys() == {"text"}
        if text(fields.get("text")):
            kind = Reasoning if fields.get("thought") is True else Text
            self.parts.append(kind(fields["text"]))
        elif media := _media(fields):
            self.parts.append(media)
        elif call := table(fields.get("functionCall")):
            self._ask(text(call.get("id")), call, f"{self._id}.{len(self._calls)}")
        elif answer := table(fields.get("functionResponse")):
            self._answer(text(answer.get("id")), [fields], text(answer.get("name")), "")

    def call(self, call: dict[str, Any], number: int) -> None:
        """A tool that was called, and how that ended."""
        id = self._ask(text(call.get("id")), call, f"{self._id}.call-{number}")
        status = text(call.get("status"))
        pieces = rows(call.get("result"))
        if not pieces and status in ("error", "cancelled"):
            shown = text(call.get("resultDisplay")) or f"[{status}]"
            pieces = [{"functionResponse": {"response": {"error": shown}}}]
        if pieces:
            self._answer(id, pieces, text(call.get("name")), status)

    def _ask(self, id: str, call: dict[str, Any], otherwise: str) -> str:
        id = id or otherwise
        if id not in self._calls:
            self._calls.add(id)
            args = wire.encode(call.get("args", {})).decode("utf-8", "surrogatepass")
            self.parts.append(ToolCall(id, text(call.get("name")) or "unnamed", args))
        return id

    def _answer(self, id: str, pieces: list[Any], name: str, status: str) -> None:
        if not id or id in self._results or self._answered(id):
            return
        texts, media, failed = _answers(pieces)
        self._results[id] = ToolResult(
            call=id, output="\n".join(texts), error=failed or status in ("error", "cancelled"),
            name=name, media=tuple(media),
        )  # fmt: skip

    def turn(self) -> Turn:
        found, model = self._found, _kind(self._found) in MODEL
        created = milliseconds(found.fields.get("timestamp"))
        record = _left(found, self._plain)
        said: list[MessageRead] = []
        if self.parts:
            said.append(MessageRead(
                message=Message("assistant" if model else "user", tuple(self.parts)),
                created=created, completed=created, native=self._id, records=(record,),
                provider=OWNER if model else "", model=found.text("model") if model else "",
            ))  # fmt: skip
        if self._results:
            last = _ended(found) or created
            answered = Message("tool", tuple(self._results.values()))
            said.append(MessageRead(
                message=answered, created=last, completed=last,
                native=f"{self._id}#answers", records=() if said else (record,),
            ))  # fmt: skip
        words = "\n".join(part.text for part in self.parts if isinstance(part, Text))
        answers = {id: _print(one.output) for id, one in self._results.items()}
        core = _print([model, self.parts, sorted(answers)])
        return Turn(
            self._id, found, tuple(said), record,
            _called(found, self._id, created) if model else None,
            "" if model or SNAPSHOT not in words else words, core, answers,
        )  # fmt: skip


def _answers(pieces: list[Any]) -> tuple[list[str], list[Media], bool]:
    """What a tool answered: its words, its pictures, and whether it failed."""
    texts: list[str] = []
    media: list[Media] = []
    failed = False
    for piece in map(table, pieces):
        answer = table(piece.get("functionResponse"))
        response = answer.get("response")
        fields = table(response)
        told = next((fields[name] for name in ("output", "error") if name in fields), response)
        failed = failed or "error" in fields
        if told is not None or answer:
            said = told if type(told) is str else wire.encode(told).decode("utf-8", "replace")
            texts.append(said)
        elif text(piece.get("text")):
            texts.append(piece["text"])
        inner = (piece, *map(table, rows(answer.get("parts"))))
        media += [found for one in inner if (found := _media(one))]
    return texts, media, failed


def _media(piece: dict[str, Any]) -> Media | None:
    inline = table(piece.get("inlineData"))
    return picture(text(inline.get("mimeType")), text(inline.get("data"))) if inline else None


def _ended(found: Found) -> int:
    """When the last of its tools had answered."""
    calls = map(table, rows(found.fields.get("toolCalls")))
    return max((milliseconds(call.get("timestamp")) for call in calls), default=0)


def _called(found: Found, id: str, created: int) -> CallRead | None:
    tokens = found.table("tokens")
    sent, cached = count(tokens.get("input")), count(tokens.get("cached"))
    thought = count(tokens.get("thoughts"))
    usage = Usage(
        input=max(sent - cached, 0) + count(tokens.get("tool")), cache_read=cached,
        output=count(tokens.get("output")) + thought, reasoning=thought,
    )  # fmt: skip
    if usage == Usage():
        return None
    model = found.text("model")
    return CallRead(
        usage=usage, request=id, started=created, ended=created, provider=OWNER, model=model
    )


def _left(found: Found, plain: bool) -> Record:
    """A message without what its parts say in full."""
    kind = _kind(found) or "untyped"
    try:
        members = msgspec.json.decode(found.data, type=dict[str, msgspec.Raw])
        if plain and type(found.fields.get("content")) in (str, list):
            members.pop("content", None)
        if "toolCalls" in members:
            members["toolCalls"] = msgspec.Raw(_calls(bytes(members["toolCalls"])))
    except UNREADABLE:
        return Record(AGENT, kind, found.data, found.line)
    return Record(AGENT, kind, msgspec.json.encode(members), found.line)


def _calls(data: bytes) -> bytes:
    """Calls without what was asked, and without answers that are only words."""
    calls = msgspec.json.decode(data, type=list[dict[str, msgspec.Raw]])
    for call in calls:
        call.pop("args", None)
        if _is_plain(msgspec.json.decode(call.get("result", b"null"))):
            call.pop("result", None)
    return msgspec.json.encode(calls)


def _is_plain(result: Any) -> bool:
    if type(result) is not list or len(result) != 1 or table(result[0]).keys() != {
        "functionResponse"
    }:  # fmt: skip
        return False
    answer = table(result[0]["functionResponse"])
    response = table(answer.get("response"))
    named = answer.keys() <= {"id", "name", "response"}
    return named and len(response) == 1 and type(response.get("output")) is str


def _print(value: object) -> bytes:
    return blake2b(wire.encode(value), digest_size=8).digest()
