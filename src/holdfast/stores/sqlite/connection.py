"""A connection to SQLite: statements, transactions, and errors in our own words.

Rule 1: a transaction is committed at its end, and undone where something was raised.
Rule 2: an interrupt may strike between any two steps. What it left open is undone, and its lock is
        freed, as soon as nobody holds the transaction any more.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NoReturn
from weakref import ref

import apsw

from holdfast.errors import Corrupt, HoldfastError, InvalidRequest, StoreError, Unavailable
from holdfast.failpoints import failpoint
from holdfast.stores.health.backups import discard, holding
from holdfast.stores.search.indexing import SCHEMA
from holdfast.stores.sql.database import Row
from holdfast.stores.sql.keys import entry_of, number_of, seq_of
from holdfast.stores.sqlite.location import (
    OURS,
    file_at,
    for_reading,
    foreign,
    harden,
    is_read_only,
    make_private,
    owner_of,
)
from holdfast.stores.sqlite.migrations import check_migrated, migrate
from holdfast.stores.sqlite.schema import check_schema

OLDEST = (3, 51, 3)
"""Older engines can corrupt a WAL that several connections write and checkpoint (3.7.0–3.51.2)."""

PATIENCE = 15_000
"""How long to wait for another writer, in ms."""

SHORT_PATIENCE = 500
"""How long to wait for readers before saying what they still hold, in ms."""

FEW_PAGES = 600
"""An index of fewer pages is merged at once when a session is erased; a larger one by a job."""

_READ_BY_OTHERS = (
    "{0} and its -wal may hold what was deleted for as long as somebody reads an older state: end "
    "that reader, then run `holdfast doctor --repair`"
)

WORDS = {
    "identity": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "key": "INTEGER PRIMARY KEY",
    "bytes": "BLOB",
    "clustered": "WITHOUT ROWID",
    "search": SCHEMA,
}


class Sqlite:
    """One connection: statements, transactions, and errors in our own words."""

    for_update = ""
    words = WORDS

    BEGIN = "BEGIN IMMEDIATE"
    """How a writer begins: with the right to write, so that it never reads what goes stale."""

    def __init__(self, path: Path, vfs: str | None = None) -> None:
        self.where = str(path)
        self.path = path
        self.read_only = is_read_only(path)
        """Whether it can only be read: nothing beside it is made, nothing in it is changed."""
        self.lock = threading.RLock()
        self._owner = os.getpid()
        self._closed = False
        self._together = 0
        self.under_way: ref[Transaction] | None = None
        """The transaction that is; what is open without one was left so by an interrupt."""
        """The thread whose transactions are all one now."""
        try:
            self.connection = self._connected(path, vfs)
        except apsw.Error as error:
            raise mapped(error, self.where) from error
        self._cursor = self.connection.cursor()
        self.deadline = harden(self.connection, PATIENCE / 1000 + 15)
        """Until its schema has been compared with ours, no statement may take long."""
        try:
            self._check_owner()
            self._prepare()
        except apsw.Error as error:
            with suppress(apsw.Error):
                self.connection.close()
            raise mapped(error, self.where) from error

    def _connected(self, path: Path, vfs: str | None) -> apsw.Connection:
        if not self.read_only:
            return apsw.Connection(str(path), vfs=vfs)
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(for_reading(path), flags=flags, vfs=vfs)

    def _check_owner(self) -> None:
        """Refuse a database that another program made; mark a new one as ours."""
        self.connection.set_busy_timeout(PATIENCE)
        owner = owner_of(self.connection)
        if owner == "nobody":
            # Before the journal is switched, so that the mark is in the file itself.
            self.connection.execute(f"PRAGMA application_id={OURS}")
        elif owner != "us":
            self.connection.close()
            raise foreign(self.where)

    def _prepare(self) -> None:
        durable = ("journal_mode=WAL", "synchronous=FULL", "fullfsync=ON")
        for pragma in (
            *(() if self.read_only else durable),
            "checkpoint_fullfsync=ON",
            "foreign_keys=OFF",
            "cell_size_check=ON",
            "secure_delete=ON",
            "mmap_size=0",
            "temp_store=MEMORY",
            "journal_size_limit=67108864",
        ):
            self.connection.execute(f"PRAGMA {pragma}")

    def rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        if self._closed or self._owner != os.getpid():
            self._refuse()
        with self.lock:
            if self.connection.in_transaction and not self.under_way:
                self.undo()  # what nobody committed is not read either
            try:
                return self.connection.execute(sql, values).fetchall()
            except UnicodeEncodeError:
                return self.rows(sql, tuple(map(_bindable, values)))
            except apsw.Error as error:
                raise mapped(error, self.where) from error

    def stream(self, sql: str, values: tuple[Any, ...] = ()) -> Iterator[Row]:
        if self._closed or self._owner != os.getpid():
            self._refuse()
        with self.lock:
            try:
                yield from self.connection.execute(sql, values)
            except apsw.Error as error:
                raise mapped(error, self.where) from error

    def run(self, sql: str, values: tuple[Any, ...] = ()) -> None:
        if self._closed or self._owner != os.getpid():
            self._refuse()
        with self.lock:
            try:
                self.connection.execute(sql, values)
            except apsw.Error as error:
                raise mapped(error, self.where) from error

    def run_many(self, sql: str, many: Iterable[tuple[Any, ...]]) -> None:
        if self._closed or self._owner != os.getpid():
            self._refuse()
        with self.lock:
            try:
                self.connection.executemany(sql, many)
            except apsw.Error as error:
                raise mapped(error, self.where) from error

    def attempt(self, sql: str, values: Sequence[Any]) -> bool:
        """A transaction in one call, up to its commit; kept where its last statement changed a row.

        Whether it was kept: it is not where it breaks a constraint either.
        """
        if self._closed or self._owner != os.getpid():
            self._refuse()
        with self.lock:
            connection, execute = self.connection, self._cursor.execute
            if connection.in_transaction:
                self.clear()
            try:
                execute(sql, values)
                if connection.changes() == 1:
                    execute("COMMIT")
                    return True
            except apsw.ConstraintError:
                pass
            except apsw.Error as error:
                self.undo()
                raise mapped(error, self.where) from error
            except BaseException:
                self.undo()
                raise
            self.undo()
            return False

    def clear(self) -> None:
        """Undo what an interrupt left open; refuse where a transaction is under way."""
        if self.under_way:
            raise InvalidRequest("a transaction inside a transaction")
        self.undo()

    def abandoned(self, _: object) -> None:
        """End a transaction that an interrupt kept from its end; nobody holds it any more."""
        self.undo()
        self.under_way = None
        with suppress(RuntimeError):  # another thread let go of it than the one that began it
            self.lock.release()

    def undo(self) -> None:
        """End a transaction that failed; why it did is told, not that undoing failed too."""
        if self.connection.in_transaction:
            with suppress(apsw.Error):
                self.connection.execute("ROLLBACK")

    def writing(self) -> AbstractContextManager[None]:
        return self._transaction(self.BEGIN)

    def reading(self) -> AbstractContextManager[None]:
        return self._transaction("BEGIN")

    def _transaction(self, begin: str) -> AbstractContextManager[None]:
        return nullcontext() if self.inside else Transaction(self, begin)

    @property
    def inside(self) -> bool:
        """Whether what this thread writes is a part of something larger."""
        return self._together == threading.get_ident()

    @contextmanager
    def together(self) -> Iterator[None]:
        with self.writing():
            self._together = threading.get_ident()
            try:
                yield
            finally:
                self._together = 0

    def forget(self, first: int, last: int) -> None:
        # Even where nothing is deleted, the index first writes down what it holds so far
        if self.rows(
            "SELECT 1 FROM search_docsize WHERE id BETWEEN ? AND ? LIMIT 1", (first, last)
        ):
            self.run("DELETE FROM search WHERE rowid BETWEEN ? AND ?", (first, last))
        self.run("DELETE FROM search_vectors WHERE place BETWEEN ? AND ?", (first, last))
        before, number = seq_of(entry_of(first)) - 1, number_of(entry_of(first))
        self.run("UPDATE search_learned SET upto = min(upto, ?) WHERE n = ?", (before, number))

    def forget_wholly(self, number: int, first: int, last: int) -> bool:
        indexed = bool(
            self.rows(
                "SELECT 1 FROM search_docsize WHERE id BETWEEN ? AND ? LIMIT 1", (first, last)
            )
        )
        self.forget(first, last)
        self.run("DELETE FROM search_learned WHERE n = ?", (number,))
        pages = self.rows("SELECT count(*) FROM (SELECT 1 FROM search_data LIMIT ?)", (FEW_PAGES,))
        if pages[0][0] < FEW_PAGES:
            # Until segments are merged, a contentless index only marks what is deleted
            self.run("INSERT INTO search (search) VALUES ('optimize')")
            return True
        return not indexed

    def discard(self, session: str, number: int, *, only_junk: bool) -> tuple[str, ...]:
        try:
            return discard(self.path, session, number, only_junk=only_junk)
        except OSError as error:
            raise Unavailable(
                f"a backup that may hold {session} cannot be removed ({error}); nothing was "
                "erased: check its owner and mode, then retry"
            ) from error

    def holding(self, session: str, number: int) -> tuple[str, ...]:
        try:
            return holding(self.path, session, number)
        except OSError as error:
            raise Unavailable(
                f"the backups of {self.where} cannot be read ({error}); nothing was erased: check "
                "their owner and mode, then retry"
            ) from error

    def settle(self) -> str:
        with self.lock:
            self.connection.set_busy_timeout(SHORT_PATIENCE)
            try:
                busy = self.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
            except StoreError:
                busy = True
            finally:
                self.connection.set_busy_timeout(PATIENCE)
        doubts = [_READ_BY_OTHERS.format(self.where)] if busy else []
        return "; ".join(doubts)

    def mapped(self, error: apsw.Error) -> HoldfastError:
        """What an error of the engine means for the caller."""
        return mapped(error, self.where)

    def close(self) -> None:
        if self._owner != os.getpid():
            return
        with self.lock:
            self._closed = True
            try:
                self.connection.close()
            except apsw.Error as error:
                raise mapped(error, self.where) from error

    def check_usable(self) -> None:
        """Refuse where it is closed, or was opened by another process."""
        if self._closed or self._owner != os.getpid():
            self._refuse()

    def _refuse(self) -> NoReturn:
        if self._closed:
            raise InvalidRequest(f"{self.where} is closed; open it again")
        raise InvalidRequest(
            "this store was opened before a fork; open it again in the new process"
        )


def mapped(error: apsw.Error, where: str) -> HoldfastError:
    """What an error of the engine means for the caller."""
    for kinds, make in _MEANINGS:
        if isinstance(error, kinds):
            return make(where, error)
    return StoreError(f"{where}: {error}")


def _unavailable(why: str, do: str) -> Any:
    return lambda where, error: Unavailable(f"{where} {why} ({error}); {do}")


_MEANINGS: tuple[tuple[tuple[type[apsw.Error], ...], Any], ...] = (
    (
        (apsw.CorruptError, apsw.NotADBError),
        lambda where, error: Corrupt(
            f"{where} is damaged ({error}); nothing was changed: run `holdfast doctor`, and keep a "
            "copy of the file and its -wal first"
        ),
    ),
    (
        (apsw.BusyError, apsw.LockedError),
        _unavailable("is locked by another process", "try again, or end that process"),
    ),
    (
        (apsw.InterruptError,),
        _unavailable("could not be read in time", "it may not be a store; name another --store"),
    ),
    (
        (apsw.FullError,),
        _unavailable("cannot grow: the disk is full", "free some space, then retry"),
    ),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        _unavailable("cannot be written", "check its owner and mode, or name another --store"),
    ),
    (
        (apsw.CantOpenError,),
        _unavailable(
            "cannot be opened",
            "check that the directory exists and you may write in it, or name another --store",
        ),
    ),
    (
        (apsw.IOError,),
        _unavailable(
            "could not be read or written; what was being appended may or may not be there",
            "check the disk, then retry with the same key",
        ),
    ),
    (
        (apsw.ConnectionClosedError,),
        lambda where, error: InvalidRequest(f"{where} is closed; open it again"),
    ),
)


class Transaction:
    """All or nothing: committed at its end, undone where something was raised."""

    __slots__ = ("__weakref__", "_begin", "_db")

    def __init__(self, db: Sqlite, begin: str) -> None:
        self._db, self._begin = db, begin

    def __enter__(self) -> None:
        db = self._db
        db.check_usable()  # first: a lock that another thread held at a fork is never freed
        db.lock.acquire()
        try:
            db.clear()
        except BaseException:
            db.lock.release()
            raise
        db.under_way = ref(self, db.abandoned)
        try:
            db.run(self._begin)
            failpoint("store.after_begin")
        except BaseException:
            self._leave()
            raise

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                failpoint("store.before_commit")
                self._db.run("COMMIT")
                failpoint("store.after_commit")
        finally:
            self._leave()

    def _leave(self) -> None:
        try:
            self._db.undo()
        finally:
            self._db.under_way = None
            self._db.lock.release()


def _bindable(value: Any) -> Any:
    """A value that can be looked for; half a surrogate pair is in no column, as bytes are in none
    of text, so that nothing is found."""
    if not isinstance(value, str):
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def opened(
    path: str | os.PathLike[str], *, vfs: str | None = None, connect: type[Sqlite] = Sqlite
) -> Sqlite:
    """A connection to the store at a path, made if absent, private either way, up to date."""
    check_engine(apsw.sqlite_lib_version())
    place = file_at(path)
    if not is_read_only(place):
        make_private(place)
    db = connect(place, vfs)
    try:
        check_schema(db, WORDS, str(place))
        db.deadline.end = None
        if db.read_only:
            check_migrated(db, str(place))
            return db
        migrate(db, WORDS, time.time_ns() // 1_000_000, str(place))
    except BaseException:
        with suppress(HoldfastError):
            db.close()
        raise
    return db


def check_engine(version: str) -> None:
    """Refuse an SQLite that is known to corrupt what several processes write."""
    if tuple(int(n) for n in version.split(".")[:3]) < OLDEST:
        raise Unavailable(
            f"SQLite {version} can corrupt a store that several processes write; "
            f"install an apsw that brings {'.'.join(map(str, OLDEST))} or newer"
        )
