"""Strings as they were typed, punctuation included: which hits hold them, and what else does.

Rule 1: of what has the words of a string in a row, what holds the very string comes first.
Rule 2: where nothing does, it may stand within longer names: what has all of its pieces is read,
        and in one session everything, the newest first. So what was said there is always found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from holdfast.core.search.literal import holds_all, holds_typed
from holdfast.core.search.searchable_text import searchable
from holdfast.core.search.terms import MARK, pieces_typed
from holdfast.core.secrets import mask
from holdfast.stores.search.indexing import marker_text, read_part
from holdfast.stores.search.ranked import Scope
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.keys import entry_of

READ = 2_000
"""So many hits are read at most for a string."""

ENOUGH = 200
"""So many that hold it are enough."""

SCANNED = 50_000
"""So many parts of one session are read where no word leads to a string."""

FEW = 20
"""So many are found by reading everything."""

Places = list[tuple[int, float]]

_ALL = (
    "SELECT place FROM parts WHERE place BETWEEN ? AND ? AND kind <> 'record' ORDER BY place DESC"
)
_WITHIN = (
    "SELECT rowid FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ?{times} "
    "ORDER BY rowid DESC LIMIT ?"
)


def content(db: Database, at: int) -> tuple[str, str] | None:
    """The kind and the text at a place; None where a damaged store lacks it."""
    found = _unmasked(db, at)
    return (found[0], mask(found[1])) if found else None


def holding_first(db: Database, found: Places, typed: Sequence[str]) -> tuple[Places, bool]:
    """The same with those first that hold every string, in its case before any; and whether any
    does."""
    held = dict(islice((one for one in found[:READ] if holds(db, one[0], typed)), ENOUGH))
    rest = [one for one in found if one[0] not in held]
    cased = sorted(held.items(), key=lambda one: not _has_case(db, one[0], typed))
    return [*cased, *rest], bool(held)


def _has_case(db: Database, at: int, typed: Sequence[str]) -> bool:
    found = _unmasked(db, at)
    return bool(found) and holds_typed(found[1], typed)


def holds(db: Database, at: int, typed: Sequence[str]) -> bool:
    """Whether what can be shown of a part holds every string."""
    found = _unmasked(db, at)
    return bool(found) and holds_all(found[1], typed) and holds_all(mask(found[1]), typed)


def within_names(db: Database, typed: Sequence[str], scope: Scope, *, session: bool) -> Places:
    """Parts that hold every string where no word of theirs is one: parts of longer names."""
    found = _holding(db, _by_pieces(db, typed, scope), typed, ENOUGH)
    if not found and session and scope.open:
        every = (at for span in scope.spans for (at,) in db.rows(_ALL, span))
        found = _holding(db, islice(every, SCANNED), typed, FEW)
    return found


def _by_pieces(db: Database, typed: Sequence[str], scope: Scope) -> Iterator[int]:
    """What has all pieces of the names that were typed, as words or hidden in words."""
    pieces = pieces_typed(typed)
    if not pieces:
        return
    asked = " AND ".join(f'("{one}" OR "{MARK}{one}")' for one in sorted(pieces))
    asked = f"{{words stems}} : ({asked})" + (f" AND {scope.tags}" if scope.tags else "")
    sql = _WITHIN.format(times=scope.times_sql)
    for span in scope.spans:
        for (at,) in db.rows(sql, (asked, *span, *scope.times, READ)):
            yield at


def _holding(db: Database, places: Iterable[int], typed: Sequence[str], most: int) -> Places:
    return [(at, 0.0) for at in islice((at for at in places if holds(db, at, typed)), most)]


def _unmasked(db: Database, at: int) -> tuple[str, str] | None:
    parts = db.rows("SELECT kind, data, blob FROM parts WHERE place = ?", (at,))
    if parts:
        kind, data, blob = parts[0]
        part = read_part(db, at, data, blob)
        return kind, searchable(part) if part else ""
    entry = entry_of(at)
    marked = db.rows("SELECT kind, data FROM markers WHERE place = ?", (entry,))
    return (marked[0][0], marker_text(entry, marked[0][1])) if marked else None
