"""Folding: step by step, from the newest markers, and all at once give the same."""

from collections.abc import Sequence
from functools import cache

from hypothesis import find, given, settings

from holdfast.core.log.fold import fold, resume, step
from holdfast.model.log import (
    Clear,
    Context,
    Entry,
    Folded,
    PartRef,
    Pin,
    Pinned,
    Redo,
    Rewind,
    Summary,
    Undo,
    Unpin,
)
from holdfast.model.span import OPEN
from holdfast.testing.strategies import logs

LONG = logs("mmSSCPURRcxwruuaa", min_size=15, max_size=40)
USUAL = logs("mmmmmmmmSSCCPxcRu", min_size=20, max_size=40)
"""Now and then something is rewound or undone."""


@given(logs(min_size=1))
def test_one_more_entry_is_one_more_step(log: tuple[Entry, ...]) -> None:
    after = step(fold(log[:-1]), log[-1])
    if isinstance(log[-1].body, (Undo, Redo, Rewind)):
        assert after is None
    else:
        assert after == fold(log)


@given(LONG)
def test_the_newest_markers_are_enough_wherever_they_say_so(log: tuple[Entry, ...]) -> None:
    markers = [entry for entry in log if not entry.is_message]
    whole = fold(log)
    for first in range(0, len(markers), 3):
        assert resume(markers[first:]) in (None, whole)


def test_loading_often_stops_long_before_the_beginning() -> None:
    stopped: list[bool] = []

    @settings(max_examples=60, database=None, derandomize=True)
    @given(USUAL)
    def count(log: tuple[Entry, ...]) -> None:
        markers = [entry for entry in log if not entry.is_message]
        stopped.append(resume(markers[len(markers) // 2 :]) is not None)

    count()
    assert sum(stopped) > len(stopped) / 3, f"{sum(stopped)} of {len(stopped)}"


@given(logs("mmSSSCCPURxuuaR", min_size=12, max_size=30))
def test_folding_is_what_the_rules_say_word_for_word(log: tuple[Entry, ...]) -> None:
    assert seen(fold(log), len(log)) == Oracle(log).state()


def test_the_logs_that_are_tried_hold_every_difficulty() -> None:
    undone_rewind = logs("mRu", max_size=12)
    find(undone_rewind, lambda log: any(_names(log, e, Rewind) for e in log))
    find(undone_rewind, lambda log: sum(isinstance(e.body, Rewind) for e in log) > 1)
    find(logs("mSua"), lambda log: any(isinstance(e.body, Redo) for e in log))
    find(LONG, lambda log: len(fold(log).visible) > 2 and bool(fold(log).kept))


def _names(log: Sequence[Entry], entry: Entry, kind: type) -> bool:
    return isinstance(entry.body, Undo) and isinstance(log[entry.body.marker - 1].body, kind)


State = tuple[set[int], set[int], list[int], set[PartRef], list[Pinned], set[int], int]


def seen(state: Folded, last: int) -> State:
    """A folded state as plain sets of numbers, as far as one entry behind the log."""
    assert state.visible[-1].last == OPEN
    return (
        {seq for span in state.visible for seq in range(span.first, min(span.last, last + 1) + 1)},
        set(state.kept),
        list(state.summaries),
        set(state.cleared),
        list(state.pins),
        {seq for span in state.shielded for seq in range(span.first, span.last + 1)},
        state.context,
    )


class Oracle:
    """The rules of folding, asked entry by entry, with no cleverness at all."""

    def __init__(self, log: Sequence[Entry]) -> None:
        self.log = log
        self.abandoned = cache(self._abandoned)
        self.undone = cache(self._undone)
        self.visible = set(range(1, len(log) + 2))
        self.kept, self.cleared, self.shielded = set[int](), set[PartRef](), set[int]()
        self.summaries, self.pins, self.context = list[int](), list[Pinned](), 0

    def _abandoned(self, seq: int) -> bool:
        """Whether a rewind in force goes back behind it; settings are never abandoned."""
        body = self.log[seq - 1].body
        return isinstance(body, (Summary, Clear, Context, Rewind, Undo, Redo)) and any(
            isinstance(later.body, Rewind)
            and later.body.to < seq
            and not self.abandoned(later.seq)
            and not self.undone(later.seq)
            for later in self.log[seq:]
        )

    def _undone(self, seq: int) -> bool:
        """Whether the newest undo or redo in force that names it is an undo."""
        said = [
            later.body
            for later in self.log[seq:]
            if isinstance(later.body, (Undo, Redo))
            and later.body.marker == seq
            and not self.abandoned(later.seq)
        ]
        reversible = isinstance(self.log[seq - 1].body, (Summary, Clear, Rewind))
        return reversible and bool(said) and isinstance(said[-1], Undo)

    def state(self) -> State:
        for entry in self.log:
            if not self.abandoned(entry.seq):
                change = self.shield if self.undone(entry.seq) else self.apply
                change(entry)
        return (
            self.visible, self.kept, self.summaries, self.cleared, self.pins, self.shielded,
            self.context,
        )  # fmt: skip

    def shield(self, entry: Entry) -> None:
        if isinstance(entry.body, Summary):
            self.shielded |= covered(entry)

    def apply(self, entry: Entry) -> None:
        match entry.body:
            case Summary():
                self.summarise(entry, entry.body)
            case Clear(parts=parts):
                self.cleared |= set(parts)
            case Pin(seq=seq, fact=fact, path=path):
                self.pins.append(Pinned(entry.id, seq, fact, path, entry.seq))
            case Unpin(pin=pin):
                self.pins = [pinned for pinned in self.pins if pinned.id != pin]
            case Context():
                self.context = entry.seq
            case Rewind(to=to):
                self.visible = {s for s in self.visible if s <= to or s > entry.seq}
                self.kept = {s for s in self.kept if s <= to}
                self.cleared = {ref for ref in self.cleared if ref.seq <= to}
            case _:
                pass

    def summarise(self, entry: Entry, body: Summary) -> None:
        self.visible -= covered(entry)
        self.kept = (self.kept - covered(entry)) | set(body.kept)
        self.summaries = [s for s in self.summaries if s not in body.merges] + [entry.seq]
        self.cleared = {ref for ref in self.cleared if ref.seq in self.visible | self.kept}


def covered(entry: Entry) -> set[int]:
    assert isinstance(entry.body, Summary)
    return {
        seq
        for span in entry.body.covers
        for seq in range(span.first, min(span.last, entry.seq - 1) + 1)
    }
