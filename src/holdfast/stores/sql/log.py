"""The log port over SQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from holdfast.errors import Conflict, Corrupt, HoldfastError, InvalidRequest
from holdfast.failpoints import failpoint
from holdfast.model import wire
from holdfast.model.log import Draft, Entry, Head, Marker, said
from holdfast.model.message import Message, Part
from holdfast.model.reply import Call
from holdfast.model.span import OPEN, Span, Spans
from holdfast.model.store import Expect
from holdfast.stores.sql import calls, rows
from holdfast.stores.sql.database import Database, Row
from holdfast.stores.sql.keys import (
    MOST_ENTRIES,
    ORDINAL_BITS,
    entry_of,
    parts_of,
    place,
    seq_of,
)
from holdfast.stores.sql.lineage import Lineage, of_session, ranges, unknown
from holdfast.stores.sql.prebuilt import Laid
from holdfast.stores.sql.rows import Moves, moves

PAGE_BYTES = 8 * 1024 * 1024
"""A page of entries ends early once it holds this much content."""

MOST_ROWS = 640
"""Parts that are read at once: all of a usual window's, and few enough to be held."""

_ADVANCE = (
    "UPDATE sessions SET head = head + ?, last_message = coalesce(head + ?, last_message), "
    "last_marker = coalesce(head + ?, last_marker), compacted = coalesce(?, compacted), "
    "updated = CASE WHEN updated > ? THEN updated ELSE ? END WHERE id = ?"
)
_NO_MORE: tuple[int, int, int, bytes, bytes | None] = (OPEN, 0, 0, b"", None)
_INSERT_ENTRY = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_PART = "INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?)"
_INSERT_MARKER = "INSERT INTO markers VALUES (?, ?, ?)"
_ENTRIES = (
    "SELECT place, id, kind, role, created, completed, data FROM entries "
    "WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?"
)
_HEADS = (
    "SELECT place, id, kind, role, created FROM entries "
    "WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT ?"
)
_PARTS = (
    "SELECT place, estimate, size, data, blob FROM parts WHERE place BETWEEN ? AND ?{0} "
    "ORDER BY place LIMIT ?"
)
_BARE = " AND kind <> 'record'"
_PART_COLUMNS = (
    "SELECT place, kind, size, estimate FROM parts WHERE place BETWEEN ? AND ? ORDER BY place"
)
_MARKERS = "SELECT place, data FROM markers WHERE place BETWEEN ? AND ? ORDER BY place"
_NEWEST_MARKERS = (
    "SELECT e.place, e.id, e.kind, e.role, e.created, e.completed, e.data, m.data FROM markers m "
    "JOIN entries e ON e.place = m.place "
    "WHERE m.place BETWEEN ? AND ? ORDER BY m.place DESC LIMIT ?"
)


