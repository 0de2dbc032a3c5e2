"""How the search index fills: from the log, behind the appends, in steps that end soon."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from holdfast.core.search.facets import LOOK_BACK, Calls, Facets
from holdfast.core.search.searchable_text import searchable, searchable_body
from holdfast.core.search.terms import hidden
from holdfast.core.search.words import apart
from holdfast.core.secrets import mask
from holdfast.errors import Corrupt
from holdfast.failpoints import failpoint
from holdfast.model import wire
from holdfast.model.log import SessionInfo
from holdfast.model.message import Part, ToolResult
from holdfast.model.span import Span
from holdfast.stores.search.tags import tags
from holdfast.stores.sql import rows
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.keys import MOST_ENTRIES, entry_of, part_place, parts_of, place, seq_of
from holdfast.stores.sql.lineage import lineage, ranges

SCHEMA = (
    "CREATE VIRTUAL TABLE search USING fts5 (words, about, stems, content='', "
    "contentless_delete=1, "
    "tokenize=\"unicode61 remove_diacritics 2 tokenchars '_'\");"
    "INSERT INTO search (search, rank) VALUES ('secure-delete', 1);"
    f"INSERT INTO search (search, rank) VALUES ('hashsize', {32 << 20})"
)
"""Words, tags to filter by, and what ranked retrieval adds to the words; the text stays in the log.

What one transaction brings is sorted in memory, up to so many bytes, and written once.
"""

BATCH_BYTES = 2 * 1024 * 1024
"""One step of catching up ends once it holds this much: appends of others wait for it."""


_SAID = " AND kind <> 'record'"
"""What of the parts may have words: what was only kept has none."""

_WHOSE = "SELECT parent, fork, indexed, head, data FROM sessions WHERE n = ?"


Row = tuple[int, str, str, str]
"""The place of a part, its words, its tags, and the stems and pieces hidden in its words."""

INSERT = "INSERT INTO search (rowid, words, about, stems) VALUES (?, ?, ?, ?)"


class Whose(Struct, frozen=True):
    """The session whose entries are indexed."""

    number: int
    parent: int | None
    fork: int
    indexed: int
    head: int
    data: bytes
    """What its row says of it."""
    project: str
    agent: str


class Step(Struct):
    """The next entries of one session, as the index will have them."""

    whose: Whose
    upto: int
    """The seq of the last of them; of the session's head where there are none."""
    parts: tuple[int, int]
    """From where to where their parts are."""
    size: int
    """About how many bytes are read for it."""
    many: int
    """As how many parts it counts."""
    found: list[Row]


def catch_up(db: Database, limit: int) -> int:
    """Index up to about `limit` parts of sessions that are behind; how many were.

    What is to be written is made ready first: whoever appends meanwhile waits for the writing only.
    """
    done = 0
    while done < limit and (steps := list(ready(db, limit - done))):
        with db.writing():
            done += sum(write(db, step) for step in steps)
    return done


def ready(db: Database, limit: int) -> Iterator[Step]:
    """What comes next, of as many sessions as one writing takes."""
    with db.reading():
        held = many = 0
        for (number,) in db.rows("SELECT n FROM sessions WHERE indexed < head ORDER BY n"):
            step = _step(db, number, limit - many, BATCH_BYTES - held)
            yield step
            held, many = held + step.size, many + step.many
            if many >= limit or held >= BATCH_BYTES:
                break


def _step(db: Database, number: int, limit: int, most: int) -> Step:
    """The next entries of a session, up to about so many parts and bytes."""
    whose = whose_is(db, number)
    assert whose is not None
    begin = place(number, max(whose.indexed, 0)) + 1
    end = place(number, min(whose.head, MOST_ENTRIES))
    entries = db.rows(
        "SELECT place FROM entries WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?",
        (begin, end, limit),
    )
    if not entries:
        return Step(whose, whose.head, parts_of(begin, end), 0, 0, [])
    first = entries[0][0]
    last, size = _batch_end(db, first, entries[-1][0], most)
    found = sorted(_indexed(db, whose, first, last))  # out of order, each would be written alone
    many = max(len(found), len(entries))
    return Step(whose, seq_of(last), parts_of(first, last), size, many, found)


def write(db: Database, step: Step) -> int:
    """Write a step down, where its session still is as it was; as how many parts it counts."""
    whose = step.whose
    if not _is_same(db, whose):
        return 0
    db.forget(*step.parts)
    failpoint("search.before_insert")
    db.run_many(INSERT, step.found)
    failpoint("search.before_mark")
    db.run("UPDATE sessions SET indexed = ? WHERE n = ?", (step.upto, whose.number))
    return step.many


