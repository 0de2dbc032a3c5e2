"""A reply from its stream of events, however the bytes are split.

Rule 1: numbers of usage are running totals: a later one replaces, and what it leaves out stands.
Rule 2: a stream is whole once `message_stop` came; before that it was cut short, and is `aborted`.
Rule 3: after an error, told or our own, nothing further is read.
"""

from __future__ import annotations

from holdfast.codecs.anthropic.blocks import Draft
from holdfast.codecs.anthropic.decode import failure, reply, served_by, stop_of
from holdfast.codecs.anthropic.raw import Garbled, fields, together, words
from holdfast.codecs.sse import Events
from holdfast.model.message import Part
from holdfast.model.reply import Delta, Reply, Stop


class StreamDecoder:
    """Reads one streamed reply."""

    def __init__(self) -> None:
        self._events = Events()
        self._told: dict[str, bytes] = {}
        self._usage: dict[str, bytes] = {}
        self._drafts: list[Draft] = []
        self._open: dict[bytes, Draft] = {}
        self._reason: str | None = None
        self._whole = False
        self._error = ""

    def feed(self, data: bytes) -> list[Delta]:
        """The pieces that these bytes complete."""
        found: list[Delta] = []
        try:
            for event in () if self._error else self._events.feed(data):
                found += self._take(event.data)
        except ValueError as garbled:
            self._error = str(garbled)
        return found

    def close(self) -> Reply:
        """The whole reply; `aborted` or `error` where the stream did not reach its end."""
        model = words(self._told.get("model")) or ""
        said = self._parts(model)
        if served := served_by(said):
            said = self._parts(served)
        told = self._told | ({"usage": together(self._usage)} if self._usage else {})
        try:
            return reply(told, said, self._stop(), self._error)
        except Garbled as garbled:
            return reply({}, said, "error", self._error or str(garbled))

    def _parts(self, model: str) -> list[Part]:
        return [part for draft in self._drafts for part in draft.parts(model)]

    def _stop(self) -> Stop:
        if self._error:
            return "error"
        return stop_of(self._reason) if self._whole else "aborted"

    def _take(self, data: bytes) -> list[Delta]:
        event = {} if self._error or self._whole else fields(data)
        match words(event.get("type")):
            case "content_block_start":
                return self._begin(event)
            case "content_block_delta":
                return self._continue(event)
            case "content_block_stop":
                self._end(event)
            case kind:
                self._about(kind, event)
        return []

    def _about(self, kind: str | None, event: dict[str, bytes]) -> None:
        """What is said of the message as a whole; pings and events of a later day say nothing."""
        if kind == "message_start":
            self._start(fields(event.get("message", b"{}")))
        elif kind == "message_delta":
            self._turn(event)
        elif kind == "message_stop":
            self._whole = True
        elif kind == "error":
            self._error = failure(event)

    def _start(self, message: dict[str, bytes]) -> None:
        told = {key: member for key, member in message.items() if key not in ("content", "usage")}
        self._told |= told
        self._count(message.get("usage"))

    def _turn(self, event: dict[str, bytes]) -> None:
        self._reason = words(fields(event.get("delta", b"{}")).get("stop_reason")) or self._reason
        if event.get("context_management", b"null") != b"null":
            self._told["context_management"] = event["context_management"]
        self._count(event.get("usage"))

    def _count(self, usage: bytes | None) -> None:
        if usage is not None and usage != b"null":
            told = fields(usage)
            self._usage |= {name: number for name, number in told.items() if number != b"null"}

    def _begin(self, event: dict[str, bytes]) -> list[Delta]:
        draft = Draft(fields(event.get("content_block", b"{}")))
        index = event.get("index", b"0")
        self._drafts.append(draft)
        self._open[index] = draft
        if draft.type != "tool_use":
            return []
        return [Delta(tool=words(draft.members.get("name")) or "", index=_number(index))]

    def _continue(self, event: dict[str, bytes]) -> list[Delta]:
        index = event.get("index", b"0")
        draft = self._open.get(index)
        if draft is None:
            return []
        name, piece = draft.add(fields(event.get("delta", b"{}")))
        place = _number(index)
        if not piece:
            return []
        if name == "text":
            return [Delta(text=piece, index=place)]
        if name == "thinking":
            return [Delta(reasoning=piece, index=place)]
        return [Delta(input=piece, index=place)]

    def _end(self, event: dict[str, bytes]) -> None:
        if draft := self._open.pop(event.get("index", b"0"), None):
            draft.closed = True


def _number(index: bytes) -> int:
    return int(index) if index.isdigit() and len(index) < 10 else 0
