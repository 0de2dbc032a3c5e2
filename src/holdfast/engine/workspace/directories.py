"""Directories: what looks after the places that the sessions of one process work in."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path, PurePosixPath
from shutil import rmtree

from holdfast.engine.plugins import directory
from holdfast.errors import InvalidRequest
from holdfast.files import AnyPath, data_home
from holdfast.ports import Directory


def saved_for(session: str) -> Path:
    """Where what is known between checkpoints of a session is kept."""
    return data_home() / "workspace" / sha256(session.encode("utf-8", "replace")).hexdigest()[:32]


def forget_saved(session: str) -> None:
    """Remove what was kept between checkpoints of a session."""
    rmtree(saved_for(session), ignore_errors=True)


def beneath(root: str, paths: Iterable[AnyPath]) -> tuple[str, ...]:
    """Paths as the history names them: from the directory, with `/`; absolute ones may be given."""
    return tuple(_beneath(root, os.fsdecode(one)) for one in paths)


def _beneath(root: str, path: str) -> str:
    bare = PurePosixPath(path)
    if bare.is_absolute():  # what it names itself may be a link, which is what is recorded
        bare = PurePosixPath(os.path.realpath(bare.parent), bare.name)
        bare = bare.relative_to(root) if bare.is_relative_to(root) else PurePosixPath("..")
    if not bare.parts or ".." in bare.parts or "\0" in path:
        raise InvalidRequest(
            f"{path!r} is no path beneath {root}; name one without '..', or none to record all"
        )
    return str(bare)


class Directories:
    """One for each place, opened when it is first asked for."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        self._secrets = secrets
        self._opened: dict[str, Directory] = {}

    def at(self, path: str) -> Directory:
        """What looks after a directory."""
        where = os.path.realpath(path)
        if not os.path.isdir(where):
            raise InvalidRequest(
                f"there is no directory {where}; make it again, or leave files as they are: a "
                "conversation is rewound without them"
            )
        if where not in self._opened:
            made = directory(where, self._secrets)
            if self._opened.setdefault(where, made) is not made:
                made.close()  # another thread was faster
        return self._opened[where]

    def close(self) -> None:
        """Let go of them."""
        for one in self._opened.values():
            one.close()
