"""Private copies beside a store: making them, and removing those that hold an erased session."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import apsw

from holdfast.errors import Unavailable
from holdfast.failpoints import failpoint
from holdfast.files import UNFINISHED, Root, private_directory, private_file, sync_directory
from holdfast.stores.health.page_reader import Pages
from holdfast.stores.sql.keys import entry_of, number_of
from holdfast.stores.sqlite.location import harden

JOURNALS = ("-wal", "-shm", "-journal")
DAMAGED = ".damaged"
STILL = 60
"""A file that was not written for so many seconds is nobody's work any more."""


def directory(store: Path) -> Path:
    """Where the copies of a store are."""
    return store.with_name(store.name + ".backups")


def stamp() -> str:
    """A new name for a copy: when it was made, and something nobody else has."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"


def copies(store: Path) -> list[str]:
    """The name of every file in the directory of copies, unfinished ones too."""
    try:
        found = Root(directory(store)).listing()
    except FileNotFoundError:
        return []
    return [one.path for one in found if one.kind == "file"]


def backup(connection: apsw.Connection, store: Path) -> Path:
    """A copy of the store as it is now; nothing is left behind where that fails."""
    try:
        shelf = private_directory(directory(store))
        made = shelf / f"{stamp()}.db"
        with unfinished(shelf / f"{UNFINISHED}{made.name}") as copy:
            failpoint("backup.before_copy")
            copy_to(connection, copy)
            failpoint("backup.before_name")
            os.rename(copy, made)
        sync_directory(shelf)
    except OSError as error:
        raise Unavailable(
            f"{directory(store)} cannot take a backup ({error.strerror or error}); free some space "
            "or check its owner and mode, then retry"
        ) from error
    return made


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """A private file that is gone, with its journals, unless it was given another name."""
    try:
        yield private_file(path)
    finally:
        for suffix in ("", *JOURNALS):
            with suppress(FileNotFoundError):
                os.unlink(f"{path}{suffix}")


def copy_to(connection: apsw.Connection, path: Path) -> None:
    """Copy a database, as one file that is complete in itself."""
    copy = apsw.Connection(str(path))
    try:
        copy.execute("PRAGMA synchronous=FULL")
        with copy.backup("main", connection, "main") as steps:
            steps.step()
        copy.execute("PRAGMA journal_mode=DELETE")
    finally:
        copy.close()


def discard(store: Path, session: str, number: int, *, only_junk: bool = False) -> tuple[str, ...]:
    """Remove every copy that holds a session, by its id or its number; their paths.

    With `only_junk` only what was never finished: nobody would miss it.
    """
    gone: list[str] = []
    names = copies(store)
    for name in names:
        if only_junk and not name.startswith(UNFINISHED):
            continue
        if not name.endswith("-wal") and holds(store, name, session, number):
            for each in {name, f"{name}-wal"} & set(names):
                with suppress(FileNotFoundError):
                    Root(directory(store)).remove(each)
            gone.append(str(directory(store) / name))
    return tuple(gone)


def holding(store: Path, session: str, number: int) -> tuple[str, ...]:
    """The copies that hold a session; damaged ones may, and are not read through here."""
    finished = [
        name for name in copies(store) if not name.startswith(UNFINISHED)
        and not name.endswith(JOURNALS)
    ]  # fmt: skip
    return tuple(
        str(directory(store) / name) for name in finished if _may_hold(store, name, session, number)
    )


def _may_hold(store: Path, name: str, session: str, number: int) -> bool:
    if not name.endswith(".db"):
        return True
    try:
        return _says(directory(store) / name, session)
    except apsw.Error:
        return True


def left_over(store: Path, now: float) -> list[Path]:
    """What writes that were cut short have left behind; what still grows is somebody's at work."""
    names = (directory(store) / name for name in copies(store) if name.startswith(UNFINISHED))
    return [path for path in names if _unchanged(path, now)]


def _unchanged(path: Path, now: float) -> bool:
    try:
        return now - os.lstat(path).st_mtime > STILL
    except FileNotFoundError:
        return False  # it is finished


def damaged(store: Path) -> list[str]:
    """Copies that no engine can search."""
    return [name for name in copies(store) if name.endswith(DAMAGED)]


def holds(store: Path, name: str, session: str, number: int) -> bool:
    """Whether a copy holds a session, be it damaged."""
    try:
        if name.endswith(".db") and not name.startswith(UNFINISHED):
            return _says(directory(store) / name, session)
    except apsw.Error:
        pass  # damaged: look at its bytes
    root = Root(directory(store))
    with root.open(name) as file, ExitStack() as opened:
        journal = None
        if f"{name}-wal" in copies(store):
            journal = opened.enter_context(root.open(f"{name}-wal"))
        mentioned = any(_mentions(each, session.encode()) for each in (file, journal) if each)
        return mentioned or _numbered(Pages(file, journal), number)


@contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    """A copy, opened so that nothing in it can act and nothing beside it is made."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    copy = apsw.Connection(f"file:{quote(str(path))}?mode=ro&immutable=1", flags=flags)
    try:
        harden(copy)
        yield copy
    finally:
        copy.close()


def _says(path: Path, session: str) -> bool:
    """Whether a sound copy has the row of a session."""
    with opened(path) as copy:
        found = copy.execute("SELECT 1 FROM sessions WHERE id = ?", (session,))
        return bool(found.fetchall())


def _mentions(file: BinaryIO, name: bytes) -> bool:
    file.seek(0)
    tail = b""
    while chunk := file.read(1 << 20):
        if name in tail + chunk:
            return True
        tail = chunk[-len(name) :]
    return False


def _numbered(pages: Pages, number: int) -> bool:
    """Whether a damaged file has rows of a session whose own row, and so its id, may be lost."""
    for rowid, values in pages.cells():
        if rowid and values and values[0] is None:
            # Entries, calls, parts and markers, told by their columns: the first is the rowid.
            at = {8: rowid, 12: rowid, 3: rowid, 6: entry_of(rowid)}.get(len(values), 0)
            if number_of(at) == number:
                return True
    return False