class SqlLog:
    """Entries as rows of `entries`, `parts` and `markers`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def append(
        self,
        session: str,
        drafts: Sequence[Draft],
        *,
        key: str = "",
        expect: Expect | None = None,
        call: Call | None = None,
    ) -> tuple[Entry, ...]:
        if not drafts:
            raise InvalidRequest("nothing to append")
        with self._db.writing():
            if key and (made := self._made_with(session, key)):
                return _same(made, drafts, key)
            number, head = self._advance(session, moves(drafts), expect or Expect())
            self._insert(number, rows.lay_out(drafts, place(number, head + 1), key), key)
            if call:
                calls.record(self._db, number, call)
        return tuple(d.placed(session, seq, key) for seq, d in enumerate(drafts, head + 1))

    def check(self, session: str, expect: Expect) -> None:
        """Refuse to go on with a session that is not as it was expected."""
        last = (expect.message, expect.marker)
        known = "SELECT last_message, last_marker FROM sessions WHERE id = ?"
        for found in self._db.rows(known, (session,)):
            if any(told not in (None, here) for told, here in zip(last, found, strict=True)):
                raise self._refusal(session, expect)

    def put(self, session: str, laid: Laid, *, key: str, expect: Expect) -> int:
        """Append what was laid out beforehand; the number of its session.

        Conflict where it was laid out for another place.
        """
        with self._db.writing():
            number, head = self._advance(session, laid.moves, expect)
            if head + 1 != laid.first:
                raise Conflict(session, laid.first - 1, head)
            self._insert(number, laid.rows.of(number), key)
        return number

    def append_inline(self, session: str, draft: Draft, expect: Expect) -> Entry | None:
        return None

    async def read(
        self, session: str, spans: Spans, *, limit: int = 256, bare: bool = False
    ) -> tuple[Entry, ...]:
        with self._db.reading():
            found: list[Entry] = []
            for first, last in ranges(of_session(self._db, session), spans):
                entries, whole = self._page(session, first, last, limit - len(found), bare)
                found += entries
                if len(found) >= limit or not whole:
                    break
        return tuple(found)

    async def heads(self, session: str, spans: Spans, *, limit: int = 4096) -> tuple[Head, ...]:
        with self._db.reading():
            found: list[Head] = []
            for first, last in reversed(list(ranges(of_session(self._db, session), spans))):
                entries = self._db.rows(_HEADS, (first, last, limit - len(found)))
                parts = self._columns(entries)
                found += [rows.head(row, parts[row[0]]) for row in entries]
                if len(found) >= limit:
                    break
        return tuple(reversed(found))

    async def markers(self, session: str, *, before: int, limit: int = 64) -> tuple[Entry, ...]:
        with self._db.reading():
            found: list[Entry] = []
            past = (Span(1, before - 1),)
            for first, last in reversed(list(ranges(of_session(self._db, session), past))):
                for row in self._db.rows(_NEWEST_MARKERS, (first, last, limit - len(found))):
                    body = rows.marker(row[0], row[7])
                    found.append(rows.entry(session, row[:7], body, ()))
                if len(found) >= limit:
                    break
        return tuple(reversed(found))

    async def locate(self, session: str, entry: str) -> int | None:
        with self._db.reading():
            line = of_session(self._db, session)
            places = self._db.rows("SELECT place FROM entries WHERE id = ?", (entry,))
        return next((seq_of(at) for (at,) in places if _holds(line, at)), None)

    def _advance(self, session: str, moves: Moves, expect: Expect) -> tuple[int, int]:
        """Make room behind the session's head; its number, and where the head was.

        One statement checks what is expected, locks the session and moves its head.
        """
        sql, values = _ADVANCE, [*moves, session]
        for column, expected in (("message", expect.message), ("marker", expect.marker)):
            if expected is not None:
                sql += f" AND last_{column} = ?"
                values.append(expected)
        moved = self._db.rows(f"{sql} RETURNING n, head", tuple(values))
        if not moved:
            raise self._refusal(session, expect)
        number, head = moved[0]
        if head > MOST_ENTRIES:
            raise InvalidRequest(f"session {session} is full; continue in a new one")
        failpoint("append.after_head")
        return number, head - moves[0]

    def _refusal(self, session: str, expect: Expect) -> HoldfastError:
        """Why a session could not be moved on."""
        found = self._db.rows(
            "SELECT last_message, last_marker FROM sessions WHERE id = ?", (session,)
        )
        if not found:
            return unknown(session)
        message, marker = found[0]
        if expect.message not in (None, message):
            return Conflict(session, expect.message, message)
        return Conflict(session, expect.marker or 0, marker)

    def _made_with(self, session: str, key: str) -> tuple[Entry, ...]:
        """What a key has made; touched, so that saying so rests on a sync of its own."""
        line = of_session(self._db, session)
        own = line[-1].number if line else 0
        for segment in line:
            found = self._db.rows(
                "SELECT first, many FROM keys WHERE session = ? AND key = ? "
                "AND first + many - 1 <= ?",
                (segment.number, wire.encode(key), segment.last),
            )
            if found:
                self._db.run("UPDATE sessions SET updated = updated WHERE n = ?", (own,))
                at = place(segment.number, found[0][0])
                return self._whole(session, at, at + found[0][1] - 1)
        return ()

    def _whole(self, session: str, first: int, last: int) -> tuple[Entry, ...]:
        """Every entry of a range, however large."""
        found: list[Entry] = []
        while first <= last:
            page, _ = self._page(session, first, last, last - first + 1)
            if not page:
                break
            found += page
            first += len(page)
        return tuple(found)

    def _insert(self, number: int, laid: rows.Rows, key: str) -> None:
        db = self._db
        failpoint("append.before_insert")
        if key:
            first = seq_of(laid.entries[0][0])
            keyed = (number, wire.encode(key), first, len(laid.entries))
            db.run("INSERT INTO keys VALUES (?, ?, ?, ?)", keyed)
            failpoint("append.after_key")
        db.run_many(_INSERT_ENTRY, laid.entries)
        failpoint("append.after_entries")
        if laid.blobs:
            db.run_many(rows.INSERT_BLOB, laid.blobs)
        if laid.parts:
            db.run_many(_INSERT_PART, laid.parts)
            failpoint("append.after_parts")
        if laid.markers:
            db.run_many(_INSERT_MARKER, laid.markers)
        failpoint("append.after_markers")

    def _page(
        self, session: str, first: int, last: int, limit: int, bare: bool = False
    ) -> tuple[list[Entry], bool]:
        """Up to `limit` entries of a range, and whether the page was not cut by its size."""
        entries = self._db.rows(_ENTRIES, (first, last, limit))
        if not entries:
            return [], True
        within = (*parts_of(entries[0][0], entries[-1][0]), bare)
        try:
            return self._entries(session, entries, self._parts(*within), rows.quick_part)
        except rows.GARBLED:  # a surrogate, or garbage: look at each part with care
            return self._entries(session, entries, self._parts(*within), None)

    def _parts(self, first: int, last: int, bare: bool) -> Iterator[Row]:
        """The parts of a range, some at a time: a page that is full asks for no more of them."""
        wanted = _PARTS.format(_BARE if bare else "")
        some = self._db.rows(wanted, (first, last, MOST_ROWS))
        if len(some) < MOST_ROWS:
            return iter(some)
        return chain(some, chain.from_iterable(self._further(wanted, some[-1][0] + 1, last)))

    def _further(self, wanted: str, first: int, last: int) -> Iterator[list[Row]]:
        while some := self._db.rows(wanted, (first, last, MOST_ROWS)):
            first = some[-1][0] + 1
            yield some

    def _entries(
        self,
        session: str,
        entries: list[Row],
        parts: Iterator[Row],
        decode: Callable[[bytes], Part] | None,
    ) -> tuple[list[Entry], bool]:
        """The entries of these rows, and whether none was left out because they hold too much."""
        made: list[Entry] = []
        markers: dict[int, bytes] = {}
        held = 0
        at, count, size, data, blob = next(parts, _NO_MORE)
        for row in entries:
            if held > PAGE_BYTES:
                return made, False
            if row[2] != "message":
                markers = markers or self._markers(entries)
                made.append(rows.entry(session, row, _marker(markers, row[0]), ()))
                continue
            own: tuple[Part, ...] = ()
            counts: tuple[int, ...] = ()
            while at < row[0] + 1 << ORDINAL_BITS:
                content = data if blob is None else self._blob(at, blob)
                own += (decode(content) if decode else rows.part(at, content),)
                counts += (count,)
                held += size
                at, count, size, data, blob = next(parts, _NO_MORE)
            made.append(rows.entry(session, row, Message(row[3], own), counts))
        return made, True

    def _blob(self, at: int, hash: bytes) -> bytes:
        found = self._db.rows("SELECT data FROM blobs WHERE hash = ?", (hash,))
        if not found:
            raise rows.unreadable(seq_of(entry_of(at)), "its blob is missing")
        try:
            return rows.unpack(found[0][0])
        except Corrupt as garbled:
            raise rows.unreadable(seq_of(entry_of(at)), str(garbled.__cause__)) from garbled

    def _markers(self, entries: list[Row]) -> dict[int, bytes]:
        return dict(self._db.rows(_MARKERS, (entries[0][0], entries[-1][0])))

    def _columns(self, entries: list[Row]) -> dict[int, list[Row]]:
        parts: dict[int, list[Row]] = defaultdict(list)
        if entries:
            newest, oldest = entries[0][0], entries[-1][0]
            for at, *columns in self._db.stream(_PART_COLUMNS, parts_of(oldest, newest)):
                parts[entry_of(at)].append(tuple(columns))
        return parts


def _marker(markers: dict[int, bytes], at: int) -> Marker:
    if at not in markers:
        raise rows.unreadable(seq_of(at), "its marker is missing")
    return rows.marker(at, markers[at])


def _holds(line: Lineage, at: int) -> bool:
    seq = seq_of(at)
    return any(s.first <= seq <= s.last and place(s.number, seq) == at for s in line)


def _same(made: tuple[Entry, ...], drafts: Sequence[Draft], key: str) -> tuple[Entry, ...]:
    if [said(entry.body) for entry in made] != [said(draft.body) for draft in drafts]:
        raise InvalidRequest(
            f"the key {key!r} was used for something else; use a new key for new content"
        )
    return made
