"""Holdfast's store, and mutants of it that must each fail a row; made by subclassing, in tests only."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Iterator

from holdfast.errors import Unavailable
from holdfast.model.log import Draft, Entry
from holdfast.model.reply import Call
from holdfast.model.span import Spans
from holdfast.model.store import Expect
from holdfast.stores.sql.log import SqlLog
from holdfast.stores.sqlite import Sqlite, SqliteStore


class Normal(Sqlite):
    """A commit is not synced."""

    def _prepare(self) -> None:
        super()._prepare()
        self.connection.execute("PRAGMA synchronous=NORMAL")


class Off(Sqlite):
    """Nothing is ever synced."""

    def _prepare(self) -> None:
        super()._prepare()
        self.connection.execute("PRAGMA synchronous=OFF")


class Deferred(Sqlite):
    """A writer asks for the right to write only once it has read."""

    def writing(self) -> AbstractContextManager[None]:
        return self._transaction("BEGIN")


class Early(Sqlite):
    """A write is told as done before it is committed."""

    _pending = 0

    @contextmanager
    def _early(self) -> Iterator[None]:
        if not self.connection.in_transaction:
            self.run("BEGIN IMMEDIATE")
        yield
        self._pending += 1
        if self._pending % 4 == 0:
            self.run("COMMIT")

    def writing(self) -> AbstractContextManager[None]:
        return self._early()

    @contextmanager
    def _peek(self) -> Iterator[None]:
        yield

    def reading(self) -> AbstractContextManager[None]:
        return self._peek() if self.connection.in_transaction else super().reading()


class Swallowing(Sqlite):
    """A commit that fails is taken for one that worked."""

    def run(self, sql: str, values: tuple[Any, ...] = ()) -> None:
        with suppress(Unavailable) if sql == "COMMIT" else _nothing():
            super().run(sql, values)


class Raw(Sqlite):
    """The engine's errors reach the caller as they are."""

    def run(self, sql: str, values: tuple[Any, ...] = ()) -> None:
        self.connection.execute(sql, values)


@contextmanager
def _nothing() -> Iterator[None]:
    yield


class Keyless(SqlLog):
    """A key is taken and forgotten."""

    async def append(
        self,
        session: str,
        drafts: Sequence[Draft],
        *,
        key: str = "",
        expect: Expect | None = None,
        call: Call | None = None,
    ) -> tuple[Entry, ...]:
        return await super().append(session, drafts, expect=expect, call=call)


class Careless(SqlLog):
    """What a writer expects is not looked at."""

    async def append(
        self,
        session: str,
        drafts: Sequence[Draft],
        *,
        key: str = "",
        expect: Expect | None = None,
        call: Call | None = None,
    ) -> tuple[Entry, ...]:
        return await super().append(session, drafts, key=key, call=call)


class ByClock(SqlLog):
    """Entries come in the order of their times."""

    async def read(self, session: str, spans: Spans, *, limit: int = 256) -> tuple[Entry, ...]:
        found = await super().read(session, spans, limit=limit)
        return tuple(sorted(found, key=lambda entry: entry.created))


def _made(connect: type[Sqlite] = Sqlite, log: type[SqlLog] = SqlLog) -> type[SqliteStore]:
    class Made(SqliteStore):
        def __init__(self, db: Sqlite) -> None:
            super().__init__(db)
            self.log = log(db)

    Made.connect = connect
    return Made


STORES: dict[str, type[SqliteStore]] = {
    "holdfast": SqliteStore,
    "synchronous=NORMAL": _made(Normal),
    "synchronous=OFF": _made(Off),
    "BEGIN for IMMEDIATE": _made(Deferred),
    "told before the commit": _made(Early),
    "commit errors swallowed": _made(Swallowing),
    "errors not mapped": _made(Raw),
    "keys ignored": _made(log=Keyless),
    "expectations ignored": _made(log=Careless),
    "ordered by the clock": _made(log=ByClock),
}
"""By name, so that a child process can be told which one to use."""
