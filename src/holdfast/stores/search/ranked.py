"""What has some of a question's words: ranked by BM25 over words, stems and pieces of names.

Rule 1: of what matches, the CANDIDATES newest are weighed that hold one of the rarest terms, or two
        of the next rarest; a question of common words costs no more than one of rare ones.
Rule 2: what stands beside a hit counts too (neighbours.py), in the same session.
Rule 3: what was said at a time that is preferred counts more (core/search/ranking.py); of such a
        time, as many are weighed besides.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, combinations
from typing import Any, Final

from msgspec import Struct

from holdfast.core.search.neighbours import spread
from holdfast.core.search.ranking import SHORTEST, per_word, preferred, rarity, saturated
from holdfast.core.search.terms import MARK, question_terms
from holdfast.core.search.words import apart, is_alone
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.keys import ORDINAL_BITS, entry_of

CANDIDATES: Final = 2_000
"""So many of what matches are weighed, the newest."""

COMMON: Final = 10_000
"""A word in more parts than this counts as one that is in so many."""

MOST_TERMS: Final = 32
"""So many terms of a question are weighed, the rarest."""

PAIRED: Final = 5
"""So many terms, the rarest that are not rare enough alone, are looked for in pairs."""

FOUND: Final = 500
"""So many parts are ranked at most."""

COUNT = "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?)"
_FIND = (
    "SELECT rowid, weighed_terms(search{weights}) FROM search WHERE search MATCH ? "
    "AND rowid BETWEEN ? AND ?{times} ORDER BY rowid DESC LIMIT ?"
)
_CREATED = (
    "SELECT e.place, e.created FROM json_each(?) one CROSS JOIN entries e ON e.place = one.value"
)
_BESIDE = (
    "SELECT min(p.place) FROM json_each(?) beside JOIN parts p ON p.place "
    f"BETWEEN beside.value << {ORDINAL_BITS} AND ((beside.value + 1) << {ORDINAL_BITS}) - 1 "
    "WHERE p.kind = 'text' GROUP BY beside.value"
)


class Term(Struct, frozen=True, order=True):
    """A term of a question, and in how many parts it is."""

    many: int
    phrases: tuple[str, ...]
    """As a word, and as what is hidden in others."""

    @property
    def expression(self) -> str:
        """What the index is asked for."""
        return f"({' OR '.join(self.phrases)})"


class Scope(Struct, frozen=True):
    """Where to look."""

    spans: Sequence[tuple[int, int]]
    """The ranges of places, the newest first."""
    tags: str
    """What must be among the tags; empty where there is no filter."""
    times_sql: str
    times: tuple[int, ...]

    open: bool
    """Whether whole sessions are asked for: what stands beside a hit may be found."""
    prefer: tuple[tuple[int, int], ...] = ()
    """Times whose parts come earlier, and are weighed however many newer ones there are."""
    prefer_tags: str = ""
    """These times among the tags; what the spans of the tags hold beyond them is not preferred."""


def ranked(db: Database, typed: str, scope: Scope, *, also: bool) -> list[tuple[int, float]]:
    """Parts that have some of the words, best first; a score of 1 is a part with all of them.
    `also`: what stands beside them, where whole sessions are asked for."""
    terms = sorted(_terms(db, typed))[:MOST_TERMS]
    if not terms:
        return []
    parts, mean = totals(db)
    weights = [rarity(parts, term.many) for term in terms]
    gate = _gate(terms)
    counting = [per_word(mean), gate.count('"') // 2, *_weights(terms, weights)]
    sql = _FIND.format(weights=", ?" * len(counting), times=scope.times_sql)
    every = " OR ".join(term.expression for term in terms)
    asked = f"{{words stems}} : ({gate}) AND {{words stems}} : ({every})"
    asked = f"{asked} AND {scope.tags}" if scope.tags else asked
    own = _newest(db, sql, counting, asked, scope)
    if scope.prefer_tags and len(own) >= CANDIDATES:
        own |= _newest(db, sql, counting, f"{asked} AND {scope.prefer_tags}", scope)
    whole = sum(weights)
    found = _with_neighbours(db, own, scope, mean, also=also and scope.open)
    if scope.prefer:
        found = preferred(found, _created(db, found), scope.prefer)
    best = sorted(found.items(), key=lambda one: (-one[1], -one[0]))[:FOUND]
    return [(at, score / whole) for at, score in best]


def _newest(
    db: Database, sql: str, counting: Sequence[float], asked: str, scope: Scope
) -> dict[int, float]:
    """What the newest parts score that match."""
    own: dict[int, float] = {}
    for span in scope.spans:
        own |= dict(db.rows(sql, (*counting, asked, *span, *scope.times, CANDIDATES - len(own))))
        if len(own) >= CANDIDATES:
            break
    return own


def _created(db: Database, parts: Iterable[int]) -> dict[int, int]:
    """When each of these parts was said."""
    at = {part: entry_of(part) for part in parts}
    when: dict[int, int] = dict(db.rows(_CREATED, (json.dumps([*set(at.values())]),)))
    return {part: when[entry] for part, entry in at.items() if entry in when}


def _terms(db: Database, typed: str) -> Iterator[Term]:
    """The terms of a question that are anywhere."""
    for term in question_terms(typed):
        phrases = _phrases(term)
        expression = f"{{words stems}} : ({' OR '.join(phrases)})"
        if many := db.rows(COUNT, (expression, COMMON))[0][0]:
            yield Term(many, phrases)


def _phrases(term: str) -> tuple[str, ...]:
    if is_alone(term[0]):
        return (f'"{apart(term)}"',)
    return (f'"{term}"', f'"{MARK}{term}"')


def _gate(terms: Sequence[Term]) -> str:
    """What has to be there: any of the rarest terms, or any two of the next."""
    sums = accumulate(term.many for term in terms)
    enough = max(1, sum(held <= CANDIDATES for held in sums))
    pairs = combinations(terms[enough : enough + PAIRED], 2)
    either = [term.expression for term in terms[:enough]]
    both = [f"({one.expression} AND {other.expression})" for one, other in pairs]
    return " OR ".join(either + both)


def _weights(terms: Sequence[Term], weights: Sequence[float]) -> Iterator[float]:
    """For each phrase what it counts; the second of a term counts with the first."""
    for term, weight in zip(terms, weights, strict=True):
        yield from (weight, *[0.0] * (len(term.phrases) - 1))


def weighed_terms(api: Any, word: Any, gate: Any, *weights: Any) -> float:
    """BM25 of one part for the terms behind the gate: a weight of 0 is that of the one before."""
    room = SHORTEST + word * api.column_size(0)
    score, weight, times = 0.0, 0.0, 0
    for phrase, own in enumerate(weights, gate):
        if own:
            score += weight * saturated(times, room) if times else 0.0
            weight, times = own, 0
        words, _, stems = api.phrase_locations(phrase)
        times += len(words) + len(stems)
    return score + (weight * saturated(times, room) if times else 0.0)


def totals(db: Database) -> tuple[int, float]:
    """How many parts there are in the index, and how many words they have on average."""
    found = db.rows("SELECT counted(search) FROM search LIMIT 1")
    parts, words = map(int, found[0][0].split()) if found else (0, 0)
    return parts, words / max(parts, 1)


def counted(api: Any, *_: Any) -> str:
    """How many parts and words there are in the index."""
    return f"{api.row_count} {api.column_total_size(0)}"


def _with_neighbours(
    db: Database, own: dict[int, float], scope: Scope, words: float, *, also: bool
) -> dict[int, float]:
    """Parts with what their neighbours give; `also` those beside them that have no such word."""
    entries: dict[int, float] = {}
    for at, score in own.items():
        entry = entry_of(at)
        entries[entry] = max(entries.get(entry, 0.0), score)
    scores = spread(entries, words, also=also)
    given = {entry: score - entries.get(entry, 0.0) for entry, score in scores.items()}
    found = {at: score + given[entry_of(at)] for at, score in own.items()}
    beside = sorted(given.keys() - entries.keys(), key=lambda entry: -given[entry])[:FOUND]
    for at in _texts(db, beside, scope):
        found[at] = given[entry_of(at)]
    return found


def _texts(db: Database, entries: Sequence[int], scope: Scope) -> list[int]:
    """The first text of each of these entries, where it is one that is looked in."""
    found = [at for (at,) in db.rows(_BESIDE, (json.dumps(entries),))] if entries else []
    return [at for at in found if any(first <= at <= last for first, last in scope.spans)]
