"""A transaction on one SQLite connection, which ends even where an interrupt keeps it from its end.

Rule 1: committed at its end, undone where something was raised.
Rule 2: an interrupt may strike between any two steps. What it left open is undone, and its lock is
        freed, as soon as nobody holds the transaction any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

from holdfast.failpoints import failpoint

if TYPE_CHECKING:
    from holdfast.stores.sqlite.store import Sqlite


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
