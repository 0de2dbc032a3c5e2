"""Vectors of what was said, beside the words of the index: they come when meaning is asked for."""

from __future__ import annotations

from heapq import nlargest
from typing import Any

from holdfast.core.search.semantic import KINDS, excerpt
from holdfast.ports import Embedder
from holdfast.stores.search.indexing import read_part
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.keys import parts_of, place

STEP = 64
"""Entries of a session that are learned at once."""

NEWEST = 100_000
"""So many vectors are compared, the newest of what the filters leave."""

NEAREST = 200
"""So many of them are ranked."""

_BEHIND = (
    "SELECT s.n, coalesce(l.upto, s.fork), s.indexed FROM sessions s "
    "LEFT JOIN search_learned l ON l.n = s.n AND l.maker = ? "
    "WHERE coalesce(l.upto, s.fork) < s.indexed{only} ORDER BY s.n"
)
_MARK = (
    "INSERT INTO search_learned (n, maker, upto) VALUES (?, ?, ?) "
    "ON CONFLICT (n) DO UPDATE SET maker = excluded.maker, upto = excluded.upto"
)
_SAID = (
    "SELECT place, data, blob FROM parts WHERE place BETWEEN ? AND ? AND kind IN "
    f"({', '.join('?' * len(KINDS))}) ORDER BY place"
)


def learn(db: Database, embedder: Embedder, limit: int) -> int:
    """Make vectors of what is indexed and has none, a few entries at a time; how many entries."""
    done = 0
    for number, upto, indexed in db.rows(_BEHIND.format(only=""), (embedder.name,)):
        while upto < indexed and done < limit:
            last = min(upto + STEP, indexed)
            if not _step(db, embedder, number, upto, last):
                return done + 1  # somebody else was here: the next call looks again
            done, upto = done + last - upto, last
        if done >= limit:
            break
    return done


def _step(db: Database, embedder: Embedder, number: int, upto: int, last: int) -> bool:
    """Learn some entries; not where the session has changed while their vectors were made."""
    within = parts_of(place(number, upto + 1), place(number, last))
    parts = [(at, read_part(db, at, *rest)) for at, *rest in db.rows(_SAID, (*within, *KINDS))]
    said = [(at, excerpt(part)) for at, part in parts if part]
    vectors = embedder.embed([text for _, text in said])
    with db.writing():
        again = db.rows(_BEHIND.format(only=" AND s.n = ?"), (embedder.name, number))
        if not again or again[0][1] != upto:
            return False
        db.run("DELETE FROM search_vectors WHERE place BETWEEN ? AND ?", within)
        rows = [(at, vector) for (at, _), vector in zip(said, vectors, strict=True)]
        db.run_many("INSERT INTO search_vectors (place, vector) VALUES (?, ?)", rows)
        db.run(_MARK, (number, embedder.name, last))
    return True


def nearest(
    db: Database, embedder: Embedder, asked: bytes, sources: list[tuple[str, tuple[Any, ...]]]
) -> dict[int, float]:
    """The places nearest in meaning; each source is a query for the places of some vectors."""
    found: list[tuple[int, bytes]] = []
    for sql, values in sources:
        found += db.rows(sql, (*values, NEWEST - len(found)))
        if len(found) >= NEWEST:
            break
    scores = embedder.alike(asked, [vector for _, vector in found])
    near = nlargest(NEAREST, zip(scores, (at for at, _ in found), strict=True))
    return {at: score for score, at in near}


def nearness(db: Database, embedder: Embedder, asked: bytes, places: list[int]) -> dict[int, float]:
    """How near in meaning some places are; those without a vector are left out."""
    marks = ", ".join("?" * len(places))
    found = db.rows(
        f"SELECT place, vector FROM search_vectors WHERE place IN ({marks})", tuple(places)
    )
    scores = embedder.alike(asked, [vector for _, vector in found])
    return {at: score for (at, _), score in zip(found, scores, strict=True)}
