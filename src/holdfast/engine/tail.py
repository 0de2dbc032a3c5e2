"""The newest entries of a view, read from its end: what came before is not walked through."""

from __future__ import annotations

from collections.abc import AsyncIterator

from msgspec import Struct

from holdfast.engine.load import pages, summaries
from holdfast.model.log import Entry
from holdfast.model.span import Span, Spans, clip, normal
from holdfast.model.view import View, place_of
from holdfast.ports import Log

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