def whose_is(db: Database, number: int) -> Whose | None:
    """The session of a number, as far as the index needs to know it; None where it is gone."""
    found = db.rows(_WHOSE, (number,))
    if not found:
        return None
    ((parent, fork, indexed, head, data),) = found
    session = told(data)
    return Whose(number, parent, fork, indexed, head, data, session.project, session.agent)


def _is_same(db: Database, whose: Whose) -> bool:
    """Whether a session is where it was: nobody has indexed, erased or changed it since."""
    found = db.rows(_WHOSE, (whose.number,))
    if not found:
        return False
    parent, fork, indexed, head, data = found[0]
    before = (whose.parent, whose.fork, whose.indexed, whose.data)
    return (parent, fork, indexed, data) == before and head >= whose.head


def told(data: bytes) -> SessionInfo:
    """What a session's row says of itself; nothing where it cannot be read."""
    try:
        return wire.decode(data, SessionInfo)
    except rows.GARBLED:
        return SessionInfo(id="", created=0)


def _batch_end(db: Database, first: int, last: int, most: int) -> tuple[int, int]:
    """The last entry of a range that still belongs to one step, and the size up to there."""
    held = 0
    for at, size in db.rows(
        f"SELECT place, size FROM parts WHERE place BETWEEN ? AND ?{_SAID} ORDER BY place",
        parts_of(first, last),
    ):
        if held and held + size > most and entry_of(at) > first:
            return entry_of(at) - 1, most
        held += size
    return last, held


def _indexed(db: Database, whose: Whose, first: int, last: int) -> Iterator[Row]:
    """The place, the words and the tags of whatever has words in a range of entries."""
    heads = {at: columns for at, *columns in db.rows(
        "SELECT place, role, created, data FROM entries WHERE place BETWEEN ? AND ?", (first, last)
    )}  # fmt: skip
    calls = Calls()
    reached = False
    for at, part in _parts(db, first, last):
        entry = entry_of(at)
        if isinstance(part, ToolResult) and not reached and not calls.knows(part.call):
            reached = True
            _remember(db, whose, seq_of(first), calls)
        used = calls.used(seq_of(entry), part)
        if (text := searchable(part)) and entry in heads:
            role, created, data = heads[entry]
            facets = Facets(
                role=role or "", project=whose.project, agent=whose.agent, model=model_of(data),
                used=used, created=created,
            )  # fmt: skip
            yield row(at, text, facets)
    yield from _markers(db, whose, first, last)


def _markers(db: Database, whose: Whose, first: int, last: int) -> Iterator[Row]:
    for at, data, created, extra in db.rows(
        "SELECT m.place, m.data, e.created, e.data FROM markers m JOIN entries e "
        "ON e.place = m.place WHERE m.place BETWEEN ? AND ?",
        (first, last),
    ):
        if text := marker_text(at, data):
            facets = Facets(
                project=whose.project, agent=whose.agent, model=model_of(extra), created=created
            )
            yield row(part_place(at, 0), text, facets)


def _parts(db: Database, first: int, last: int, only: str = _SAID) -> Iterator[tuple[int, Part]]:
    """The parts of a range in order; what cannot be read is left to `holdfast doctor`."""
    for at, data, blob in db.rows(
        f"SELECT place, data, blob FROM parts WHERE place BETWEEN ? AND ?{only} ORDER BY place",
        parts_of(first, last),
    ):
        if part := read_part(db, at, data, blob):
            yield at, part


def _remember(db: Database, whose: Whose, first: int, calls: Calls) -> None:
    """Read the calls that results of these entries may answer, out of those before them."""
    before = (Span(max(first - LOOK_BACK, 1), first - 1),)
    for begin, end in ranges(lineage(db, whose.number, whose.parent, whose.fork), before):
        for at, part in _parts(db, begin, end, " AND kind = 'tool_call'"):
            calls.used(seq_of(entry_of(at)), part)


def read_part(db: Database, at: int, data: bytes | None, blob: bytes | None) -> Part | None:
    """The part of a row; None where it cannot be read."""
    try:
        if data is None:
            ((packed,),) = db.rows("SELECT data FROM blobs WHERE hash = ?", (blob,))
            data = rows.unpack(packed)
        return rows.part(at, data)
    except (Corrupt, ValueError):
        return None


def marker_text(at: int, data: bytes) -> str:
    """The words of a marker; none where it cannot be read."""
    try:
        return "\n".join(searchable_body(rows.marker(at, data)))
    except Corrupt:
        return ""


def model_of(data: bytes | None) -> str:
    """The model that an entry says it is from."""
    if data is None:
        return ""
    try:
        return wire.decode(data, rows.Extra).model
    except rows.GARBLED:
        return ""


def row(at: int, text: str, facets: Facets) -> Row:
    """What the index is given of a text."""
    said = safe(mask(text))
    return at, apart(said), tags(facets), hidden(said)


def safe(text: str) -> str:
    """Text as an index can take it: a lone surrogate has no place in UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
