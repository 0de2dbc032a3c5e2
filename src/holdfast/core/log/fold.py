"""What the markers of a log leave standing.

Rule 1: only markers matter; messages are never read, since the last visible stretch is open.
Rule 2: a rewind puts the markers after its place out of force, as if they had not been appended.
        Pins, switches and repairs are settings rather than conversation: they stay in force.
Rule 3: an undo puts one Summary, Clear or Rewind out of force; a redo puts it back. Of several
        undos and redos of one marker the newest in force decides.
Rule 4: folding may begin at a Summary in force, from the state it carries, unless a later undo or
        redo reaches behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from holdfast.model.log import (
    Checkpoint,
    Clear,
    Context,
    Entry,
    Folded,
    Notes,
    Pin,
    Pinned,
    Redo,
    Repair,
    Rewind,
    Summary,
    Switch,
    Undo,
    Unpin,
)  # fmt: skip
from holdfast.model.message import Message
from holdfast.model.span import OPEN, Span, Spans, clip, union, within, without

START = Folded()

REVERSIBLE = (Summary, Clear, Rewind, Checkpoint)
"""What an Undo may name."""

CONVERSATION = (Summary, Clear, Notes, Context, Rewind, Undo, Redo)
"""What a rewind puts out of force when it lies behind its place."""


def fold(log: Iterable[Entry], start: Folded = START) -> Folded:
    """What stands after these entries, given in order; messages among them change nothing."""
    markers = [entry for entry in log if not isinstance(entry.body, Message)]
    state = start
    standing, undone = _standing_and_undone(markers)
    for entry in standing:
        state = _apply(state, entry)
    for entry in undone:
        state = _shield(state, entry)
    return replace(state, epoch=markers[-1].seq) if markers else state


def _shield(state: Folded, entry: Entry) -> Folded:
    """What was undone is not done again by itself."""
    if isinstance(entry.body, Summary):
        return replace(state, shielded=union(state.shielded, _covered(entry, entry.body)))
    if isinstance(entry.body, Clear):
        parts = {*state.unclearable, *entry.body.parts}
        return replace(state, unclearable=tuple(sorted(parts)))
    return state


def step(state: Folded, entry: Entry) -> Folded | None:
    """What stands after one more entry; None for Undo, Redo and Rewind, which fold again."""
    if isinstance(entry.body, Message):
        return state
    if isinstance(entry.body, (Undo, Redo, Rewind)):
        return None
    return replace(_apply(state, entry), epoch=entry.seq)


def _standing_and_undone(markers: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """The markers in force, and those that an undo in force names; both in order."""
    decided: dict[int, bool] = {}  # marker's seq -> undone, by the newest undo or redo in force
    standing: list[Entry] = []
    undone: list[Entry] = []
    floor = OPEN  # conversation markers at or above it are behind a rewind in force
    for entry in reversed(markers):
        body = entry.body
        if isinstance(body, CONVERSATION) and entry.seq > floor:
            continue
        if isinstance(body, (Undo, Redo)):
            decided.setdefault(body.marker, isinstance(body, Undo))
        elif decided.get(entry.seq) and isinstance(body, REVERSIBLE):
            undone.append(entry)
        else:
            standing.append(entry)
            floor = min(floor, body.to) if isinstance(body, Rewind) else floor
    return standing[::-1], undone[::-1]


def in_force(markers: Sequence[Entry]) -> list[Entry]:
    """The markers that count, given all of a log's in order."""
    return _standing_and_undone(markers)[0]


def undone(markers: Sequence[Entry]) -> list[Entry]:
    """The markers that would count if they were not undone, the one undone last at the end."""
    found = _standing_and_undone(markers)[1]
    when = {entry.body.marker: entry.seq for entry in markers if isinstance(entry.body, Undo)}
    return sorted(found, key=lambda entry: when[entry.seq])


def resumable(markers: Sequence[Entry]) -> int | None:
    """Where folding may begin: the index of the newest Summary whose carried state still holds.

    `markers` are the newest ones of a log, in order. None says that older ones are needed.
    """
    standing = {entry.seq for entry in _standing_and_undone(markers)[0]}
    reach = OPEN  # the earliest marker that an undo or redo seen so far names
    for index in range(len(markers) - 1, -1, -1):
        entry = markers[index]
        if isinstance(entry.body, Summary) and entry.seq in standing and entry.seq < reach:
            return index
        if isinstance(entry.body, (Undo, Redo)):
            reach = min(reach, entry.body.marker)
    return None


def resume(markers: Sequence[Entry]) -> Folded | None:
    """What stands, from the newest markers alone; None where older ones are needed."""
    index = resumable(markers)
    if index is None:
        return None
    base = markers[index].body
    assert isinstance(base, Summary)
    return fold(markers[index:], base.folded)


def _apply(state: Folded, entry: Entry) -> Folded:
    change = _CHANGES.get(type(entry.body))
    return change(state, entry, entry.body) if change else state


def _summarise(state: Folded, entry: Entry, body: Summary) -> Folded:
    covers = _covered(entry, body)
    still = without(state.visible, covers)
    kept = sorted({*body.kept, *(seq for seq in state.kept if not within(seq, covers))})
    seen = union(still, tuple(Span(seq, seq) for seq in kept))
    return replace(
        state,
        visible=still,
        kept=tuple(kept),
        shortened=tuple(
            sorted(
                {*body.shortened}
                | {one for one in state.shortened if one.seq in kept and one.seq not in body.kept}
            )
        ),
        asked=body.asked or (0 if within(state.asked, covers) else state.asked),
        summaries=(*(seq for seq in state.summaries if seq not in body.merges), entry.seq),
        cleared=tuple(ref for ref in state.cleared if within(ref.seq, seen)),
        base=state.context,
    )


def _covered(entry: Entry, body: Summary) -> Spans:
    return clip(body.covers, 1, entry.seq - 1)  # never what is appended later


def _clear(state: Folded, entry: Entry, body: Clear) -> Folded:
    return replace(state, cleared=tuple(sorted({*state.cleared, *body.parts})))


def _pin(state: Folded, entry: Entry, body: Pin) -> Folded:
    pinned = Pinned(entry.id, body.seq, body.fact, body.path, entry.seq)
    return replace(state, pins=(*state.pins, pinned))


def _unpin(state: Folded, entry: Entry, body: Unpin) -> Folded:
    return replace(state, pins=tuple(pin for pin in state.pins if pin.id != body.pin))


def _rewind(state: Folded, entry: Entry, body: Rewind) -> Folded:
    """Only what is seen ends: a marker in force lies before the place, and so does all it names."""
    last = min(body.to, entry.seq - 1)
    return replace(state, visible=(*clip(state.visible, 1, last), Span(entry.seq + 1)))


def _note(state: Folded, entry: Entry, body: Notes) -> Folded:
    return replace(state, notes=entry.seq)


def _note_context(state: Folded, entry: Entry, body: Context) -> Folded:
    return replace(state, context=entry.seq, base=state.base or entry.seq)


def _switch(state: Folded, entry: Entry, body: Switch) -> Folded:
    return replace(state, switch=entry.seq)


def _repair(state: Folded, entry: Entry, body: Repair) -> Folded:
    return replace(state, repairs=(*state.repairs, entry.seq))


_CHANGES: dict[type, Callable[[Folded, Entry, Any], Folded]] = {
    Summary: _summarise,
    Clear: _clear,
    Notes: _note,
    Pin: _pin,
    Unpin: _unpin,
    Rewind: _rewind,
    Context: _note_context,
    Switch: _switch,
    Repair: _repair,
}
