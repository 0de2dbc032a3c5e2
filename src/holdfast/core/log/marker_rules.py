"""What a marker may say: the door refuses what breaks these rules, `holdfast doctor` reports it.

Rule 1: a marker names what comes before it, and only what is of the kind that it is about.
Rule 2: a marker says something: a Summary has a text and covers entries, a Pin has what it pins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.core.log.fold import REVERSIBLE
from holdfast.model.log import (
    Body,
    Checkpoint,
    Clear,
    Damaged,
    Notes,
    Pin,
    Redo,
    Rewind,
    Summary,
    Undo,
    Unpin,
    kind_of,
)  # fmt: skip
from holdfast.model.span import normal, within

Name = int | str
"""An entry by its seq, or by its id."""

Kinds = Mapping[Name, str]
"""The kind of an entry by its name; of one that is not there, none."""

_UNDOABLE = tuple(kind_of(marker) for marker in REVERSIBLE)
_LOST = kind_of(Damaged)
"""What could not be read any more may have been of any kind."""


def named(marker: Body) -> tuple[Name, ...]:
    """The entries whose kind `faults` has to know."""
    match marker:
        case Undo() | Redo():
            return (marker.marker,)
        case Summary():
            return marker.merges
        case Unpin():
            return (marker.pin,)
        case _:
            return ()


def faults(marker: Body, head: int, kinds: Kinds) -> Iterator[str]:
    """What is wrong with a marker that comes after entry `head`; nothing ever is with a message.

    `kinds` has the kind of each entry that `named` gives.
    """
    for seq in places(marker):
        if seq < 1:
            yield f"it names entry {seq}, and the first is 1"
        elif seq > head:
            yield f"it names entry {seq}, which does not come before it; the last is {head}"
    known = {name: kinds.get(name, "") for name in named(marker) if _inside(name, head)}
    check = _CHECKS.get(type(marker))
    if check:
        yield from check(marker, known)


def _inside(name: Name, head: int) -> bool:
    return isinstance(name, str) or 1 <= name <= head


def _summary(marker: Summary, kinds: Kinds) -> Iterator[str]:
    if not marker.text.strip():
        yield "it has no text"
    if not marker.covers or any(span.empty for span in marker.covers):
        yield "it covers nothing, or a stretch that ends before it begins"
    yield from _kept(marker)
    for seq in marker.merges:
        if not _is(kinds, seq, kind_of(Summary)):
            yield f"it merges entry {seq}, which is no Summary"


def _kept(marker: Summary) -> Iterator[str]:
    for seq in marker.kept:
        if not within(seq, normal(marker.covers)):
            yield f"it keeps entry {seq}, which it does not cover"
    for seq in (*(one.seq for one in marker.shortened), *filter(None, (marker.asked,))):
        if seq not in marker.kept:
            yield f"it says how entry {seq} is kept, and does not keep it"


def _clear(marker: Clear, kinds: Kinds) -> Iterator[str]:
    if any(ref.ordinal < 0 for ref in marker.parts):
        yield "it names a part below 0"


def _notes(marker: Notes, kinds: Kinds) -> Iterator[str]:
    if not marker.text.strip():
        yield "it has no text"


def _pin(marker: Pin, kinds: Kinds) -> Iterator[str]:
    if not (marker.seq or marker.fact or marker.path):
        yield "it pins nothing; name an entry, a fact or a path"


def _unpin(marker: Unpin, kinds: Kinds) -> Iterator[str]:
    if not _is(kinds, marker.pin, kind_of(Pin)):
        yield f"there is no Pin {marker.pin!r} to end"


def _undo(marker: Undo | Redo, kinds: Kinds) -> Iterator[str]:
    if not _is(kinds, marker.marker, *_UNDOABLE):
        yield f"it names entry {marker.marker}, which is no Summary, Clear, Rewind or Checkpoint"


_CHECKS: dict[type, Callable[[Any, Kinds], Iterator[str]]] = {
    Summary: _summary,
    Clear: _clear,
    Notes: _notes,
    Pin: _pin,
    Unpin: _unpin,
    Undo: _undo,
    Redo: _undo,
}


def _is(kinds: Kinds, name: Name, *wanted: str) -> bool:
    return name not in kinds or kinds[name] in (*wanted, _LOST)


def places(marker: Body) -> list[int]:
    """Every seq that has to lie between 1 and the head."""
    match marker:
        case Summary():
            ends = [end for span in marker.covers for end in (span.first, span.last)]
            return [*ends, *marker.kept, *marker.merges]
        case Clear():
            return [ref.seq for ref in marker.parts]
        case Notes():
            return [marker.upto]
        case Pin():
            return [marker.seq] if marker.seq else []
        case Checkpoint():
            return [marker.prompt] if marker.prompt else []
        case Rewind():
            return [marker.to] if marker.to else []  # 0 is the very beginning
        case Undo() | Redo():
            return [marker.marker]
        case _:
            return []
