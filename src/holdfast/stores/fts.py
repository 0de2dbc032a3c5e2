"""The search port on SQLite: an FTS5 index of words and tags, catching up when asked.

Rule 1: every filter is a part of what the index is asked, so none of them reads what it leaves out.
Rule 2: the CANDIDATES newest of what matches are ranked by BM25; whatever more there is follows,
        the newest first. So a word that is everywhere costs no more than a rare one.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from holdfast.core.secrets import mask
from holdfast.core.text import searchable
from holdfast.core.words import Terms, looked_for, snippet, words
from holdfast.model.log import Session
from holdfast.model.search import Hit, Query
from holdfast.model.span import EVERYTHING, OPEN
from holdfast.stores.indexing import catch_up, marker_text, model_of, read_part, safe, told
from holdfast.stores.sql.lineage import of_session, ranges
from holdfast.stores.sql.places import (
    ORDINAL_BITS,
    entry_of,
    number_of,
    ordinal_of,
    parts_of,
    seq_of,
)
from holdfast.stores.tags import filters

if TYPE_CHECKING:
    from holdfast.stores.sqlite import Sqlite

CANDIDATES = 2_000
"""So many of what matches are ranked, the newest."""

COMMON = 20_000
"""A word in more parts than this counts as one that is in so many."""

K1, B = 1.2, 0.75
"""BM25's own numbers: how soon repeating a word counts no more, and how much length does."""

_FIND = (
    "SELECT rowid, weighed(search{weights}) FROM search WHERE search MATCH ? "
    "AND rowid BETWEEN ? AND ?{times} ORDER BY rowid DESC LIMIT ?"
)
_TIMES = (
    f" AND (SELECT created FROM entries WHERE place = search.rowid >> {ORDINAL_BITS}) "
    "BETWEEN ? AND ?"
)


class Asked(Struct, frozen=True):
    """A query in the words of the index."""

    expression: str
    phrases: tuple[str, ...]
    terms: Terms


class FtsSearch:
    """Words by part; a session's parts are indexed up to its `indexed` mark."""

    def __init__(self, db: Sqlite) -> None:
        self._db = db
        db.connection.register_fts5_function("weighed", weighed)

    async def catch_up(self, limit: int = 1000) -> int:
        return catch_up(self._db, limit)

    async def find(self, query: Query) -> tuple[Hit, ...]:
        wanted = looked_for(query)
        while await self.catch_up():
            pass
        with self._db.reading():
            asked = self._asked(query, wanted)
            ranked = self._ranked(query, asked)[query.offset : query.offset + query.limit]
            sessions: dict[int, tuple[str, Session]] = {}
            hits = [self._hit(at, score, query, asked, sessions) for at, score in ranked]
        return tuple(hit for hit in hits if hit is not None)

    def _asked(self, query: Query, wanted: Terms) -> Asked:
        phrases = _phrases(query.words, wanted)
        latest = self._db.rows("SELECT max(updated) FROM sessions")[0][0] or 0
        expression = f"words : ({' AND '.join(phrases)})"
        if among := filters(query, latest):
            expression += f" AND about : ({' AND '.join(among)})"
        return Asked(expression, phrases, wanted)

    def _ranked(self, query: Query, asked: Asked) -> list[tuple[int, float]]:
        """The places of the parts that match, the best of the newest first, then the newest."""
        most = max(CANDIDATES, query.offset + query.limit)
        among = self._among(asked.phrases)
        sql = _FIND.format(weights=", ?" * len(among), times=_TIMES if _timed(query) else "")
        times = (query.since, query.until - 1) if _timed(query) else ()
        found: list[tuple[int, float]] = []
        for span in self._spans(query.session):
            left = most - len(found)
            found += self._db.rows(sql, (*among, asked.expression, *span, *times, left))
            if len(found) >= most:
                break
        best = sorted(found[:CANDIDATES], key=lambda one: -one[1])
        return [*best, *found[CANDIDATES:]]

    def _among(self, phrases: tuple[str, ...]) -> tuple[int, ...]:
        """In how many parts each phrase stands; it only matters where there are several."""
        if len(phrases) == 1:
            return (1,)
        counting = "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?)"
        return tuple(
            self._db.rows(counting, (f"words : {phrase}", COMMON))[0][0] for phrase in phrases
        )

    def _spans(self, session: str) -> list[tuple[int, int]]:
        """The ranges of places to look in, the newest first."""
        if not session:
            return [(0, 2**63 - 1)]
        line = of_session(self._db, session)
        return [parts_of(first, last) for first, last in ranges(line, EVERYTHING)][::-1]

    def _hit(
        self,
        at: int,
        score: float,
        query: Query,
        asked: Asked,
        sessions: dict[int, tuple[str, Session]],
    ) -> Hit | None:
        entry = entry_of(at)
        found = self._db.rows(
            "SELECT id, kind, role, created, data FROM entries WHERE place = ?", (entry,)
        )
        if not found:
            return None
        id, kind, role, created, data = found[0]
        home, session = self._session(number_of(entry), sessions)
        kind, text = self._content(at, entry, kind)
        shown, marks = snippet(text, asked.terms)
        return Hit(
            session=query.session or home,
            seq=seq_of(entry),
            entry=id,
            ordinal=ordinal_of(at),
            kind=kind,
            role=role or "",
            snippet=shown,
            marks=marks,
            created=created,
            model=model_of(data),
            project=session.project,
            agent=session.agent,
            score=round(score, 3),
        )

    def _session(self, number: int, known: dict[int, tuple[str, Session]]) -> tuple[str, Session]:
        if number not in known:
            ((id, data),) = self._db.rows("SELECT id, data FROM sessions WHERE n = ?", (number,))
            known[number] = id, told(data)
        return known[number]

    def _content(self, at: int, entry: int, kind: str) -> tuple[str, str]:
        if kind != "message":
            ((data,),) = self._db.rows("SELECT data FROM markers WHERE place = ?", (entry,))
            return kind, mask(marker_text(entry, data))
        ((kind, data, blob),) = self._db.rows(
            "SELECT kind, data, blob FROM parts WHERE place = ?", (at,)
        )
        part = read_part(self._db, at, data, blob)
        return kind, mask(searchable(part)) if part else ""


def weighed(api: Any, *among: Any) -> float:
    """BM25 of one part, for words that stand in so many parts; tags weigh nothing."""
    parts = api.row_count
    mean = api.column_total_size(0) / max(parts, 1) or 1.0
    room = K1 * (1 - B + B * api.column_size(0) / mean)
    score = 0.0
    for phrase, many in enumerate(among):
        times = len(api.phrase_locations(phrase)[0])
        score += log(1 + (parts - many + 0.5) / (many + 0.5)) * times * (K1 + 1) / (times + room)
    return score


def _timed(query: Query) -> bool:
    return query.since > 0 or query.until < OPEN


def _phrases(typed: str, wanted: Terms) -> tuple[str, ...]:
    """Each term as the index is asked for it; what people type is never syntax."""
    plain = safe(typed).replace("\0", " ")  # a NUL would end the query
    chunks = [chunk.replace('"', '""') for chunk in plain.split() if words(chunk)]
    phrases = [f'"{chunk}"' for chunk in chunks]
    if wanted.prefix:
        phrases[-1] += "*"
    return tuple(phrases)
