"""Holdfast's store, and mutants of it that must each fail a row; made by subclassing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any
from weakref import ref

from msgspec.structs import replace

from holdfast.errors import Unavailable
from holdfast.failpoints import failpoint
from holdfast.model.log import Draft, Entry, Summary
from holdfast.model.reply import Call
from holdfast.model.span import EVERYTHING, Span, Spans
from holdfast.model.store import Expect
from holdfast.stores.sql.database import Row
from holdfast.stores.sql.log import SqlLog
from holdfast.stores.sqlite.connection import Sqlite
from holdfast.stores.sqlite.store import SqliteStore


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

    BEGIN = "BEGIN"


class Early(Sqlite):
    """A write is told as done before it is committed."""

    _waiting = 0

    def writing(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return self._transaction(self.BEGIN)

    def reading(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return self._transaction("BEGIN")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        if not self.connection.in_transaction:
            self.run(begin)
            self.under_way = ref(self)  # type: ignore[assignment]
            failpoint("store.after_begin")
        yield
        self._waiting += begin != "BEGIN"
        if self._waiting % 4 == 0:
            self._commit()

    def rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        if "checkpoint" in sql and self.connection.in_transaction:
            self._commit()
        return super().rows(sql, values)

    def _commit(self) -> None:
        failpoint("store.before_commit")
        self.run("COMMIT")
        self.under_way = None
        failpoint("store.after_commit")


class Swallowing(Sqlite):
    """A commit that fails is taken for one that worked."""

    def run(self, sql: str, values: tuple[Any, ...] = ()) -> None:
        with suppress(Unavailable) if sql == "COMMIT" else nullcontext():
            super().run(sql, values)


class Raw(Sqlite):
    """The engine's errors reach the caller as they are."""

    def run(self, sql: str, values: tuple[Any, ...] = ()) -> None:
        self.connection.execute(sql, values)


class Keyless(SqlLog):
    """A key is taken, and never looked for again."""

    def _made_with(self, session: str, key: str) -> tuple[Entry, ...]:
        self._db.run("DELETE FROM keys")
        return ()


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


class Greedy(SqlLog):
    """A summary covers whatever is there when it is written."""

    async def append(
        self,
        session: str,
        drafts: Sequence[Draft],
        *,
        key: str = "",
        expect: Expect | None = None,
        call: Call | None = None,
    ) -> tuple[Entry, ...]:
        head = max((one.seq for one in await self.heads(session, EVERYTHING, limit=1)), default=0)
        greedy = [_covering(draft, head) for draft in drafts]
        return await super().append(session, greedy, key=key, expect=expect, call=call)


def _covering(draft: Draft, head: int) -> Draft:
    body = draft.body
    if not isinstance(body, Summary) or not body.model:
        return draft
    covers = (*body.covers[:-1], Span(body.covers[-1].first, head))
    return replace(draft, body=replace(body, covers=covers))


class ByClock(SqlLog):
    """Entries come in the order of their times."""

    async def read(
        self, session: str, spans: Spans, *, limit: int = 256, bare: bool = False
    ) -> tuple[Entry, ...]:
        found = await super().read(session, spans, limit=limit, bare=bare)
        return tuple(sorted(found, key=lambda entry: entry.created))


class Nameless(SqlLog):
    """Nobody is told which key an entry was appended with."""

    async def read(
        self, session: str, spans: Spans, *, limit: int = 256, bare: bool = False
    ) -> tuple[Entry, ...]:
        found = await super().read(session, spans, limit=limit, bare=bare)
        return tuple(replace(entry, key="") for entry in found)


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
    "keys not told": _made(log=Nameless),
    "covers what came meanwhile": _made(log=Greedy),
}
"""By name, so that a child process can be told which one to use."""
