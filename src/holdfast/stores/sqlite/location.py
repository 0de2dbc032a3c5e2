"""Which file a store is, whose it is, and that it is ours alone; refused where it can be none."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from time import monotonic
from typing import Literal

import apsw

from holdfast.errors import Corrupt, InvalidRequest, Unavailable, Unsafe
from holdfast.files import network_filesystem, private_directory, private_file

OURS = 0x486F_6C64
"""The mark of a Holdfast store in the header of its file: `Hold`."""

LONGEST_NAME = 255 - len("-journal")
LONGEST_PATH = 512 - len("-journal")
"""In bytes: file systems take names of 255, SQLite paths of 512, and its journal's is longer."""


def file_at(path: str | os.PathLike[str]) -> Path:
    """The file that a path names; nothing is opened or made."""
    said = os.fspath(path)
    if said == ":memory:":
        raise InvalidRequest("a store that is gone with its process is written memory:")
    if "\0" in said:
        raise InvalidRequest(f"{said!r} cannot be a path: it holds a NUL; name another --store")
    try:
        place = Path(said).expanduser().absolute()
    except RuntimeError as error:
        raise InvalidRequest(f"{said!r}: nobody has that home; write the path in full") from error
    try:
        _check_length(place)
    except UnicodeEncodeError as error:
        do = "SQLite cannot open it; rename it, or name another --store"
        raise Unsafe(str(place), "is a name that is not UTF-8", do) from error
    if _is_symlink(place):
        do = "name that file itself as the --store"
        raise Unsafe(str(place), f"is a symlink to {os.path.realpath(place)!r}", do)
    return place


def _check_length(place: Path) -> None:
    for what, text, most in (
        ("name", place.name, LONGEST_NAME),
        ("path", str(place), LONGEST_PATH),
    ):
        if (size := len(text.encode())) > most:
            raise InvalidRequest(
                f"the {what} of a store has at most {most} bytes, because SQLite keeps files with "
                f"longer ones beside it, and {text[:40]!r}… has {size}; name another --store"
            )


def _is_symlink(place: Path) -> bool:
    try:
        return place.is_symlink()
    except OSError as error:  # before Python 3.14 a name that is too long is told so
        raise InvalidRequest(
            f"no file can be at {str(place)!r} ({error.strerror}); name another --store"
        ) from error


def make_private(place: Path) -> None:
    """The file, made if absent, for us alone; refused where it cannot, or must not, be a store."""
    try:
        if not place.parent.exists():
            private_directory(place.parent)
        kind = network_filesystem(place.parent)
        if kind:
            raise Unavailable(
                f"{place} is on a network file system ({kind}), where SQLite's locks cannot be "
                "trusted; name a --store on a local disk"
            )
        journal = place.with_name(f"{place.name}-journal")  # where there is one, it comes first
        if place.is_file() and place.stat().st_size and not journal.exists():
            _check_database(place)  # before anything is touched: it may be somebody's notes
        private_file(place)
    except OSError as error:
        raise Unavailable(
            f"{place} cannot be made or opened ({error.strerror or error}); check that the "
            "directory exists and is yours, or name another --store"
        ) from error


def is_read_only(place: Path) -> bool:
    """Whether a store is there that can only be read: it or its directory is not ours to write."""
    try:
        there = stat.S_ISREG(os.lstat(place).st_mode) and os.path.getsize(place) > 0
    except OSError:
        return False
    ours = os.access(place, os.W_OK) and os.access(place.parent, os.W_OK | os.X_OK)
    return there and not ours


def for_reading(place: Path) -> str:
    """The URI by which a store is read where nothing can be written beside it.

    Without a journal nobody writes it, and SQLite needs neither locks nor files of its own.
    """
    journal = place.with_name(f"{place.name}-wal")
    alive = journal.exists() and journal.stat().st_size
    return f"{place.as_uri()}?{'mode=ro' if alive else 'immutable=1'}"


def _check_database(place: Path) -> None:
    """Refuse a file that is no database; read in a way that takes no locks and leaves no trace."""
    try:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        looking = apsw.Connection(f"{place.as_uri()}?immutable=1", flags=flags)
        try:
            harden(looking)
            if owner_of(looking) == "others":
                raise foreign(str(place))
        finally:
            looking.close()
    except apsw.NotADBError as error:
        raise Corrupt(
            f"{place} is no SQLite database: it is not a Holdfast store, or its beginning is "
            "damaged; nothing was changed: name another --store, or run `holdfast doctor`"
        ) from error
    except apsw.Error:
        return  # without its journal a file may look torn that is whole; opening it will tell


_HARD = (
    (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
    (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
)

STEPS = 250_000
"""So many instructions of SQLite's machine pass between two looks at the clock, and at signals."""


class Deadline:
    """Ends statements that take too long; while it has no end it lets signals through."""

    def __init__(self, seconds: float) -> None:
        self.end: float | None = monotonic() + seconds

    def __call__(self) -> bool:
        return self.end is not None and monotonic() > self.end


def harden(connection: apsw.Connection, seconds: float = 10.0) -> Deadline:
    """Let nothing in a file act: it may have been made by somebody else."""
    for setting, value in _HARD:
        connection.config(setting, value)
    deadline = Deadline(seconds)
    connection.set_progress_handler(deadline, STEPS)
    return deadline


def owner_of(connection: apsw.Connection) -> Literal["us", "others", "nobody"]:
    """Whose database it is, by the mark in its header; nobody's where it is still empty."""
    ((mark,),) = connection.execute("PRAGMA application_id").fetchall()
    if mark == OURS:
        return "us"
    tables = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    return "others" if mark or tables else "nobody"


def foreign(where: str) -> Unsafe:
    """What is said of a database that is not ours."""
    return Unsafe(where, "is another program's database", "name another --store")
