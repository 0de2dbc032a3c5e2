"""The search port on SQLite: an FTS5 index of words and tags, catching up when asked.

Rule 1: every filter is a part of what the index is asked, so none of them reads what it leaves out.
Rule 2: the CANDIDATES newest of what matches are ranked by BM25; whatever more there is follows,
        the newest first. So a word that is everywhere costs no more than a rare one.
Rule 3: by meaning, the nearest of the newest vectors (vectors.py) are ranked together with what
        matches by words.
"""

from __future__ import annotations

from itertools import accumulate
from math import log
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.search.searchable_text import searchable
from holdfast.core.search.semantic import blended
from holdfast.core.search.spelling import nearest_words, slips_allowed
from holdfast.core.search.words import Terms, apart, chunks, looked_for, snippet
from holdfast.core.secrets import mask
from holdfast.model.log import SessionInfo
from holdfast.model.search import Hit, Query
from holdfast.model.span import EVERYTHING, OPEN
from holdfast.ports import Embedder
from holdfast.stores.search.indexing import catch_up, marker_text, model_of, read_part, safe, told
from holdfast.stores.search.pending import Waiting
from holdfast.stores.search.tags import filters
from holdfast.stores.search.vectors import NEAREST, learn, nearest, nearness
from holdfast.stores.sql.keys import ORDINAL_BITS, entry_of, number_of, ordinal_of, parts_of, seq_of
from holdfast.stores.sql.lineage import of_session, ranges

if TYPE_CHECKING:
    from holdfast.stores.sqlite.store import Sqlite

CANDIDATES = 2_000
"""So many of what matches are ranked, the newest."""

MOST_WORDS = 64
"""So many words of a query are weighed where any of them will do, the rarest."""

UNWEIGHED = -1
"""Instead of how many parts a phrase is in: it is weighed elsewhere."""

COMMON = 20_000
"""A word in more parts than this counts as one that is in so many."""

K1, B = 1.2, 0.75
"""BM25's own numbers: how soon repeating a word counts no more, and how much length does."""

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
    among: tuple[int, ...]
    """In how many parts each of the phrases stands."""
    tags: str
    """What must be among the tags; empty where there is no filter."""
    terms: Terms
    enough: int = 0
    """How many phrases, from the first on, have to be there: any one of these; 0: every one."""

    @property
    def expression(self) -> str:
        """What the index is asked for; it only weighs what it was asked for."""
        words = " AND ".join(self.phrases)
        if self.enough:
            words = (
                f"({' OR '.join(self.phrases[: self.enough])}) AND ({' OR '.join(self.phrases)})"
            )
        return f"words : ({words}) AND {self.tags}" if self.tags else f"words : ({words})"

    @property
    def weights(self) -> tuple[int, ...]:
        """For each phrase of the expression what it is weighed by; the first ones come twice."""
        return (*[UNWEIGHED] * self.enough, *self.among)

    @property
    def times(self) -> tuple[int, ...]:
        """From when to when, where that matters."""
        query = self.query
        return (query.since, query.until - 1) if query.since > 0 or query.until < OPEN else ()


