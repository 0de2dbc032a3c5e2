"""The rows of a table that may be damaged, or may mean harm: those that can be reached.

Rule 1: rows come one by one and are put in order here. SQLite would hold all of them to sort them,
        and a few bytes of schema can make each as large as a value may be.
Rule 2: where a page is damaged, the rows of all others are looked for by their numbers.
Rule 3: all that is read together is bounded, in bytes and in time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import apsw

from holdfast.model.transcript_events import Problem

EACH = 1_000
"""How many numbers behind a damaged page are tried one by one; then it goes on in leaps."""

FURTHEST = 1 << 40
"""Beyond it there are no rows."""


class TooMuch(Exception):
    """A database that gives more than it can hold, or takes too long."""


class Rows:
    """Reads tables through one connection."""

    def __init__(self, connection: apsw.Connection, bytes: int, seconds: float) -> None:
        self._connection = connection
        self._left, self._end = bytes, time.monotonic() + seconds
        self._reached: dict[str, dict[bytes, list[int]]] = {}
        """Of damaged tables: the numbers of their rows, by what they belong to."""
        self._problems: list[Problem] = []

    def told(self) -> Iterator[Problem]:
        """What has turned out to be damaged since somebody asked."""
        problems, self._problems = self._problems, []
        yield from problems

    def of(
        self, table: str, columns: Sequence[str], key: str = "", value: str = ""
    ) -> list[tuple[bytes | None, ...]]:
        """The rows that belong to something, or all of them: in no order."""
        wanted = ", ".join(f'CAST("{name}" AS BLOB)' for name in columns)
        query = f"SELECT {wanted} FROM {table}"
        if table not in self._reached:
            try:
                if not key:
                    return list(self._run(query))
                return list(self._run(f'{query} WHERE "{key}" = ?', value))
            except apsw.CorruptError as why:
                damage = f"its table {table!r} is damaged: what can be reached was read ({why})"
                self._problems.append(Problem(damage))
                self._reached[table] = self._numbers(table, key)
        numbers = self._reached[table].get(value.encode("utf-8", "surrogatepass"), ())
        return [row for number in numbers for row in self._one(f"{query} WHERE rowid = ?", number)]

    def damaged(self, table: str) -> bool:
        """Whether not all of a table can be read."""
        return table in self._reached

    def owners(self, table: str, key: str) -> list[str]:
        """What the rows of a table belong to, each once."""
        if table not in self._reached:
            try:
                found = self._run(f'SELECT CAST("{key}" AS BLOB) FROM {table}')
                return [
                    (owner or b"").decode("utf-8", "replace") for owner in {one for (one,) in found}
                ]
            except apsw.CorruptError:
                self._reached[table] = self._numbers(table, key)
        return [owner.decode("utf-8", "replace") for owner in self._reached[table]]

    def _one(self, query: str, number: int) -> list[tuple[bytes | None, ...]]:
        try:
            return list(self._run(query, number))
        except apsw.CorruptError:
            return []

    def _numbers(self, table: str, key: str) -> dict[bytes, list[int]]:
        belongs = f'CAST("{key}" AS BLOB)' if key else "x''"
        query = f"SELECT rowid, {belongs} FROM {table} WHERE rowid >= ? ORDER BY rowid"
        found: dict[bytes, list[int]] = {}
        at, tried = 0, 0
        while at < FURTHEST:
            try:
                for number, owner in self._run(query, at):
                    if number >= at:  # a damaged tree may lead back
                        found.setdefault(owner or b"", []).append(number)
                        at, tried = number + 1, 0
                return found
            except apsw.CorruptError:
                self._in_time()
                tried += 1
                at += 1 if tried < EACH else 1 << min(tried - EACH, 40)
            except apsw.SQLError:  # its rows have no numbers
                return found
        return found

    def _run(self, query: str, *values: str | int) -> Iterator[tuple]:
        for row in self._connection.execute(query, values):
            self._left -= sum(len(value) for value in row if type(value) is bytes)
            if self._left < 0:
                raise TooMuch("gives more than it can hold, and is damaged")
            yield row
        self._in_time()

    def _in_time(self) -> None:
        if time.monotonic() > self._end:
            raise TooMuch("takes too long to be read")
