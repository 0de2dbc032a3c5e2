"""Loading: markers back to the newest standing Summary, then only what is visible, in pages."""

from __future__ import annotations

from collections.abc import AsyncIterator

from holdfast.core.fold import fold, resume
from holdfast.model.log import Entry, Folded, Session
from holdfast.model.message import Message
from holdfast.model.span import Spans, clip
from holdfast.model.view import View, place_of
from holdfast.ports import Log

FIRST_PAGE = 16
"""How many markers are read at first; each further page is twice as large."""

PAGE = 512
"""How many entries are read at once: most windows are one page; a store ends large pages early."""


async def standing(log: Log, session: str, last: int) -> Folded:
    """What the markers up to an entry leave standing."""
    markers: tuple[Entry, ...] = ()
    before, limit = last + 1, FIRST_PAGE
    while True:
        page = await log.markers(session, before=before, limit=limit)
        markers = (*page, *markers)
        if (state := resume(markers)) is not None:
            return state
        if len(page) < limit:
            return fold(markers)
        before, limit = page[0].seq, limit * 2


async def view(log: Log, session: Session, at: int | None = None) -> View:
    """The session as it is seen at an entry; at its newest when none is named."""
    last = session.head if at is None else min(at, session.head)
    return View(session=session, folded=await standing(log, session.id, last), last=last)


async def pages(log: Log, session: str, spans: Spans) -> AsyncIterator[tuple[Entry, ...]]:
    """The entries inside some spans, page after page."""
    left = spans
    while left:
        page = await log.read(session, left, limit=PAGE)
        if not page:
            return
        yield page
        left = clip(left, page[-1].seq + 1)


async def read(log: Log, session: str, spans: Spans) -> list[Entry]:
    """The entries inside some spans, all at once: for what a window can hold."""
    found: list[Entry] = []
    async for page in pages(log, session, spans):
        found += page
    return found


async def seen(log: Log, view: View) -> AsyncIterator[list[Entry]]:
    """The visible messages and the standing summaries, in the order they are read, in pages."""
    summaries = await read(log, view.session.id, view.standing) if view.standing else []
    summaries.sort(key=place_of)
    async for page in pages(log, view.session.id, view.spans):
        shown: list[Entry] = []
        for entry in page:
            if isinstance(entry.body, Message):
                while summaries and place_of(summaries[0]) < entry.seq:
                    shown.append(summaries.pop(0))
                shown.append(entry)
        yield shown
    yield summaries
