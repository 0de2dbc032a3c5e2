"""Salvaging a damaged store: every row that can still be read, in a fresh file at the same place.

The damaged file is read as bytes, never opened by the engine, and kept among the backups.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from holdfast.errors import Corrupt, NotFound, Unavailable
from holdfast.failpoints import failpoint
from holdfast.files import UNFINISHED, Root, private_directory, sync_directory
from holdfast.model.store import Finding, Salvaged
from holdfast.stores.health import backups, repair
from holdfast.stores.health.check import store_findings
from holdfast.stores.health.log_checks import session_findings
from holdfast.stores.health.page_reader import Cell, Pages, Value
from holdfast.stores.sql.keys import MOST_ENTRIES, place
from holdfast.stores.sqlite.connection import Sqlite
from holdfast.stores.sqlite.location import file_at
from holdfast.stores.sqlite.store import SqliteStore

BATCH = 500
ROUNDS = 4
"""Mending one thing may show another; no more rounds than this are needed."""

NOT_A_LOSS = {repair.REFOLD, repair.REBUILD, repair.SWEEP, repair.SHUT}

# Where SQLite locks a database file: readers share these bytes (https://sqlite.org/lockingv3.html).
_SHARED_FIRST, _SHARED_SIZE = 0x40000002, 510

_NONE = type(None)
_OLD_CALL: tuple[tuple[type, ...], ...] = (
    (str,), (int,), (int,), (int, _NONE), (int,), (int,), (int,), (int,), (int, _NONE),
    (bytes, _NONE), (bytes,),
)  # fmt: skip
"""The columns of `calls` in a store before migration 11."""

Shapes = dict[str, tuple[tuple[type, ...], ...]]


def salvage(path: str | os.PathLike[str]) -> Salvaged:
    """Put a fresh store in the place of a damaged one; nobody may have it open meanwhile.

    Interrupted at any moment, it can be run again: the damaged file stays until the fresh one is
    complete, and never leaves this directory and the one of its backups.
    """
    place = file_at(path)
    if not place.is_file():
        raise NotFound("store", str(place))
    shelf = backups.directory(place)
    made = not shelf.exists()
    try:
        private_directory(shelf)
        with _alone(place) as file, ExitStack() as opened:
            journal = _journal(place, shelf)
            log = opened.enter_context(_opened(journal)) if journal else None
            fresh = opened.enter_context(
                backups.unfinished(shelf / f"{UNFINISHED}{backups.stamp()}.db")
            )
            kept, lost = _fill(fresh, Pages(file, log))
            if not any(kept.values()):
                raise _no_store(place)
            damaged = _swap(place, fresh, shelf)
    except OSError as error:
        raise Unavailable(
            f"{place} cannot be salvaged here ({error}); the damaged file is untouched: free some "
            "space or check owner and mode, then retry"
        ) from error
    except Corrupt:
        if made:
            with suppress(OSError):
                shelf.rmdir()
        raise
    return Salvaged(kept=kept, lost=lost, damaged=str(damaged))


def _no_store(place: Path) -> Corrupt:
    """What is said of a file in which nothing is to be found."""
    kept = [name for name in backups.copies(place) if not name.startswith(UNFINISHED)]
    instead = f"put a backup from {backups.directory(place)} in its place" if kept else "move it"
    return Corrupt(
        f"{place} is not a Holdfast store: nothing in it can be read as one, and nothing was "
        f"changed; name another --store, or {instead}"
    )


def _opened(path: Path) -> BinaryIO:
    return Root(path.parent).open(path.name)


@contextmanager
def _alone(place: Path) -> Iterator[BinaryIO]:
    """The file, opened while no other process has it open as a database."""
    flags = os.O_RDWR | os.O_NOFOLLOW  # a lock that shuts others out asks for writing
    with os.fdopen(os.open(place, flags), "rb") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
        except (BlockingIOError, PermissionError) as error:
            raise Unavailable(
                f"{place} is open in another process; end that process, then salvage again"
            ) from error
        yield file


def _earlier(place: Path, shelf: Path) -> Path | None:
    """The second name that an interrupted salvage has given the damaged file already."""
    names = (shelf / name for name in backups.damaged(place))
    return next((path for path in names if os.path.samefile(path, place)), None)


def _journal(place: Path, shelf: Path) -> Path | None:
    here = Path(f"{place}-wal")
    if here.exists():
        return here
    earlier = _earlier(place, shelf)
    moved = Path(f"{earlier}-wal") if earlier else None
    return moved if moved and moved.exists() else None


def _swap(place: Path, fresh: Path, shelf: Path) -> Path:
    """Put the fresh file in the place of the damaged one, which gets a name among the backups.

    The old journal leaves first: beside the fresh file it would be taken for its own.
    """
    damaged = _earlier(place, shelf)
    if damaged is None:
        damaged = shelf / f"{backups.stamp()}{backups.DAMAGED}"
        os.link(place, damaged, follow_symlinks=False)
        os.chmod(damaged, 0o600)
    failpoint("salvage.after_link")
    with suppress(FileNotFoundError):
        os.replace(f"{place}-wal", f"{damaged}-wal")
        os.chmod(f"{damaged}-wal", 0o600)
    for suffix in backups.JOURNALS:
        with suppress(FileNotFoundError):
            os.unlink(f"{place}{suffix}")
    sync_directory(shelf)
    sync_directory(place.parent)
    failpoint("salvage.before_swap")
    os.replace(fresh, place)
    sync_directory(place.parent)
    return damaged


def _fill(fresh: Path, pages: Pages) -> tuple[dict[str, int], tuple[str, ...]]:
    """Fill a fresh store with what the pages hold; how much of what, and what is missing."""
    store = SqliteStore.open(fresh)
    try:
        _insert(store.db, pages.cells())
        with store.db.writing():
            store.db.run("DELETE FROM counts WHERE part NOT IN (SELECT place FROM parts)")
            store.db.run("UPDATE sessions SET indexed = fork")
        failpoint("salvage.after_rows")
        lost = _pages_lost(pages) + _mend(store.db)
        many = {
            name: store.db.rows(f"SELECT count(*) FROM {name}")[0][0] for name in tables(store.db)
        }
    finally:
        store.close()
    return many, tuple(lost)


def _pages_lost(pages: Pages) -> list[str]:
    said = {
        "the file's header was overwritten": not pages.sound,
        f"{pages.damaged} of {pages.count} pages could not be read, or not wholly": pages.damaged,
        f"the file ends {pages.missing} pages early": pages.missing,
    }
    return [what for what, so in said.items() if so]


def _insert(db: Sqlite, cells: Iterable[Cell]) -> None:
    shapes = {name: shape(db, name) for name in tables(db)}
    rows = (found for cell in cells if (found := _row(shapes, cell)))
    while batch := list(islice(rows, BATCH)):
        with db.writing():
            for table, values in batch:
                holes = ", ".join("?" * len(values))
                rule = _NEWER if table == "sessions" else "ON CONFLICT DO NOTHING"
                db.run(f"INSERT INTO {table} VALUES ({holes}) {rule}", values)


# A torn page may hold an older state of the one row that changes: whichever has gone further wins.
_CHANGING = (
    "parent", "fork", "updated", "compacted", "archived", "head", "last_message", "last_marker",
    "project", "data",
)  # fmt: skip
_NEWER = (
    f"ON CONFLICT (n) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _CHANGING)} "
    "WHERE (excluded.head, excluded.updated) > (head, updated) ON CONFLICT DO NOTHING"
)


def tables(db: Sqlite) -> list[str]:
    """The tables whose rows are worth saving: all but the search index and the engine's own."""
    kept = (
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND "
        "name NOT LIKE 'search%' AND name NOT IN ('migrations', 'snapshots') ORDER BY name"
    )
    return [name for (name,) in db.rows(kept)]


