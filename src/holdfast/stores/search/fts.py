"""The search port on SQLite: an FTS5 index of words and tags, catching up when asked.

Rule 1: every filter is a part of what the index is asked, so none of them reads what it leaves out.
Rule 2: what has every word comes first: what holds strings as they were typed (verbatim.py), then
        the CANDIDATES newest by BM25, then the rest, the newest first. So a word that is
        everywhere costs no more than a rare one.
Rule 3: where that is little and `any` allows it, what has some of the words follows (ranked.py).
Rule 4: by meaning, the nearest of the newest vectors (vectors.py) are ranked together with what
        matches by words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.search.facets import of_whole_sessions
from holdfast.core.search.ranking import SHORTEST, per_word, rarity
from holdfast.core.search.semantic import blended
from holdfast.core.search.spelling import nearest_words, slips_allowed
from holdfast.core.search.terms import beginnings
from holdfast.core.search.words import (
    Terms,
    apart,
    chunks,
    is_little,
    is_question,
    looked_for,
    snippet,
)
from holdfast.model.log import SessionInfo
from holdfast.model.search import Hit, Query
from holdfast.model.span import EVERYTHING, OPEN
from holdfast.ports import Embedder
from holdfast.stores.search.indexing import catch_up, model_of, safe, told
from holdfast.stores.search.pending import Waiting
from holdfast.stores.search.ranked import (
    CANDIDATES,
    COMMON,
    COUNT,
    Scope,
    counted,
    ranked,
    totals,
    weighed_terms,
)
from holdfast.stores.search.tags import filters, within
from holdfast.stores.search.vectors import NEAREST, learn, nearest, nearness
from holdfast.stores.search.verbatim import Places, content, holding_first, within_names
from holdfast.stores.sql.keys import ORDINAL_BITS, entry_of, number_of, ordinal_of, parts_of, seq_of
from holdfast.stores.sql.lineage import of_session, ranges

if TYPE_CHECKING:
    from holdfast.stores.sqlite.connection import Sqlite

_FIND = (
    "SELECT rowid, weighed(search{weights}) FROM search WHERE search MATCH ? "
    "AND rowid BETWEEN ? AND ?{times} ORDER BY rowid DESC LIMIT ?"
)
_VECTORS = "SELECT place, vector FROM search_vectors WHERE place BETWEEN ? AND ?"
_FILTERED = (
    "SELECT v.place, v.vector FROM search CROSS JOIN search_vectors v ON v.place = search.rowid "
    "WHERE search MATCH ? AND search.rowid BETWEEN ? AND ?{times}"
)
_TIMES = (
    f" AND (SELECT created FROM entries WHERE place = search.rowid >> {ORDINAL_BITS}) "
    "BETWEEN ? AND ?"
)


_SAID = "SELECT 1 FROM search WHERE search MATCH ? LIMIT 1"
_VOCABULARY = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_words USING fts5vocab(main, search, col)"
)
_WORDS = (
    "SELECT term, doc FROM temp.search_words WHERE term >= ? AND term < ? AND col = 'words' "
    "AND length(term) BETWEEN ? AND ?"
)
LAST = "\U0010ffff"
"""Behind every letter that a word may have."""


class Asked(Struct, frozen=True):
    """A query in the words of the index."""

    query: Query
    phrases: tuple[str, ...]
    scope: Scope
    terms: Terms

    @property
    def expression(self) -> str:
        """What the index is asked for."""
        words = f"words : ({' AND '.join(self.phrases)})"
        return f"{words} AND {self.scope.tags}" if self.scope.tags else words


class FtsSearch:
    """Words by part; a session's parts are indexed up to its `indexed` mark."""

    def __init__(self, db: Sqlite, waiting: Waiting) -> None:
        self._db, self._waiting = db, waiting
        db.connection.register_fts5_function("weighed", weighed)
        db.connection.register_fts5_function("weighed_terms", weighed_terms)
        db.connection.register_fts5_function("counted", counted)

    async def catch_up(self, limit: int = 1000, embedder: Embedder | None = None) -> int:
        if self._db.read_only:
            return 0  # what was indexed before is found
        done = self._waiting.write()
        done += catch_up(self._db, max(limit - done, 0))
        if embedder and done < limit:
            done += learn(self._db, embedder, limit - done)
        return done

    async def find(self, query: Query, embedder: Embedder | None = None) -> tuple[Hit, ...]:
        wanted = looked_for(query)
        while await self.catch_up(embedder=embedder):
            pass
        with self._db.reading():
            asked = self._asked(query, wanted)
            found = self._exact(asked)
            if embedder:
                found = self._blended(asked, embedder, found)
            elif query.any and is_little(len(found), wanted):
                asked = replace(asked, terms=replace(wanted, beginnings=beginnings(query.words)))
                found = behind(found, self._some(asked))
            page = found[query.offset : query.offset + query.limit]
            sessions: dict[int, tuple[str, SessionInfo]] = {}
            hits = [self._hit(at, score, asked, sessions) for at, score in page]
        return tuple(hit for hit in hits if hit is not None)

    async def spelled_like(self, word: str) -> tuple[str, ...]:
        allowed = slips_allowed(word)
        with self._db.reading():
            if not allowed or self._db.rows(_SAID, (f'words : "{word}"',)):
                return ()
            self._db.connection.execute(_VOCABULARY)
            lengths = (len(word) - allowed, len(word) + allowed)
            spans = [(word[0], word[0] + LAST), ("", LAST)]  # a slip in the first letter is rare
            for span in spans:
                if near := nearest_words(word, self._db.rows(_WORDS, (*span, *lengths))):
                    return near
        return ()

    def _asked(self, query: Query, wanted: Terms) -> Asked:
        latest = self._db.rows("SELECT max(updated) FROM sessions")[0][0] or 0
        tags = " AND ".join(filters(query, latest))
        timed = query.since > 0 or query.until < OPEN
        scope = Scope(
            spans=self._spans(query.session),
            tags=f"about : ({tags})" if tags else "",
            times_sql=_TIMES if timed else "",
            times=(query.since, query.until - 1) if timed else (),
            open=of_whole_sessions(query),
            prefer=query.prefer,
            prefer_tags=f"about : {within(query.prefer, latest)}" if query.prefer else "",
        )
        return Asked(query, _phrases(query.words, wanted), scope, wanted)

    def _weights(self, phrases: tuple[str, ...]) -> tuple[float, ...]:
        """What each word of a part takes from its score, and what each phrase counts, which only
        matters where there are several."""
        parts, mean = totals(self._db)
        if len(phrases) == 1:
            return per_word(mean), 1.0
        counts = [self._db.rows(COUNT, (f"words : {one}", COMMON))[0][0] for one in phrases]
        return per_word(mean), *(rarity(parts, many) for many in counts)

    def _exact(self, asked: Asked) -> list[tuple[int, float]]:
        """The places of the parts that have every word: those that hold what is typed as it is
        typed, then the best of the newest, then the newest."""
        most = max(CANDIDATES, min(asked.query.offset + asked.query.limit, OPEN))
        weights = self._weights(asked.phrases)
        sql = _FIND.format(weights=", ?" * len(weights), times=asked.scope.times_sql)
        found: list[tuple[int, float]] = []
        for span in asked.scope.spans:
            values = (*weights, asked.expression, *span, *asked.scope.times)
            found += self._db.rows(sql, (*values, most - len(found)))
            if len(found) >= most:
                break
        best = sorted(found[:CANDIDATES], key=lambda one: -one[1])
        ordered = [*best, *found[CANDIDATES:]]
        strings, held = asked.terms.strings, bool(ordered)
        if strings:
            ordered, held = holding_first(self._db, ordered, strings)
        if (within := asked.terms.within) and not held:
            session = bool(asked.query.session)
            return behind(within_names(self._db, within, asked.scope, session=session), ordered)
        if asked.terms.phrase:
            ordered, _ = holding_first(self._db, ordered, (asked.terms.phrase,))
        return ordered

    def _some(self, asked: Asked) -> list[tuple[int, float]]:
        """What has some of the words, and for a question what stands beside it."""
        also = is_question(asked.terms)
        return ranked(self._db, asked.query.words, asked.scope, also=also)

    def _blended(
        self, asked: Asked, embedder: Embedder, found: list[tuple[int, float]]
    ) -> list[tuple[int, float]]:
        """What has every word, then what has some of them together with what is near in meaning."""
        (vector,) = embedder.embed([asked.query.words])
        near = nearest(self._db, embedder, vector, self._sources(asked))
        words = dict(behind(found[:NEAREST], self._some(asked)))
        near |= nearness(self._db, embedder, vector, list(words.keys() - near.keys()))
        return blended({at for at, _ in found}, words, near)

    def _sources(self, asked: Asked) -> list[tuple[str, tuple[Any, ...]]]:
        """Where the vectors are that the filters leave, the newest first."""
        order = " ORDER BY {} DESC LIMIT ?"
        scope = asked.scope
        if not scope.tags:
            return [(_VECTORS + order.format("place"), span) for span in scope.spans]
        sql = _FILTERED.format(times=scope.times_sql) + order.format("search.rowid")
        return [(sql, (scope.tags, *span, *scope.times)) for span in scope.spans]

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
        asked: Asked,
        sessions: dict[int, tuple[str, SessionInfo]],
    ) -> Hit | None:
        entry = entry_of(at)
        found = self._db.rows(
            "SELECT id, kind, role, created, data FROM entries WHERE place = ?", (entry,)
        )
        if not found:
            return None
        id, kind, role, created, data = found[0]
        home, session = self._session(number_of(entry), sessions)
        said = content(self._db, at)
        if said is None or kind not in ("message", said[0]):
            return None
        kind, text = said
        shown, marks = snippet(text, asked.terms)
        return Hit(
            session=asked.query.session or home,
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

    def _session(
        self, number: int, known: dict[int, tuple[str, SessionInfo]]
    ) -> tuple[str, SessionInfo]:
        if number not in known:
            ((id, data),) = self._db.rows("SELECT id, data FROM sessions WHERE n = ?", (number,))
            known[number] = id, told(data)
        return known[number]


def weighed(api: Any, word: Any, *weights: Any) -> float:
    """BM25 of one part, for words that count so much; tags weigh nothing."""
    room = SHORTEST + word * api.column_size(0)
    score = 0.0
    for phrase, weight in enumerate(weights):
        times = len(api.phrase_locations(phrase)[0])
        score += weight * times / (times + room)  # in place: it is called for each part
    return score


def behind(first: Places, others: Places) -> Places:
    """The one list behind the other, each place once."""
    seen = {at for at, _ in first}
    return [*first, *(one for one in others if one[0] not in seen)]


def _phrases(typed: str, wanted: Terms) -> tuple[str, ...]:
    """Each term as the index is asked for it; what people type is never syntax."""
    plain = safe(typed).replace("\0", " ")  # a NUL would end the query
    typed_so = [apart(chunk).replace('"', '""') for run, chunk in chunks(plain).items() if run]
    phrases = [f'"{chunk}"' for chunk in typed_so]
    if wanted.prefix:
        phrases[-1] += "*"
    return tuple(phrases)
