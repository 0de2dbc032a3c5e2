"""Small builders: sessions, drafts and messages that need no thought, and text that is hostile."""

from __future__ import annotations

from itertools import count

from holdfast.engine.client import drive
from holdfast.model.job import Job
from holdfast.model.log import Body, Draft, Entry, SessionInfo
from holdfast.model.message import (
    Media,
    Message,
    Opaque,
    Part,
    Patch,
    Reasoning,
    Record,
    Snapshot,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
    opaque,
    seal,
)
from holdfast.model.reply import Call
from holdfast.model.span import EVERYTHING, Spans, clip
from holdfast.model.store import Expect
from holdfast.ports import Store

NOON = 1_760_000_000_000
"""A time, in ms."""

HOSTILE = (
    "a\0b",
    "\ud800",
    "\udfff alone",
    "\ud83d\ude00",  # two surrogates side by side: not the character they would encode
    "😀",
    "\u2028 and \u2029 and \u0085",
    "\r\n\t\x1b[31mred\x07",
    "\\u0000 \\ud800 \\",
    "'; DROP TABLE entries; --",
    '"quoted" {"json": null}',
    "\ufeff\u202e\u200b",
    "e\u0301 é ﬀ ß İ",
    " ",
    "",
)
"""Text that has broken stores before."""

_numbers = count(1)


def new_id() -> str:
    """An id of the usual length, greater than every one before it."""
    return f"{next(_numbers):026d}"


def session(id: str = "", **fields: object) -> SessionInfo:
    """A session that begins at noon."""
    return SessionInfo(**{"id": id or new_id(), "created": NOON, **fields})  # type: ignore[arg-type]


def draft(body: Body | str = "hello", **fields: object) -> Draft:
    """Something to append; a plain text becomes what a user said."""
    said = Message("user", (Text(body),)) if isinstance(body, str) else body
    return Draft(**{"id": new_id(), "body": said, "created": NOON, **fields})  # type: ignore[arg-type]


def entry(seq: int, body: Body | str = "hello", **fields: object) -> Entry:
    """An entry at a place in some session."""
    said = Message("user", (Text(body),)) if isinstance(body, str) else body
    told = {"id": f"e{seq}", "session": "s", "seq": seq, "body": said, "created": NOON, **fields}
    return Entry(**told)  # type: ignore[arg-type]


def call(session: str, **fields: object) -> Call:
    """A call of a model."""
    return Call(**{"id": new_id(), "session": session, "started": NOON, **fields})  # type: ignore[arg-type]


def job(session: str, **fields: object) -> Job:
    """Background work that waits."""
    told = {"id": new_id(), "kind": "summary", "session": session, "created": NOON, **fields}
    return Job(**told)  # type: ignore[arg-type]


def every_part(text: str) -> tuple[Part, ...]:
    """One part of each kind, with this text wherever text may stand."""
    raw = text.encode("utf-8", "surrogatepass")
    picture = Media(type=text, data=raw, url=text, name=text, width=1, height=2)
    return (
        Text(text, scaffold=text),
        Reasoning(text, seal(text, raw, text)),
        ToolCall(text, text, text),
        ToolResult(text, text, error=True, name=text, media=(picture,), started=1),
        picture,
        SummaryText(text),
        Patch(text, (text,)),
        Snapshot(text),
        Subtask(text, text, text),
        opaque(text, text, raw, text),
        Opaque(text, text, b"\x00\xff", text, text),
        Record(text, text, raw, 1, whole=True),
    )


def start(store: Store, id: str = "", **fields: object) -> str:
    """Create a session; its id."""
    return drive(store.sessions.create(session(id, **fields))).id


def append(
    store: Store, session: str, *bodies: Body | str, key: str = "", expect: Expect | None = None
) -> tuple[Entry, ...]:
    """Append these in one go."""
    drafts = [draft(body) for body in bodies]
    return drive(store.log.append(session, drafts, key=key, expect=expect))


def read_all(
    store: Store, session: str, spans: Spans = EVERYTHING, limit: int = 256
) -> tuple[Entry, ...]:
    """Every entry inside the spans, page by page."""
    found: list[Entry] = []
    while page := drive(store.log.read(session, spans, limit=limit)):
        found += page
        spans = clip(spans, page[-1].seq + 1)
    return tuple(found)