def shape(db: Sqlite, table: str) -> tuple[tuple[type, ...], ...]:
    """Which types each column of a table may hold in the file; a rowid's own column holds none."""
    kinds: dict[str, type] = {"TEXT": str, "BIGINT": int, "INTEGER": int, "BLOB": bytes}
    columns: list[tuple[type, ...]] = []
    for _, _, declared, required, _, key in db.rows(f"PRAGMA table_info({table})"):
        if declared == "INTEGER" and key:
            columns.append((type(None),))
        else:
            columns.append((kinds[declared],) if required else (kinds[declared], type(None)))
    return tuple(columns)


def _row(shapes: Shapes, cell: Cell) -> tuple[str, tuple[Value, ...]] | None:
    """Which table a row is of, told by its columns, and its values; None where of none."""
    if _fits_shape(_OLD_CALL, cell) and cell.rowid:
        return "calls", (_place_of_old_call(cell), cell.values[0], *cell.values[1:])
    for table, columns in shapes.items():
        if _fits_shape(columns, cell):
            keyed = columns[0] == (type(None),)
            return table, (cell.rowid, *cell.values[1:]) if keyed else cell.values
    return None


def _place_of_old_call(cell: Cell) -> int:
    """Where a call stands that a store before migration 11 has kept: in the order of their rows."""
    number, at = cell.values[1], cell.rowid
    assert isinstance(number, int)
    assert at is not None
    return place(max(number, 0), at & MOST_ENTRIES)


def _fits_shape(columns: Sequence[tuple[type, ...]], cell: Cell) -> bool:
    return len(columns) == len(cell.values) and _fits(columns, cell)


def _fits(columns: Sequence[tuple[type, ...]], cell: Cell) -> bool:
    if columns[0] == (type(None),) and cell.rowid is None:
        return False
    return all(type(value) in kinds for value, kinds in zip(cell.values, columns, strict=True))


def _mend(db: Sqlite) -> list[str]:
    """Make the laws hold for what was kept; what was found to be missing on the way."""
    told: dict[str, None] = {}  # in order, each once
    for _ in range(ROUNDS):
        findings = list(_findings(db))
        told |= {_sentence(one): None for one in findings if one.mend not in NOT_A_LOSS}
        mends = {
            (one.mend, one.where): one for one in findings if one.mend not in ("", repair.SWEEP)
        }
        if not sum(repair.mend(db, how, where) for how, where in mends):
            break
    return list(told)


def _findings(db: Sqlite) -> Iterator[Finding]:
    yield from list(store_findings(db))
    for (id,) in db.rows("SELECT id FROM sessions ORDER BY n"):
        with db.reading():
            findings = list(session_findings(db, id))
        yield from findings


def _sentence(finding: Finding) -> str:
    return f"{finding.where}: {finding.what}" if finding.where else finding.what
