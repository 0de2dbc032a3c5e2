"""Erasing a session from what its rows do not tell of: backups, and the pages of a large index.

It is a job in steps, each leased, short for other writers, and the same when taken again.

Rule 1: the index is merged a slice at a time; only what was deleted before a merge began is gone at
        its end.
Rule 2: a backup is copied, the session is erased from the copy, and the copy takes its place. What
        a crash left unfinished holds the session too; it is removed before the next copy is made.
Rule 3: what cannot be rewritten stays named until it is removed.
"""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from holdfast.errors import CallsLost, HoldfastError, NotFound
from holdfast.failpoints import failpoint
from holdfast.files import UNFINISHED, sync_directory
from holdfast.model.store import Erasing
from holdfast.stores.health import backups

if TYPE_CHECKING:
    from holdfast.stores.sqlite.connection import Sqlite

WAITING, MERGING, MERGED = 0, 1, 2
"""The steps of an erasure: its words wait for a merge, are being merged, are gone."""

SLICE = 64
"""So many pages of the index are written at once: other writers wait for them."""


def erase_further(db: Sqlite, owner: str, now: int, until: int) -> Erasing | None:
    """Take one step; None where nothing is left to do, or somebody else is at it."""
    with db.writing():
        found = db.rows(
            "SELECT number, id, step FROM erasures WHERE until <= ? OR owner = ? "
            "ORDER BY number LIMIT 1",
            (now, owner),
        )
        if not found:
            return None
        number, session, step = found[0]
        lease = "UPDATE erasures SET owner = ?, until = ? WHERE number = ?"
        db.run(lease, (owner, until, number))
    failpoint("erasing.after_lease")
    if step < MERGED:
        _merge(db)
        return Erasing(session=session, indexed=True, holding=_holding(db, session, number))
    return _next_backup(db, session, number, until)


def _merge(db: Sqlite) -> None:
    """Merge one slice of the index; at the end of a merge, say whose words are gone."""
    with db.writing():
        begins = not db.rows("SELECT 1 FROM erasures WHERE step = ?", (MERGING,))
        if begins:
            db.run("UPDATE erasures SET step = ? WHERE step = ?", (MERGING, WAITING))
        ((before,),) = db.rows("SELECT total_changes()")
        slice = -SLICE if begins else SLICE
        db.run("INSERT INTO search (search, rank) VALUES ('merge', ?)", (slice,))
        ((after,),) = db.rows("SELECT total_changes()")
        if after - before < 2:  # as its documentation says: there was nothing left to merge
            db.run("UPDATE erasures SET step = ? WHERE step = ?", (MERGED, MERGING))


def _holding(db: Sqlite, session: str, number: int) -> tuple[str, ...]:
    """The backups that hold it; where its id is in use again, newer ones hold another."""
    held = backups.holding(db.path, session, number)
    again = db.rows("SELECT 1 FROM sessions WHERE id = ?", (session,))
    return tuple(path for path in held if not again or _has_number(Path(path), number))


def _has_number(path: Path, number: int) -> bool:
    try:
        with backups.opened(path) as copy:
            return bool(copy.execute("SELECT 1 FROM sessions WHERE n = ?", (number,)).fetchall())
    except apsw.Error:
        return True


def _next_backup(db: Sqlite, session: str, number: int, until: int) -> Erasing:
    """Rewrite the first backup that can be; where none is left that can, the job is done."""
    _sweep(db.path, number)
    left, why = list[str](), list[str]()
    for path in (held := _holding(db, session, number)):
        name = Path(path).name
        if not name.endswith(".db"):
            if backups.holds(db.path, name, session, number):
                left.append(path)
                why.append(f"{path} is damaged")
            continue
        trouble = _rewritten(Path(path), session, number)
        if not trouble:
            rest = tuple(one for one in held if one != path)
            return Erasing(session=session, rewritten=(path,), holding=rest)
        left.append(path)
        why.append(f"{path}: {trouble}")
    _finish(db, number, until, left=bool(left))
    return Erasing(session=session, done=True, holding=tuple(left), why="; ".join(why))


def _finish(db: Sqlite, number: int, until: int, *, left: bool) -> None:
    """Forget that it was erased; where backups are left that hold it, somebody may try later."""
    with db.writing():
        if left:
            later = "UPDATE erasures SET owner = '', until = ? WHERE number = ?"
            db.run(later, (until, number))
        else:
            db.run("DELETE FROM erasures WHERE number = ?", (number,))
    db.settle()


def _sweep(store: Path, number: int) -> None:
    """Remove the copies that this erasure has left unfinished; its lease says they are no one's."""
    for name in backups.copies(store):
        if name.startswith(_unfinished_name(number)):
            with suppress(FileNotFoundError):
                os.unlink(backups.directory(store) / name)


def _unfinished_name(number: int) -> str:
    """How the name of every copy begins that the erasure with this number makes."""
    return f"{UNFINISHED}erasure-{number}-"


def _rewritten(path: Path, session: str, number: int) -> str:
    """Put a copy without the session in the place of a backup; why not, where it cannot be."""
    try:
        made = path.parent / f"{_unfinished_name(number)}{backups.stamp()}.db"
        with backups.unfinished(made) as copy:
            with backups.opened(path) as source:
                backups.copy_to(source, copy)
            _erase_in(copy, session)
            failpoint("erasing.before_swap")
            os.replace(copy, path)
        sync_directory(path.parent)
    except (apsw.Error, OSError, HoldfastError) as error:
        return str(error)
    return ""


def _erase_in(copy: Path, session: str) -> None:
    from holdfast.stores.sql.erase import erase
    from holdfast.stores.sqlite.connection import opened

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CallsLost)  # told when the store itself was opened
        db = opened(copy)
    try:
        try:
            erase(db, session)
        except NotFound:
            return
        db.run("DELETE FROM erasures")
        db.run("INSERT INTO search (search) VALUES ('optimize')")
        db.settle()
        db.run("PRAGMA journal_mode=DELETE")
    finally:
        db.close()


def unfinished(db: Sqlite) -> list[tuple[str, tuple[str, ...], bool]]:
    """Each erased session that is not gone: backups that hold it, and whether the index does."""
    found = db.rows("SELECT number, id, step FROM erasures ORDER BY number")
    return [(id, _holding(db, id, number), step < MERGED) for number, id, step in found]
