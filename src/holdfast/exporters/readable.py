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
    SessionInfo,
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
    fields,
)


class Piece(Struct, frozen=True):
    """Some text: words as they were said, or something long beneath a line that names it."""

    kind: Literal["said", "long", "note"]
    text: str
    label: str = ""
    about: str = ""
    """Of something long the words that tell most of it: a command, a path, a first line."""
    failed: bool = False


def facts(session: SessionInfo) -> Iterator[tuple[str, str]]:
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
    who = speaker(body) if isinstance(body, Message) else kind_of(body)
    told = [f"#{entry.seq} {who}", when(entry.created) if entry.created else "", entry.model]
    if isinstance(body, Message) and not visible:
        told.append("no longer in the window")
    return " · ".join(filter(None, told))


def speaker(message: Message) -> str:
    """Who speaks: the role, but `tool` where a user's message only carries results (as some
    formats have it), `summary` where it only tells one, `context` where a program wrote all of it.
    """
    parts = [part for part in message.parts if not isinstance(part, Opaque)]
    if message.role != "user" or not parts:
        return message.role
    if all(isinstance(part, ToolResult) for part in parts):
        return "tool"
    if all(isinstance(part, SummaryText) for part in parts):
        return "summary"
    if all(isinstance(part, Text) and part.scaffold for part in parts):
        return "context"
    return message.role


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
    yield Piece("long", part.input or "{}", f"calls {part.name}", subject(part))


def _result(part: ToolResult) -> Iterator[Piece]:
    ended = "failed" if part.error else "answered"
    yield Piece(
        "long", part.output or "(nothing)", f"{part.name or 'a tool'} {ended}",
        first_words(part.output), failed=part.error,
    )  # fmt: skip
    for one in part.media:
        yield from _media(one)


SUBJECTS = (
    "command", "cmd", "script", "code", "file_path", "filePath", "path", "filename", "pattern",
    "query", "url", "title", "description", "prompt", "name", "input",
)  # fmt: skip
"""Fields that tell what a call is about, in the order they are looked for."""

MOST = 600
"""Letters of a command that are always shown."""

FIRST = 100
"""Letters of a result that are shown while it is folded."""


def subject(call: ToolCall) -> str:
    """What a call is about: its command, its path, what it looks for."""
    given = fields(call.input)
    for name in SUBJECTS:
        told: Any = given.get(name)
        words = " ".join(map(str, told)) if isinstance(told, list) else told
        if isinstance(words, str) and words.strip():
            return _cut(words.strip(), MOST)
    return "" if given else _cut(call.input.strip(), MOST)


def first_words(output: str) -> str:
    """How a result begins, and how many lines there are where those are more than one."""
    lines = output.strip().splitlines()
    if not lines:
        return ""
    more = f" · {len(lines):,} lines" if len(lines) > 1 else ""
    return f"{_cut(lines[0].strip(), FIRST)}{more}"


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"


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
