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


async def read(log: Log, session: str, spans: Spans) -> AsyncIterator[Entry]:
    """The entries inside some spans, one page after the other."""
    left = spans
    while left:
        page = await log.read(session, left, limit=PAGE)
        for entry in page:
            yield entry
        if not page:
            return
        left = clip(left, page[-1].seq + 1)


async def seen(log: Log, view: View) -> AsyncIterator[Entry]:
    """The visible messages and the standing summaries, in the order they are read."""
    summaries = [entry async for entry in read(log, view.session.id, view.standing)]
    summaries.sort(key=place_of)
    async for entry in read(log, view.session.id, view.spans):
        if isinstance(entry.body, Message):
            while summaries and place_of(summaries[0]) < entry.seq:
                yield summaries.pop(0)
            yield entry
    for summary in summaries:
        yield summary
