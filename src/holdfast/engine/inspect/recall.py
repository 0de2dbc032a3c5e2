"""Bringing back what left the window, for a model or a person; within a budget, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from holdfast.core.extract.names import Names
from holdfast.core.log.tool_input import arguments
from holdfast.core.log.transcript_text import told
from holdfast.core.search.dates import asked_times
from holdfast.core.search.searchable_text import searchable_body
from holdfast.core.window.recall import TOOLS_OF_RECALL, Stretch, piece, read_handle
from holdfast.engine import loading
from holdfast.engine.inspect.lookup import alike
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.log import Entry, Handle
from holdfast.model.message import Message, ToolCall, ToolResult
from holdfast.model.search import Hit, Query
from holdfast.model.span import Span

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext

SHARE = 8
"""What comes back at once takes at most this part of the window: an eighth."""

MOST = 8_000
"""And never more tokens than this."""

ASSUMED = 64_000
"""The window that is assumed where a session has no model."""

AHEAD = 20
"""So many names of the next page are told."""

HITS = 8

BEYOND = 4
"""So many times as many hits are looked at: earlier searches are among them."""

NAMES = frozenset(one.name for one in TOOLS_OF_RECALL)


class Recalled(Struct, frozen=True, kw_only=True):
    """Something that was brought back."""

    handle: str
    text: str
    next: int = 0
    """Where to go on; 0 where this was all of it."""
    total: int = 0
    """How many characters there are in all."""
    ahead: tuple[str, ...] = ()
    """Names that stand on the next page."""


async def recall(
    session: SessionContext, handle: str | int, *, offset: int = 0, tokens: int = 0
) -> Recalled:
    """What a handle stands for, word for word, from a character on and within a budget."""
    handle = f"#{handle}" if _is_number(str(handle)) else str(handle)
    whole = await _whole(session, handle)
    budget = tokens if tokens > 0 else _budget(session)
    text, following = piece(whole, offset, budget)
    ahead = _names(piece(whole, following, budget)[0], text) if following else ()
    return Recalled(handle=handle, text=text, next=following, total=len(whole), ahead=ahead)


def _names(text: str, shown: str) -> tuple[str, ...]:
    """The first names of a text that are not among what is shown already."""
    found = [name for name in Names(0).within(text) if name not in shown]
    return tuple(sorted(found, key=text.find)[:AHEAD])


def _is_number(handle: str) -> bool:
    return handle.isascii() and handle.isdigit()


def _budget(session: SessionContext) -> int:
    model = session.info.model
    window = session.catalogue.profile(model).window if model else ASSUMED
    return min(MOST, window // SHARE)


async def _whole(session: SessionContext, handle: str) -> str:
    named = read_handle(handle)
    if named is None:
        raise InvalidRequest(
            f"{handle!r} is no handle; write prt_…, an entry such as #12, or #12-#20"
        )
    if isinstance(named, Stretch):
        head = (await session.refresh()).head
        spans = (Span(max(named.first, 1), min(named.last, head)),)
        if spans[0].empty:
            raise NotFound(
                "entry",
                handle,
                (f"#{head}",) if head else (),
                "Name it, or one before it: it is the last.",
            )
        read = await loading.read(session.store.log, session.id, spans)
        return "\n\n".join(filter(None, map(_entry, read)))
    seq = await session.store.log.locate(session.id, named.entry)
    if seq is None:
        near = tuple(f"prt_{id}" for id in await alike(session, named.entry))
        raise NotFound("handle", handle, near, "Search the session for what was said.")
    (entry,) = await session.store.log.read(session.id, (Span(seq, seq),))
    return _entry(entry) if named.ordinal < 0 else _part(entry, named, handle)


def _entry(entry: Entry) -> str:
    return told(entry) or "\n".join(filter(None, searchable_body(entry.body)))


def _part(entry: Entry, named: Handle, handle: str) -> str:
    texts = searchable_body(entry.body)
    if named.ordinal >= len(texts):
        near = (str(Handle(entry.id, len(texts) - 1)),) if texts else ()
        raise NotFound(
            "part", handle, near, f"Name one of the {len(texts)} that entry #{entry.seq} has."
        )
    if isinstance(entry.body, Message):
        part = entry.body.parts[named.ordinal]
        return part.output if isinstance(part, ToolResult) else texts[named.ordinal]
    return texts[named.ordinal]


async def search_history(session: SessionContext, query: str, limit: int = HITS) -> str:
    """What was said in this session, also what is no longer shown: a handle and a line each.

    What was looked for before, and what came back then, is no finding: it would stand in front.
    """
    many = max(1, min(limit, 50))
    times = asked_times(query, session.now)
    found = await session.store.search.find(
        Query(words=query, session=session.id, any=True, prefer=times, limit=many * BEYOND)
    )
    hits = [hit for hit in found if not await _echoes(session, hit)][:many]
    if not hits:
        return f"Nothing in this conversation matches {query[:200]!r}."
    lines = [f"- {Handle(hit.entry, hit.ordinal)} (#{hit.seq}): {hit.snippet}" for hit in hits]
    text, _ = piece("\n".join(lines), 0, _budget(session))
    return text


async def _echoes(session: SessionContext, hit: Hit) -> bool:
    """Whether a hit is a call of the recall tools, or what they answered."""
    for entry in await session.store.log.read(session.id, (Span(hit.seq, hit.seq),)):
        if isinstance(entry.body, Message) and hit.ordinal < len(entry.body.parts):
            part = entry.body.parts[hit.ordinal]
            return isinstance(part, (ToolCall, ToolResult)) and part.name in NAMES
    return False


async def answer(session: SessionContext, call: ToolCall) -> ToolResult | None:
    """What one of the recall tools answers to a call; None where the call is another tool's."""
    if call.name not in NAMES:
        return None
    fields = arguments(call.input)
    try:
        text = await _answered(session, call.name, fields)
    except (InvalidRequest, ValueError, TypeError, OverflowError) as error:
        return ToolResult(call.id, str(error), error=True, name=call.name)
    return ToolResult(call.id, text, name=call.name)


async def _answered(session: SessionContext, name: str, fields: dict[str, Any]) -> str:
    if name == "search_history":
        return await search_history(
            session, str(fields.get("query", "")), int(fields.get("limit") or HITS)
        )
    found = await recall(
        session, str(fields.get("handle", "")), offset=int(fields.get("offset") or 0)
    )
    if not found.next:
        return found.text
    more = f"{found.total - found.next:,} of {found.total:,} characters more"
    ahead = f" · there: {', '.join(found.ahead)}" if found.ahead else ""
    return f"{found.text}\n[… {more} · recall {found.handle} offset {found.next}{ahead}]"