class FtsSearch:
    """Words by part; a session's parts are indexed up to its `indexed` mark."""

    def __init__(self, db: Sqlite, waiting: Waiting) -> None:
        self._db, self._waiting = db, waiting
        db.connection.register_fts5_function("weighed", weighed)
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
            found = self._ranked(asked)
            if not found and (query.any or embedder):
                found = self._ranked(_loosened(asked))
            if embedder:
                found = self._blended(asked, embedder, found)
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
        phrases = _phrases(query.words, wanted)
        latest = self._db.rows("SELECT max(updated) FROM sessions")[0][0] or 0
        tags = " AND ".join(filters(query, latest))
        return Asked(
            query, phrases, self._among(phrases), f"about : ({tags})" if tags else "", wanted
        )

    def _among(self, phrases: tuple[str, ...]) -> tuple[int, ...]:
        """In how many parts each phrase stands; it only matters where there are several."""
        if len(phrases) == 1:
            return (1,)
        counting = "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?)"
        return tuple(
            self._db.rows(counting, (f"words : {phrase}", COMMON))[0][0] for phrase in phrases
        )

    def _ranked(self, asked: Asked) -> list[tuple[int, float]]:
        """The places of the parts that match, the best of the newest first, then the newest."""
        if not asked.phrases:
            return []
        most = max(CANDIDATES, min(asked.query.offset + asked.query.limit, OPEN))
        sql = _FIND.format(weights=", ?" * len(asked.weights), times=_TIMES if asked.times else "")
        found: list[tuple[int, float]] = []
        for span in self._spans(asked.query.session):
            values = (*asked.weights, asked.expression, *span, *asked.times)
            found += self._db.rows(sql, (*values, most - len(found)))
            if len(found) >= most:
                break
        best = sorted(found[:CANDIDATES], key=lambda one: -one[1])
        return [*best, *found[CANDIDATES:]]

    def _blended(
        self, asked: Asked, embedder: Embedder, found: list[tuple[int, float]]
    ) -> list[tuple[int, float]]:
        """What was found by words together with what is near in meaning."""
        (vector,) = embedder.embed([asked.query.words])
        ((parts,),) = self._db.rows("SELECT counted(search) FROM search LIMIT 1") or ((0,),)
        whole = sum(weight(parts, many) for many in asked.among)
        by_words = {at: score / whole for at, score in found[:NEAREST]}
        near = nearest(self._db, embedder, vector, self._sources(asked))
        near |= nearness(self._db, embedder, vector, list(by_words.keys() - near.keys()))
        return blended(by_words, near)

    def _sources(self, asked: Asked) -> list[tuple[str, tuple[Any, ...]]]:
        """Where the vectors are that the filters leave, the newest first."""
        order = " ORDER BY {} DESC LIMIT ?"
        if not asked.tags:
            sql = _VECTORS + order.format("place")
            return [(sql, span) for span in self._spans(asked.query.session)]
        sql = _FILTERED.format(times=_TIMES if asked.times else "") + order.format("search.rowid")
        return [
            (sql, (asked.tags, *span, *asked.times)) for span in self._spans(asked.query.session)
        ]

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
        content = self._content(at, entry, kind)
        if content is None:
            return None
        kind, text = content
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

    def _content(self, at: int, entry: int, kind: str) -> tuple[str, str] | None:
        """The kind and the text of what was found; None where a damaged store lacks it."""
        if kind != "message":
            marked = self._db.rows("SELECT data FROM markers WHERE place = ?", (entry,))
            return (kind, mask(marker_text(entry, marked[0][0]))) if marked else None
        parts = self._db.rows("SELECT kind, data, blob FROM parts WHERE place = ?", (at,))
        if not parts:
            return None
        kind, data, blob = parts[0]
        part = read_part(self._db, at, data, blob)
        return kind, mask(searchable(part)) if part else ""


def weighed(api: Any, *among: Any) -> float:
    """BM25 of one part, for words that stand in so many parts; tags weigh nothing."""
    parts = api.row_count
    mean = api.column_total_size(0) / max(parts, 1) or 1.0
    room = K1 * (1 - B + B * api.column_size(0) / mean)
    score = 0.0
    for phrase, many in enumerate(among):
        if many == UNWEIGHED:
            continue
        times = len(api.phrase_locations(phrase)[0])
        score += weight(parts, many) * times * (K1 + 1) / (times + room)
    return score


def weight(parts: int, many: int) -> float:
    """What a word counts that stands in so many of all parts."""
    return log(1 + (max(parts - many, 0) + 0.5) / (many + 0.5))


def counted(api: Any, *_: Any) -> int:
    """How many parts there are in the index."""
    return api.row_count


def _loosened(asked: Asked) -> Asked:
    """The same for any of its words: the rarest that together stand in no more than are ranked."""
    known = [pair for pair in zip(asked.among, asked.phrases, strict=True) if pair[0]]
    rare = sorted(known)[:MOST_WORDS] if len(asked.phrases) > 1 else []
    sums = accumulate(many for many, _ in rare)
    enough = max(1, sum(held <= CANDIDATES for held in sums))
    phrases = tuple(phrase for _, phrase in rare)
    return replace(asked, phrases=phrases, among=tuple(many for many, _ in rare), enough=enough)


def _phrases(typed: str, wanted: Terms) -> tuple[str, ...]:
    """Each term as the index is asked for it; what people type is never syntax."""
    plain = safe(typed).replace("\0", " ")  # a NUL would end the query
    typed_so = [apart(chunk).replace('"', '""') for run, chunk in chunks(plain).items() if run]
    phrases = [f'"{chunk}"' for chunk in typed_so]
    if wanted.prefix:
        phrases[-1] += "*"
    return tuple(phrases)
