"""Saved: what is known of a directory between processes, for hooks that each run for a moment."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from holdfast.files import private_directory, private_file, write_atomic
from holdfast.model import wire
from holdfast.model.workspace import FileState
from holdfast.workspace.contents import Contents, InGit
from holdfast.workspace.scan import Scanner, Seen


class Known(Struct, frozen=True):
    """What a directory held when it was last looked at."""

    states: dict[str, FileState]
    in_git: dict[str, InGit]
    places: dict[str, tuple[int, int]]
    seen: dict[str, dict[str, Seen | None]]


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """Only one process at a time looks after what is saved in a directory."""
    private_directory(place)
    with private_file(place / "lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def load(place: Path, contents: Contents, scanner: Scanner) -> bool:
    """Know what was saved; False where nothing was, or it cannot be read any more."""
    try:
        told = wire.decode((place / "known").read_bytes(), Known)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    contents.known = {**told.states, **told.in_git}
    contents.resume(private_file(place / "contents"), told.places)
    scanner.known = told.seen
    scanner.watch.close()  # what changed before this process began has to be looked for
    return True


def save(place: Path, contents: Contents, scanner: Scanner) -> None:
    """Keep what is known for the next process."""
    states = {path: one for path, one in contents.known.items() if isinstance(one, FileState)}
    in_git = {path: one for path, one in contents.known.items() if isinstance(one, InGit)}
    for path in contents.unsettled:  # it may change again without a later time
        folder, _, name = path.rpartition("/")
        if scanner.known.get(folder, {}).get(name) is not None:
            scanner.known[folder][name] = Seen(-1, -1, 0, 0, 0)
    known = Known(states, in_git, contents.places, scanner.known)
    write_atomic(place / "known", wire.encode(known))
