"""Loading: markers back to the newest standing Summary, then only what is visible, in pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable

from msgspec import Struct

from holdfast.core.ledger.requests import prose, said
from holdfast.core.log.fold import fold, resume
from holdfast.core.window.scaffold import own_words
from holdfast.model.log import Entry, Folded, SessionInfo
from holdfast.model.message import Message, Text
from holdfast.model.span import OPEN, Span, Spans, clip, normal
from holdfast.model.view import View, place_of
from holdfast.ports import Log

FIRST_PAGE = 16
"""How many markers are read at first; each further page is twice as large."""

PAGE = 512
"""How many entries are read at once: most windows are one page; a store ends large pages early."""

OPENING = (Span(1, 40),)
"""Where the first words of a session are looked for: behind what a program says of itself."""


async def standing(log: Log, session: str, last: int) -> Folded:
    """What the markers up to an entry leave standing."""
    return (await _stand(log, session, last))[0]


async def _stand(log: Log, session: str, last: int) -> tuple[Folded, tuple[Entry, ...]]:
    """What stands, and the markers that were read to know it."""
    markers: tuple[Entry, ...] = ()
    before, limit = last + 1, FIRST_PAGE
    while True:
        page = await log.markers(session, before=before, limit=limit)
        markers = (*page, *markers)
        if (state := resume(markers)) is not None:
            return state, markers
        if len(page) < limit:
            return fold(markers), markers
        before, limit = page[0].seq, limit * 2


async def view(log: Log, session: SessionInfo, at: int | None = None) -> View:
    """The session as it is seen at an entry; at its newest when none is named."""
    last = session.head if at is None else min(at, session.head)
    folded, markers = await _stand(log, session.id, last)
    read = tuple(entry for entry in markers if entry.seq in folded.summaries)
    return View(session=session, folded=folded, last=last, read=read)


async def summaries(log: Log, view: View) -> list[Entry]:
    """The summaries that stand, in the order they are read."""
    known = {entry.seq for entry in view.read}
    rest = tuple(span for span in view.standing if span.first not in known)
    found = [*view.read, *(await read(log, view.session.id, rest) if rest else ())]
    return sorted(found, key=place_of)


async def pages(
    log: Log, session: str, spans: Spans, *, bare: bool = True
) -> AsyncIterator[tuple[Entry, ...]]:
    """The entries inside some spans, page after page; without what an importer kept if `bare`."""
    left = spans
    while left:
        page = await log.read(session, left, limit=PAGE, bare=bare)
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


async def messages(log: Log, session: str, spans: Spans) -> tuple[Entry, ...]:
    """The messages inside some spans."""
    return tuple([entry for entry in await read(log, session, spans) if entry.is_message])


async def markers(log: Log, session: str, spans: Spans) -> tuple[Entry, ...]:
    """The markers inside some spans."""
    return tuple([entry for entry in await read(log, session, spans) if not entry.is_message])


async def standing_repairs(log: Log, view: View) -> tuple[Entry, ...]:
    """What refusals have taught, as far as it is in force."""
    spans = tuple(Span(seq, seq) for seq in view.folded.repairs)
    return await markers(log, view.session.id, spans) if spans else ()


async def every_marker(log: Log, session: str) -> tuple[Entry, ...]:
    """All markers of a session, in order."""
    found: tuple[Entry, ...] = ()
    before, limit = OPEN, FIRST_PAGE
    while page := await log.markers(session, before=before, limit=limit):
        found = (*page, *found)
        before, limit = page[0].seq, limit * 2
    return found


async def kinds(log: Log, session: str, names: Iterable[int | str]) -> dict[int | str, str]:
    """The kind of each of these entries, named by seq or id; those that are not there have none."""
    found: dict[int | str, str] = {}
    for name in names:
        seq = await log.locate(session, name) if isinstance(name, str) else name
        for head in await log.heads(session, (Span(seq, seq),)) if seq else ():
            found[name] = head.kind
    return found


async def seen(log: Log, view: View) -> AsyncIterator[list[Entry]]:
    """The visible messages and the standing summaries, in the order they are read, in pages."""
    standing = await summaries(log, view)
    async for page in pages(log, view.session.id, view.seen):
        shown: list[Entry] = []
        for entry in page:
            if isinstance(entry.body, Message):
                while standing and place_of(standing[0]) < entry.seq:
                    shown.append(standing.pop(0))
                shown.append(entry)
        yield shown
    yield standing


async def opening(log: Log, session: str) -> str:
    """The first words the user said in a session; empty where they are not near its beginning.

    A command to the program itself, such as `/add cart.py`, only where nothing else was said.
    """
    command = ""
    for head in await log.heads(session, OPENING):
        if head.role == "user":
            for entry in await log.read(session, (Span(head.seq, head.seq),), bare=True):
                words = own_words_of(entry)
                if words and not _COMMAND.fullmatch(words):
                    return words
                command = command or words
    return command


_COMMAND = re.compile(r"/[a-z][\w-]*(?:[ \t][^\n]*)?")


def own_words_of(entry: Entry) -> str:
    """What somebody said themselves, without what another program wrapped around it."""
    parts = entry.body.parts if isinstance(entry.body, Message) else ()
    told = [part.text for part in parts if isinstance(part, Text) and not part.scaffold]
    if not entry.native:
        return "\n".join(filter(str.strip, map(str.strip, told)))
    own = Message("user", tuple(Text(own_words(text)) for text in told))
    return prose(said(own, imported=True), imported=True).strip()


STEP = 512
"""How many heads are looked at beside those that are wanted, each time more are needed."""

COUNTED = 4_096
"""Up to so many entries what is left out is counted; beyond, markers count as entries too."""


class Tail(Struct, frozen=True, kw_only=True):
    """Where the last entries of what a view shows are."""

    spans: Spans
    standing: tuple[Entry, ...] = ()
    """The summaries among them."""
    earlier: int = 0
    """How many more there are before them."""


async def tail(log: Log, view: View, many: int, *, whole: bool = False) -> Tail:
    """The newest `many` entries of what is visible, or of the whole log up to where a view ends."""
    if whole:
        spans = clip((Span(1, view.last),), view.last - many + 1)
        return Tail(spans=spans, earlier=max(view.last - many, 0))
    standing = await summaries(log, view)
    messages = await _newest(log, view, many)
    places = sorted([*map(float, messages), *map(place_of, standing)])[-many:]
    first = places[0] if places else 0.0
    spans = normal(Span(seq, seq) for seq in messages if seq >= first)
    shown = tuple(one for one in standing if place_of(one) >= first)
    last = spans[0].first - 1 if spans else int(first)
    earlier = len(standing) - len(shown) + await _messages(log, view, clip(view.seen, 1, last))
    return Tail(spans=spans, standing=shown, earlier=earlier)


async def tail_pages(log: Log, view: View, end: Tail) -> AsyncIterator[list[Entry]]:
    """The entries of a tail in the order they are read, in pages."""
    standing = list(end.standing)
    async for page in pages(log, view.session.id, end.spans):
        found = list(page)
        while standing and place_of(standing[0]) < page[-1].seq:
            found.append(standing.pop(0))
        yield sorted(found, key=place_of) if end.standing else found
    yield standing


async def size(log: Log, view: View, *, whole: bool = False) -> int:
    """How many entries would be shown."""
    if whole:
        return view.last
    return len(view.folded.summaries) + await _messages(log, view, view.seen)


async def _newest(log: Log, view: View, many: int) -> list[int]:
    """Where the newest messages of a view are, as many as are wanted."""
    found: list[int] = []
    left = view.seen
    while left and len(found) < many:
        heads = await log.heads(view.session.id, left, limit=many - len(found) + STEP)
        if not heads:
            break
        seqs = [head.seq for head in heads if head.kind == "message"]
        found = [*seqs, *found]
        left = clip(left, 1, heads[0].seq - 1)
    return found[-many:]


async def _messages(log: Log, view: View, spans: Spans) -> int:
    """How many messages some stretches hold; counted where they are short."""
    length = sum(span.last - span.first + 1 for span in spans)
    if not length or length > COUNTED:
        return length
    heads = await log.heads(view.session.id, spans, limit=COUNTED)
    return sum(head.kind == "message" for head in heads)
