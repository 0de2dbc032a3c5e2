"""The store on SQLite: one file, one writer at a time, durable when a call returns."""

from __future__ import annotations

import os
from typing import ClassVar

from holdfast.stores.health.port import SqliteCare
from holdfast.stores.search.fts import FtsSearch
from holdfast.stores.search.pending import Waiting
from holdfast.stores.sql.blobs import SqlBlobs
from holdfast.stores.sql.calls import SqlCalls
from holdfast.stores.sql.counts import SqlCounts
from holdfast.stores.sql.files import SqlFileHistory
from holdfast.stores.sql.imports import SqlImports
from holdfast.stores.sql.jobs import SqlJobs
from holdfast.stores.sql.notes import SqlNotes
from holdfast.stores.sql.sessions import SqlSessions
from holdfast.stores.sql.snapshots import SqlSnapshots
from holdfast.stores.sqlite.connection import Sqlite, opened
from holdfast.stores.sqlite.fast_append import SqliteLog


class SqliteStore:
    """Everything that is kept, in one SQLite file."""

    blocking: ClassVar[bool] = True
    connect: ClassVar[type[Sqlite]] = Sqlite

    def __init__(self, db: Sqlite) -> None:
        self.db = db
        self.log = SqliteLog(db)
        self.sessions = SqlSessions(db)
        self.blobs = SqlBlobs(db)
        self.files = SqlFileHistory(db)
        self.calls = SqlCalls(db)
        self.counts = SqlCounts(db)
        self.snapshots = SqlSnapshots(db)
        self.notes = SqlNotes(db)
        waiting = Waiting(db)
        self.search = FtsSearch(db, waiting)
        self.jobs = SqlJobs(db)
        self.imports = SqlImports(db, self.sessions, self.log, self.calls, waiting)
        self.care = SqliteCare(db)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, vfs: str | None = None) -> SqliteStore:
        """Open the store at a path, made if absent, private either way."""
        return cls(opened(path, vfs=vfs, connect=cls.connect))

    def close(self) -> None:
        self.db.close()
