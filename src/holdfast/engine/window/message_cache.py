"""What of a log a window shows, read once for as long as its session is held open.

An entry never changes, so what was read for the last window is read again by nobody: from turn to
turn only what has been appended since is asked of the store. Results alone that share a bound with
others than before are read once more: how an output is cut depends on what is visible, and on
nothing that was looked at on the way there.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.window.truncate import Cap, all_shown, answers
from holdfast.engine import loading
from holdfast.model.log import Entry, PartRef
from holdfast.model.span import Span, Spans, clip, normal, within, without
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


class MessageCache:
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
        return await self._hold(held, view, spans, fresh)

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
        return await self._hold(held, view, spans, page)

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

    async def _hold(
        self, held: Held, view: View, spans: Spans, fresh: list[Entry] | tuple[Entry, ...]
    ) -> tuple[Entry, ...]:
        if spans == held.spans:
            return held.messages
        kept = held.messages
        if without(held.spans, spans):
            kept = tuple([entry for entry in kept if within(entry.seq, spans)])
        added, cut = [entry for entry in fresh if entry.is_message], held.cut
        if held.cap.together and (again := _regrouped(held.messages, kept, added)):
            once = normal(Span(seq, seq) for seq in again)
            added = sorted(
                (*await loading.read(self._log, view.session.id, once), *added), key=_seq
            )
            kept, cut = tuple([entry for entry in kept if entry.seq not in again]), cut - again
        if held.cap:
            whole, added = added, _shown(kept, added, held.cap)
            pairs = zip(whole, added, strict=True)
            cut |= {new.seq for old, new in pairs if new is not old}
        self._held = Held(view.session.id, spans, _merged(kept, added), held.cap, cut)
        return self._held.messages


def _regrouped(
    held: Sequence[Entry], kept: Sequence[Entry], added: Sequence[Entry]
) -> frozenset[int]:
    """The results that were held as they are cut, and share their bound with others now."""
    if len(kept) == len(held) and (not added or not kept or added[0].seq > kept[-1].seq):
        tail = next((at for at in range(len(held), 0, -1) if not answers(held[at - 1])), 0)
        held, kept = held[tail:], kept[tail:]  # only what is newest can be added to
    before = {seq: run for run in _runs(held) for seq in run}
    now = _runs(_merged(kept, added))
    return frozenset(seq for run in now for seq in run if before.get(seq, run) != run)


def _runs(messages: Sequence[Entry]) -> Iterator[tuple[int, ...]]:
    """The results that stand side by side, by their places."""
    for results, run in groupby(messages, key=answers):
        if results:
            yield tuple([entry.seq for entry in run])


def _shown(kept: Sequence[Entry], added: Sequence[Entry], cap: Cap) -> list[Entry]:
    """What was read, as it is shown; results with something held between them share no bound."""
    places = [entry.seq for entry in kept]
    pieces = groupby(added, key=lambda entry: bisect(places, entry.seq))
    return [entry for _, piece in pieces for entry in all_shown(piece, cap)]


def _merged(kept: Sequence[Entry], added: Sequence[Entry]) -> tuple[Entry, ...]:
    """Both in the order of the log."""
    together = (*kept, *added)
    if kept and added and added[0].seq < kept[-1].seq:
        return tuple(sorted(together, key=_seq))
    return together


def _seq(entry: Entry) -> int:
    return entry.seq
