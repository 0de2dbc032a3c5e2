"""What stands at each marker of a session's line, told from the stored markers alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.log.fold import START, fold, step
from holdfast.model.log import (
    Context,
    Damaged,
    Entry,
    Folded,
    Marker,
    Redo,
    Rewind,
    Summary,
    Undo,
)  # fmt: skip
from holdfast.model.span import EVERYTHING
from holdfast.stores.health import raw_rows
from holdfast.stores.health.raw_rows import Found
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.keys import MOST_ENTRIES, seq_of
from holdfast.stores.sql.lineage import Lineage, ranges

_ID = "SELECT id FROM entries WHERE place = ?"
_COUNT = "SELECT count(*) FROM entries WHERE place BETWEEN ? AND ?"


class Stood(NamedTuple):
    """One marker, and what stood before it."""

    at: int
    entry: Entry
    before: Folded


def standing(db: Database, session: Found, line: Lineage) -> Iterator[Stood]:
    """Every marker of the line, its ancestors' too, in order; texts are let go of as it goes on."""
    folding = _Folding()
    for first, last in ranges(line, EVERYTHING):
        reached = first - 1
        for at, data in db.stream(raw_rows.MARKERS, (first, last)):
            folding.trusted = folding.trusted and _whole(db, reached + 1, at)
            reached = at
            ((id,),) = db.rows(_ID, (at,)) or [("",)]
            body = raw_rows.read_marker(at, data)
            entry = Entry(id=id, session=session.id, seq=seq_of(at), body=body, created=0)
            yield Stood(at, entry, folding.before(entry))
            folding.add(replace(entry, body=_light(body)))
        if seq_of(last) < MOST_ENTRIES:
            folding.trusted = folding.trusted and _whole(db, reached + 1, last)


def _whole(db: Database, first: int, last: int) -> bool:
    return db.rows(_COUNT, (first, last))[0][0] == last - first + 1


class _Folding(Struct):
    """The fold so far, and whether the markers seen are all there were."""

    seen: list[Entry] = []
    base: Folded = START
    floor: int = 0
    """The Summary whose carried state was believed; what reaches behind it cannot be followed."""
    state: Folded = START
    trusted: bool = True

    def before(self, entry: Entry) -> Folded:
        """What stood before a marker.

        Behind a marker that is lost, the next Summary is the better witness: it is believed.
        """
        if isinstance(entry.body, Summary) and not self.trusted:
            self.base = self.state = entry.body.folded
            self.seen, self.floor, self.trusted = [], entry.seq, True
        return self.state

    def add(self, entry: Entry) -> None:
        """Go on behind a marker."""
        self.trusted = self.trusted and _reach(entry) >= self.floor
        self.seen.append(entry)
        after = step(self.state, entry)
        self.state = fold(self.seen, self.base) if after is None else after


def _reach(entry: Entry) -> int:
    """How far back a marker changes what stands; a lost one might have, any distance."""
    match entry.body:
        case Undo() | Redo():
            return entry.body.marker
        case Rewind():
            return entry.body.to
        case Damaged():
            return -1
        case _:
            return entry.seq


def _light(marker: Marker) -> Marker:
    """What folding needs of a marker, without its texts."""
    if isinstance(marker, Summary):
        return replace(marker, text="", ledger="", reason="", folded=START)
    if isinstance(marker, Context):
        return Context(sections={})
    return Damaged() if isinstance(marker, Damaged) else marker
