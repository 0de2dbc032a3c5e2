"""The search port on SQLite: an FTS5 index that holds words only, catching up when asked."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.core.secrets import mask
from holdfast.core.text import searchable, searchable_body
from holdfast.errors import Corrupt, Misuse
from holdfast.failpoints import failpoint
from holdfast.model.search import Hit, Query
from holdfast.model.span import EVERYTHING
from holdfast.stores.sql import rows
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.lineage import number_of_session, of_session, ranges
from holdfast.stores.sql.places import (
    MOST_ENTRIES,
    ORDINAL_BITS,
    entry_of,
    number_of,
    ordinal_of,
    part_place,
    parts_of,
    place,
    seq_of,
)  # fmt: skip

SCHEMA = (
    "CREATE VIRTUAL TABLE search USING fts5 (words, content='', contentless_delete=1, "
    "tokenize=\"unicode61 remove_diacritics 2 tokenchars '_'\");"
    "INSERT INTO search (search, rank) VALUES ('secure-delete', 1)"
)

BATCH_BYTES = 2 * 1024 * 1024
"""One step of catching up ends once it holds this much: appends of others wait for it."""

AROUND = 60
"""Characters of a snippet on each side of the first word found."""


class FtsSearch:
    """Words by part; a session's parts are indexed up to its `indexed` mark."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def catch_up(self, limit: int = 1000) -> int:
        done = 0
        behind = self._db.rows("SELECT n FROM sessions WHERE indexed < head ORDER BY n")
        for (number,) in behind:
            if done >= limit:
                break
            with self._db.writing():
                done += self._index(number, limit - done)
        return done

    async def find(self, query: Query) -> tuple[Hit, ...]:
        if not _expression(query.words):
            raise Misuse("nothing to search for; give at least one word")
        while await self.catch_up():
            pass
        with self._db.reading():
            hits = (self._hit(at, query) for at in self._places(query))
            found = [hit for hit in hits if hit is not None]
        return tuple(found[: query.limit])

    def _index(self, number: int, limit: int) -> int:
        """Index the next entries of a session, up to about `limit` parts; how many were."""
        ((indexed, head),) = self._db.rows(
            "SELECT indexed, head FROM sessions WHERE n = ?", (number,)
        )
        entries = self._db.rows(
            "SELECT place, kind FROM entries WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?",
            (place(number, max(indexed, 0)) + 1, place(number, min(head, MOST_ENTRIES)), limit),
        )
        if not entries:
            self._db.run("UPDATE sessions SET indexed = head WHERE n = ?", (number,))
            return 0
        first, last = entries[0][0], self._batch_end(entries[0][0], entries[-1][0])
        self._db.forget(*parts_of(first, last))
        words = [(at, mask(text)) for at, text in self._texts(first, last) if text]
        failpoint("search.before_insert")
        self._db.run_many("INSERT INTO search (rowid, words) VALUES (?, ?)", words)
        failpoint("search.before_mark")
        self._db.run("UPDATE sessions SET indexed = ? WHERE n = ?", (seq_of(last), number))
        return max(len(words), len(entries))

    def _batch_end(self, first: int, last: int) -> int:
        """The last entry of a range that still belongs to one step, by the size of its parts."""
        held = 0
        for at, size in self._db.rows(
            "SELECT place, size FROM parts WHERE place BETWEEN ? AND ? ORDER BY place",
            parts_of(first, last),
        ):
            if held and held + size > BATCH_BYTES and entry_of(at) > first:
                return entry_of(at) - 1
            held += size
        return last

    def _texts(self, first: int, last: int) -> Iterator[tuple[int, str]]:
        """The text of each part and marker in a range of entries; what is unreadable has none."""
        for at, data, blob in self._db.rows(
            "SELECT place, data, blob FROM parts WHERE place BETWEEN ? AND ?",
            parts_of(first, last),
        ):
            yield at, _safe(self._text(at, data, blob))
        for at, data in self._db.rows(
            "SELECT place, data FROM markers WHERE place BETWEEN ? AND ?", (first, last)
        ):
            yield part_place(at, 0), _safe(_marker_text(at, data))

    def _text(self, at: int, data: bytes | None, blob: bytes | None) -> str:
        try:
            if data is None:
                ((packed,),) = self._db.rows("SELECT data FROM blobs WHERE hash = ?", (blob,))
                data = rows.unpack(packed)
            return searchable(rows.part(at, data))
        except (Corrupt, ValueError):
            return ""  # `holdfast doctor` reports it; the rest is still to be found

    def _places(self, query: Query) -> list[int]:
        """The places of the parts that match, best first where that is affordable."""
        where = "search MATCH ?"
        values: list[object] = [_expression(query.words)]
        if query.session:
            number = number_of_session(self._db, query.session)
            line = of_session(self._db, query.session)
            spans = [parts_of(first, last) for first, last in ranges(line, EVERYTHING)] or [
                parts_of(place(number, 0), place(number, 0))
            ]
            where += " AND (" + " OR ".join("search.rowid BETWEEN ? AND ?" for _ in spans) + ")"
            values += [edge for span in spans for edge in span]
        if query.role:
            where += " AND (SELECT role FROM entries WHERE place = search.rowid >> ?) = ?"
            values += [ORDINAL_BITS, query.role]
        order = "rank" if self._few(where, values) else "rowid DESC"
        found = self._db.rows(
            f"SELECT rowid FROM search WHERE {where} ORDER BY {order} LIMIT ?",
            (*values, query.limit),
        )
        return [at for (at,) in found]

    def _few(self, where: str, values: list[object]) -> bool:
        """Whether so little matches that ranking all of it is quick."""
        some = self._db.rows(
            f"SELECT count(*) FROM (SELECT 1 FROM search WHERE {where} LIMIT 20000)",
            tuple(values),
        )
        return some[0][0] < 20000

    def _hit(self, at: int, query: Query) -> Hit | None:
        entry = entry_of(at)
        found = self._db.rows(
            "SELECT e.id, e.kind, e.role, e.created, s.id FROM entries e "
            "JOIN sessions s ON s.n = ? WHERE e.place = ?",
            (number_of(entry), entry),
        )
        if not found or (query.role and found[0][2] != query.role):
            return None
        id, kind, role, created, session = found[0]
        kind, text = self._content(at, entry, kind)
        return Hit(
            session=query.session or session,
            seq=seq_of(entry),
            entry=id,
            ordinal=ordinal_of(at),
            kind=kind,
            role=role or "",
            snippet=snippet(text, query.words),
            created=created,
        )

    def _content(self, at: int, entry: int, kind: str) -> tuple[str, str]:
        if kind != "message":
            ((data,),) = self._db.rows("SELECT data FROM markers WHERE place = ?", (entry,))
            return kind, mask(_marker_text(entry, data))
        ((kind, data, blob),) = self._db.rows(
            "SELECT kind, data, blob FROM parts WHERE place = ?", (at,)
        )
        return kind, mask(self._text(at, data, blob))


def _marker_text(at: int, data: bytes) -> str:
    try:
        return "\n".join(searchable_body(rows.marker(at, data)))
    except Corrupt:
        return ""


def _safe(text: str) -> str:
    """Text as an index can take it: a lone surrogate has no place in UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _expression(words: str) -> str:
    """A query for all of these words; what people type is never syntax."""
    plain = _safe(words).replace("\0", " ")  # a NUL would end the query
    return " ".join('"' + word.replace('"', '""') + '"' for word in plain.split())


def snippet(text: str, words: str) -> str:
    """The text around the first word that is found in it, on one line."""
    lowered = text.lower()
    starts = [at for word in words.lower().split() if (at := lowered.find(word)) >= 0]
    at = min(starts, default=0)
    first, last = max(0, at - AROUND), at + AROUND
    cut = " ".join(text[first:last].split())
    return f"{'…' if first else ''}{cut}{'…' if last < len(text) else ''}"
