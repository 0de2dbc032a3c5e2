"""What the SQL ports ask of a database: rows, transactions, and a few words of dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

Row = tuple[Any, ...]


class Database(Protocol):
    """One connection to one database. Statements are written with `?` for each value."""

    for_update: str
    """Appended to a SELECT that must lock its row until the transaction ends."""
    where: str
    """Which database it is, for messages to people."""

    def rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """Every row of a query."""
        ...

    def stream(self, sql: str, values: tuple[Any, ...] = ()) -> Iterator[Row]:
        """The rows of a query one by one."""
        ...

    def run(self, sql: str, values: tuple[Any, ...] = ()) -> None:
        """One statement."""
        ...

    def run_many(self, sql: str, many: Iterable[tuple[Any, ...]]) -> None:
        """One statement for each tuple of values."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """A transaction that has the right to write from its first moment; all or nothing."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """Everything this thread writes inside it is one transaction."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """One snapshot for several reads."""
        ...

    def forget(self, first: int, last: int) -> None:
        """Take these parts out of the search index."""
        ...

    def forget_wholly(self, number: int, first: int, last: int) -> bool:
        """Do so with all of a session; whether no trace of its words is left by now."""
        ...

    def discard(self, session: str, number: int, *, only_junk: bool) -> tuple[str, ...]:
        """Remove the backups that hold a session which is about to be erased; their paths.

        With `only_junk` those alone that were never finished.
        """
        ...

    def holding(self, session: str, number: int) -> tuple[str, ...]:
        """The backups that hold it; damaged ones, which nobody can ask quickly, may."""
        ...

    def settle(self) -> str:
        """Let nothing that was deleted linger in a journal; what still does, and why, in words."""
        ...
