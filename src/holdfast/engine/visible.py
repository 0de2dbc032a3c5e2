"""What of a log a window shows, read once for as long as its session is held open.

An entry never changes, so what was read for the last window is read again by nobody: from turn to
turn only what has been appended since is asked of the store.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from holdfast.engine import load
from holdfast.model.log import Entry, PartRef
from holdfast.model.span import Spans, clip, within, without
from holdfast.model.view import View
from holdfast.ports import Counts, Log, Store

WORTH = 4_096
"""Fewer tokens than this are counted again in less time than it takes to write them down."""


class Held(Struct, frozen=True):
    """What was read of one session: every message inside some stretches of it."""

    session: str = ""
    spans: Spans = ()
    messages: tuple[Entry, ...] = ()


class Tallied(Struct, frozen=True):
    """What one counter has counted inside some stretches of a session."""

    session: str = ""
    counter: str = ""
    spans: Spans = ()
    counts: dict[PartRef, int] = {}
    unwritten: dict[PartRef, int] = {}
    """Of these, what the store has not been told yet."""


class Visible:
    """The messages that the windows of one open session show, and what they count."""

    def __init__(self, store: Store) -> None:
        self._log: Log = store.log
        self._counts: Counts = store.counts
        self._held = Held()
        self._tallied = Tallied()

    async def messages(self, view: View) -> tuple[Entry, ...]:
        """Every message that a view shows."""
        held = self._of(view.session.id)
        spans = view.spans
        fresh = await load.read(self._log, view.session.id, without(spans, held.spans))
        return self._hold(held, view, spans, fresh)

    async def few(self, view: View) -> tuple[Entry, ...] | None:
        """The same, where no more than a page has to be read for it; otherwise None."""
        held = self._of(view.session.id)
        spans = view.spans
        missing = without(spans, held.spans)
        page = await self._log.read(view.session.id, missing, limit=load.PAGE) if missing else ()
        if missing and (not page or clip(missing, page[-1].seq + 1)):
            return None
        return self._hold(held, view, spans, page)

    async def known(self, view: View, counter: str) -> dict[PartRef, int]:
        """What a counter has counted of what a view shows."""
        id, spans, held = view.session.id, view.spans, self._tallied
        if (held.session, held.counter) != (id, counter):
            held = Tallied(id, counter)
        if spans != held.spans:
            counts = held.counts
            if without(held.spans, spans):
                counts = {ref: n for ref, n in counts.items() if within(ref.seq, spans)}
            if missing := without(spans, held.spans):
                counts = {**counts, **await self._counts.known(id, missing, counter)}
            self._tallied = held = Tallied(id, counter, spans, counts, held.unwritten)
        return held.counts

    def learn(self, session: str, counter: str, learned: dict[PartRef, int]) -> None:
        """Remember what has just been counted, while the session is held open."""
        held = self._tallied
        if (held.session, held.counter) == (session, counter):
            counts, unwritten = {**held.counts, **learned}, {**held.unwritten, **learned}
            self._tallied = replace(held, counts=counts, unwritten=unwritten)

    async def write(self) -> None:
        """Tell the store what was counted, once that is worth a transaction."""
        held = self._tallied
        if sum(held.unwritten.values()) >= WORTH:
            await self._counts.tally(held.session, held.counter, held.unwritten)
            self._tallied = replace(self._tallied, unwritten={})

    def _of(self, session: str) -> Held:
        return self._held if self._held.session == session else Held(session)

    def _hold(
        self, held: Held, view: View, spans: Spans, fresh: list[Entry] | tuple[Entry, ...]
    ) -> tuple[Entry, ...]:
        if spans != held.spans:
            kept = held.messages
            if without(held.spans, spans):
                kept = tuple([entry for entry in kept if within(entry.seq, spans)])
            added = [entry for entry in fresh if entry.is_message]
            together = (*kept, *added)
            if kept and added and added[0].seq < kept[-1].seq:
                together = tuple(sorted(together, key=_seq))
            self._held = held = Held(view.session.id, spans, together)
        return held.messages


def _seq(entry: Entry) -> int:
    return entry.seq
