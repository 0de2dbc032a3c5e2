"""Which stretches of which sessions make up one session's line of entries."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from holdfast.errors import Corrupt, NotFound
from holdfast.model.span import Spans, clip
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.keys import MOST_ENTRIES, place


class Segment(Struct, frozen=True):
    """From `first` to `last`, a line's entries live in the session of this number."""

    number: int
    first: int
    last: int


Lineage = tuple[Segment, ...]


def lineage(db: Database, number: int, parent: int | None, fork: int) -> Lineage:
    """The segments of a session's line, in order."""
    segments = [Segment(number, fork + 1, MOST_ENTRIES)]
    last, seen = fork, {number}
    while parent is not None:
        if parent in seen:
            raise Corrupt("a session is its own ancestor; run `holdfast doctor`")
        seen.add(parent)
        found = db.rows("SELECT parent, fork FROM sessions WHERE n = ?", (parent,))
        if not found:
            raise Corrupt("the session this one was forked from is gone; run `holdfast doctor`")
        grandparent, from_ = found[0]
        segments.append(Segment(parent, from_ + 1, last))
        parent, last = grandparent, min(last, from_)
    return tuple(segment for segment in reversed(segments) if segment.first <= segment.last)


def of_session(db: Database, id: str) -> Lineage:
    """The segments of a session by its id."""
    found = db.rows("SELECT n, parent, fork FROM sessions WHERE id = ?", (id,))
    if not found:
        raise unknown(id)
    return lineage(db, *found[0])


def number_of_session(db: Database, id: str) -> int:
    """The number under which a session's entries are placed."""
    found = db.rows("SELECT n FROM sessions WHERE id = ?", (id,))
    if not found:
        raise unknown(id)
    return found[0][0]


def ranges(line: Lineage, spans: Spans) -> Iterator[tuple[int, int]]:
    """The ranges of places that hold these spans, in order."""
    for segment in line:
        for span in clip(spans, segment.first, min(segment.last, MOST_ENTRIES)):
            yield place(segment.number, span.first), place(segment.number, span.last)


def unknown(id: str) -> NotFound:
    """What is said of a session that is not there; nothing of those that are."""
    return NotFound("session", id, (), "`holdfast sessions` lists them")
