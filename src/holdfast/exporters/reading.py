"""What people read of a log: each entry as a heading and pieces of plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from holdfast.exporters.native import when
from holdfast.model.log import (
    Checkpoint,
    Clear,
    Context,
    Damaged,
    Entry,
    Marker,
    Notes,
    Pin,
    Records,
    Redo,
    Repair,
    Rewind,
    Session,
    Summary,
    Switch,
    Undo,
    Unpin,
    kind_of,
)
from holdfast.model.message import (
    Media,
    Message,
    Opaque,
    Part,
    Patch,
    Reasoning,
    Snapshot,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)


class Piece(Struct, frozen=True):
    """Some text: words as they were said, or something long beneath a line that names it."""

    kind: Literal["said", "long", "note"]
    text: str
    label: str = ""


def facts(session: Session) -> Iterator[tuple[str, str]]:
    """What a session is."""
    told = (
        ("Session", session.id),
        ("Agent", session.agent),
        ("Model", session.model),
        ("Directory", session.directory),
        ("Begun", when(session.created) if session.created else ""),
        ("Changed", when(session.updated) if session.updated else ""),
        ("Entries", f"{session.head:,}"),
    )
    return ((name, value) for name, value in told if value)


class Calls:
    """Which tool each result is of: the one whose call it answers, where it does not say."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def named(self, entry: Entry) -> Entry:
        """The entry, each result with its tool's name."""
        body = entry.body
        if not isinstance(body, Message):
            return entry
        self._names |= {part.id: part.name for part in body.parts if isinstance(part, ToolCall)}
        parts = tuple(map(self._result, body.parts))
        return replace(entry, body=replace(body, parts=parts)) if parts != body.parts else entry

    def _result(self, part: Part) -> Part:
        if not isinstance(part, ToolResult) or part.name:
            return part
        return replace(part, name=self._names.get(part.call, ""))


def heading(entry: Entry, *, visible: bool) -> str:
    """Who spoke, when; and whether it has left the window."""
    body = entry.body
    who = body.role if isinstance(body, Message) else kind_of(body)
    told = [f"#{entry.seq} {who}", when(entry.created) if entry.created else "", entry.model]
    if isinstance(body, Message) and not visible:
        told.append("no longer in the window")
    return " · ".join(filter(None, told))


def pieces(entry: Entry) -> Iterator[Piece]:
    """What an entry says; what an importer kept besides is not for reading."""
    if isinstance(entry.body, Message):
        for part in entry.body.parts:
            if tell := _PARTS.get(type(part)):
                yield from (piece for piece in tell(part) if piece.text)
    else:
        yield from (piece for piece in _marker(entry.body) if piece.text)


def _text(part: Text) -> Iterator[Piece]:
    yield Piece("long", part.text, part.scaffold) if part.scaffold else Piece("said", part.text)


def _reasoning(part: Reasoning) -> Iterator[Piece]:
    if part.text or not part.seal:
        yield Piece("long", part.text, "thought")
    else:
        yield Piece("note", f"a thought that only {part.seal.owner} can read")


def _call(part: ToolCall) -> Iterator[Piece]:
    yield Piece("long", part.input or "{}", f"calls {part.name}")


def _result(part: ToolResult) -> Iterator[Piece]:
    ended = "failed" if part.error else "answered"
    yield Piece("long", part.output or "(nothing)", f"{part.name or 'a tool'} {ended}")
    for one in part.media:
        yield from _media(one)


def _media(part: Media) -> Iterator[Piece]:
    size = f"{len(part.data):,} bytes" if part.data else "elsewhere"
    yield Piece("note", ", ".join(filter(None, (part.type, part.name, size))))


def _summary(part: SummaryText) -> Iterator[Piece]:
    yield Piece("long", part.text, "summary")


def _patch(part: Patch) -> Iterator[Piece]:
    yield Piece("long", part.diff, "patch")


def _snapshot(part: Snapshot) -> Iterator[Piece]:
    yield Piece("note", f"the state of the files: {part.name}")


def _subtask(part: Subtask) -> Iterator[Piece]:
    yield Piece("long", part.prompt, f"subtask {part.session}")
    yield Piece("long", part.result, f"subtask {part.session} answered")


def _opaque(part: Opaque) -> Iterator[Piece]:
    yield Piece("note", f"a block that only {part.owner} can read ({part.type})")


_PARTS: dict[type[Part], Callable[[Any], Iterator[Piece]]] = {
    Text: _text,
    Reasoning: _reasoning,
    ToolCall: _call,
    ToolResult: _result,
    Media: _media,
    SummaryText: _summary,
    Patch: _patch,
    Snapshot: _snapshot,
    Subtask: _subtask,
    Opaque: _opaque,
}


def _marker(body: Marker) -> Iterator[Piece]:
    if isinstance(body, Summary):
        covered = ", ".join(f"#{span.first} to #{span.last}" for span in body.covers)
        yield Piece("note", f"stands for {covered}")
        yield Piece("said", body.text)
        yield Piece("long", body.ledger, "ledger")
    elif isinstance(body, Notes):
        yield Piece("long", body.text, f"running notes up to #{body.upto}")
    elif isinstance(body, Context):
        for name, text in body.sections.items():
            yield Piece("long", text, name)
    else:
        yield Piece("note", _SHORT[type(body)](body))


def _pinned(body: Pin) -> str:
    return body.fact or body.path or f"entry #{body.seq}"


_SHORT: dict[type, Callable[[Any], str]] = {
    Clear: lambda body: f"{len(body.parts):,} outputs left the window",
    Pin: _pinned,
    Unpin: lambda body: body.pin,
    Rewind: lambda body: f"goes on from #{body.to} {body.reason}".rstrip(),
    Checkpoint: lambda body: body.label or f"before #{body.prompt}",
    Switch: lambda body: f"goes on with {body.wanted or body.model or body.policy}",
    Repair: lambda body: f"{body.rule} {body.action} {body.reason}".strip(),
    Undo: lambda body: f"#{body.marker} no longer counts",
    Redo: lambda body: f"#{body.marker} counts again",
    Damaged: lambda body: f"{len(body.data):,} bytes that could not be read: {body.reason}",
    Records: lambda body: f"{len(body.records):,} records kept by an importer",
}
