"""The counts port over SQL."""

from __future__ import annotations

from holdfast.model.log import PartRef
from holdfast.model.span import Span, Spans
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.keys import part_at, part_place, parts_of, place
from holdfast.stores.sql.lineage import Lineage, of_session, ranges


class SqlCounts:
    """One row for each part and counter."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def known(self, session: str, spans: Spans, counter: str) -> dict[PartRef, int]:
        found: dict[PartRef, int] = {}
        with self._db.reading():
            for first, last in ranges(of_session(self._db, session), spans):
                for at, tokens in self._db.rows(
                    "SELECT part, tokens FROM counts WHERE part BETWEEN ? AND ? AND counter = ?",
                    (*parts_of(first, last), counter),
                ):
                    found[part_at(at)] = tokens
        return found

    async def tally(self, session: str, counter: str, counts: dict[PartRef, int]) -> None:
        with self._db.writing():
            line = of_session(self._db, session)
            told = [
                (at, counter, tokens)
                for ref, tokens in counts.items()
                if (at := _place(line, ref)) is not None and self._holds(at)
            ]
            self._db.run_many(
                "INSERT INTO counts VALUES (?, ?, ?) "
                "ON CONFLICT (part, counter) DO UPDATE SET tokens = excluded.tokens",
                told,
            )

    def _holds(self, at: int) -> bool:
        return bool(self._db.rows("SELECT 1 FROM parts WHERE place = ?", (at,)))


def _place(line: Lineage, ref: PartRef) -> int | None:
    home = next((s for s in line if ref.seq in Span(s.first, s.last)), None)
    return part_place(place(home.number, ref.seq), ref.ordinal) if home else None
