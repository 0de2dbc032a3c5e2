"""Mending a store without losing a byte: each mend is one sentence, one function, one transaction.

Bytes that cannot be read are put inside a value that can: an `Opaque` part, or a `Damaged` marker.
A mend that finds nothing to do says so, so that mending twice is mending once.
"""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.failpoints import failpoint
from holdfast.stores.health import backups, raw_rows, repair_steps
from holdfast.stores.search import indexing
from holdfast.stores.sql.blobs import sweep
from holdfast.stores.sql.database import Database

if TYPE_CHECKING:
    from holdfast.stores.sqlite.connection import Sqlite

LEASE = 10 * 60_000
"""How long one step of erasing may take before somebody else tries it, in ms."""

REINDEX = "build the indexes anew from their tables"
REBUILD = "empty the search index; it fills again from the log"
SWEEP = "remove the blobs that nothing refers to"
SHUT = "make it readable by its owner only"
REMOVE = "remove it"
RECOMPUTE = "set the session's columns to what its entries say"
DETACH = "let the session begin with its own entries"
WRAP = "keep the unreadable bytes inside something that can be read and does nothing"
RELABEL = "keep the unreadable bytes in a marker at the session's end, and begin anew"
RECORD = "set the call to what its columns say; the unreadable bytes go to the session's end"
MOVE = "give the call to the session that holds its reply"
ACCEPT = "let them count as calls without a price, and say no more of it"
FINISH = "finish erasing: merge the index, rewrite the backups"
LAY_BY = "move the unreadable bytes to a marker at the session's end"
REFOLD = "carry the state that the markers before it give"
ADOPT = "give them a session again"
ENTER = "give them an entry again"
SALVAGE = "close the store and salvage it: what can be read goes to a fresh file"
"""The one mend that is not done here: the file has to be closed (salvage.py)."""


def mend(db: Sqlite, how: str, where: str) -> bool:
    """Mend one thing; whether there was anything to do."""
    if how == SHUT:
        return _shut(where)
    if how == REMOVE:
        return _remove(db, where)
    if how == FINISH:
        return _finish_erasing(db)
    with db.writing():
        mended = _MENDS[how](db, where) if how in _MENDS else False
        if mended:  # what was computed from a log that is mended is computed again
            db.run("DELETE FROM snapshots")
        failpoint("mend.before_commit")
        return mended


def _remove(db: Sqlite, where: str) -> bool:
    if Path(where) not in backups.left_over(db.path, time.time()):
        return False
    os.unlink(where)
    return True


def _finish_erasing(db: Sqlite) -> bool:
    from holdfast.stores.sqlite.erasure import erase_further

    owner, done = secrets.token_hex(8), False
    now = time.time_ns() // 1_000_000
    while step := erase_further(db, owner, now, now + LEASE):
        done = done or bool(step.rewritten) or step.indexed
    return done


def _shut(where: str) -> bool:
    mode = stat.S_IMODE(os.stat(where, follow_symlinks=False).st_mode)
    if not mode & 0o077:
        return False
    os.chmod(where, mode & 0o700)
    return True


def _reindex(db: Database, where: str) -> bool:
    broken = any(row != ("ok",) for row in db.rows("PRAGMA integrity_check(1)"))
    if broken:
        db.run("REINDEX")
    return broken


def _rebuild(db: Database, where: str) -> bool:
    if not raw_rows.search_trouble(db):
        return False
    db.run("DROP TABLE IF EXISTS search")
    for statement in indexing.SCHEMA.split(";"):
        db.run(statement)
    db.run("UPDATE sessions SET indexed = fork")
    return True


def _recompute(db: Database, where: str) -> bool:
    session = raw_rows.find(db, where)
    line = raw_rows.line_of(db, session)
    if line is None:
        return False
    true = raw_rows.derived(db, session, line)
    sane = session.fork <= session.indexed <= true.head
    if sane and true == session.derived:
        return False
    repair_steps.recompute(db, where)
    if not sane:
        db.run("UPDATE sessions SET indexed = fork WHERE n = ?", (session.number,))
    return True


def _detach(db: Database, where: str) -> bool:
    session = raw_rows.find(db, where)
    if session.parent is None or raw_rows.line_of(db, session) is not None:
        return False
    db.run("UPDATE sessions SET parent = NULL WHERE n = ?", (session.number,))
    return True


_MENDS: dict[str, Callable[[Database, str], bool]] = {
    REINDEX: _reindex,
    REBUILD: _rebuild,
    SWEEP: lambda db, where: sweep(db) > 0,
    RECOMPUTE: _recompute,
    DETACH: _detach,
    WRAP: repair_steps.wrap,
    RELABEL: repair_steps.relabel,
    RECORD: repair_steps.record,
    MOVE: repair_steps.move_call,
    ACCEPT: repair_steps.accept_call,
    LAY_BY: repair_steps.lay_by,
    REFOLD: repair_steps.refold,
    ADOPT: repair_steps.adopt,
    ENTER: repair_steps.enter,
}
