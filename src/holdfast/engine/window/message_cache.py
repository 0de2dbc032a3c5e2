"""What of a log a window shows, read once for as long as its session is held open.

An entry never changes, so what was read for the last window is read again by nobody: from turn to
turn only what has been appended since is asked of the store.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.window.truncate import Cap, all_shown
from holdfast.engine import loading
from holdfast.model.log import Entry, PartRef
from holdfast.model.span import Spans, clip, within, without
from holdfast.model.view import View
from holdfast.ports import Counts, Log, Store

WORTH = 4_096
"""Fewer tokens than this are counted again in less time than it takes to write them down."""


WHOLE = Cap()


class Held(Struct, frozen=True):
    """What was read of one session: every message inside some stretches of it."""

    session: str = ""
    spans: Spans = ()
    messages: tuple[Entry, ...] = ()
    cap: Cap = WHOLE
    """Long outputs are held as they are shown."""
    cut: frozenset[int] = frozenset()
    """The messages that are shown otherwise than the log has them."""


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

    @property
    def cut(self) -> frozenset[int]:
        """The messages that are shown otherwise than the log has them."""
        return self._held.cut

    async def messages(self, view: View, cap: Cap = WHOLE) -> tuple[Entry, ...]:
        """Every message that a view shows, its long outputs cut."""
        held = self._of(view.session.id, cap)
        spans = view.spans
        fresh = await loading.read(self._log, view.session.id, without(spans, held.spans))
        return self._hold(held, view, spans, fresh)

    async def few(self, view: View, cap: Cap = WHOLE) -> tuple[Entry, ...] | None:
        """The same, where no more than a page has to be read for it; otherwise None."""
        held = self._of(view.session.id, cap)
        spans = view.spans
        missing = without(spans, held.spans)
        page: tuple[Entry, ...] = ()
        if missing:
            page = await self._log.read(view.session.id, missing, limit=loading.PAGE, bare=True)
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

    def _of(self, session: str, cap: Cap) -> Held:
        held = self._held
        same = held.session == session and held.cap == cap
        return held if same else Held(session, cap=cap)

    def _hold(
        self, held: Held, view: View, spans: Spans, fresh: list[Entry] | tuple[Entry, ...]
    ) -> tuple[Entry, ...]:
        if spans != held.spans:
            kept = held.messages
            if without(held.spans, spans):
                kept = tuple([entry for entry in kept if within(entry.seq, spans)])
            added = [entry for entry in fresh if entry.is_message]
            cut = held.cut
            if held.cap:
                whole, added = added, all_shown(added, held.cap)
                pairs = zip(whole, added, strict=True)
                cut |= {new.seq for old, new in pairs if new is not old}
            together = (*kept, *added)
            if kept and added and added[0].seq < kept[-1].seq:
                together = tuple(sorted(together, key=_seq))
            self._held = held = Held(view.session.id, spans, together, held.cap, cut)
        return held.messages


def _seq(entry: Entry) -> int:
    return entry.seq
