"""Words for the index that were made beforehand, and wait until a transaction of them is worth it.

They are only a shortcut: where a session is not as they expect it they are dropped, and what is
lost with the process was never more than that; the index catches up from the log.
"""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from holdfast.errors import HoldfastError
from holdfast.stores.search.indexing import Row, Step, whose_is, write
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.keys import part_place, parts_of, place
from holdfast.stores.sql.prebuilt import Laid

ENOUGH = 8 << 20
"""So many characters are written at once: in fewer pieces an index is made in half of the time."""


class Words(Struct, frozen=True):
    """What the index is to have of some entries of a session."""

    number: int
    first: int
    many: int
    """The seq of the first entry, and how many there are."""
    project: str
    agent: str
    found: list[Row]

    @classmethod
    def of(cls, number: int, laid: Laid) -> Words:
        """The words of entries that are in the session of this number now."""
        start = part_place(place(number, 0), 0)
        found = [(at + start, words, about, stems) for at, words, about, stems in laid.words]
        return cls(number, laid.first, len(laid.rows.entries), laid.project, laid.agent, found)

    @property
    def size(self) -> int:
        """How many characters they are."""
        return sum([len(text) for _, text, _, _ in self.found])


class Waiting:
    """The words that are not written yet."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._words: list[Words] = []
        self._size = 0

    def add(self, words: list[Words]) -> None:
        """Take some; write all once they are many. Failing is no harm: the index lags, then."""
        self._words += words
        self._size += sum([one.size for one in words])
        if self._size >= ENOUGH:
            with suppress(HoldfastError):
                self.write()

    def write(self) -> int:
        """Write all there are; as how many parts they count."""
        words, self._words, self._size = self._words, [], 0
        if not words:
            return 0
        with self._db.writing():
            return sum([self._one(one) for one in words])

    def _one(self, words: Words) -> int:
        whose = whose_is(self._db, words.number)
        expected = (words.first - 1, words.project, words.agent)
        if whose is None or (whose.indexed, whose.project, whose.agent) != expected:
            return 0
        upto = words.first + words.many - 1
        parts = parts_of(place(words.number, words.first), place(words.number, upto))
        many = max(len(words.found), words.many)
        return write(self._db, Step(whose, upto, parts, 0, many, words.found))
