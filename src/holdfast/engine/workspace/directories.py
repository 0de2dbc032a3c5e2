"""Directories: what looks after the places that the sessions of one process work in."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

from holdfast.engine.plugins import directory
from holdfast.files import data_home
from holdfast.ports import Directory


def saved_for(session: str) -> Path:
    """Where what is known between checkpoints of a session is kept."""
    return data_home() / "workspace" / sha256(session.encode("utf-8", "replace")).hexdigest()[:32]


def forget_saved(session: str) -> None:
    """Remove what was kept between checkpoints of a session."""
    rmtree(saved_for(session), ignore_errors=True)


class Directories:
    """One for each place, opened when it is first asked for."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        self._secrets = secrets
        self._opened: dict[str, Directory] = {}

    def at(self, path: str) -> Directory:
        """What looks after a directory."""
        where = os.path.realpath(path)
        if where not in self._opened:
            made = directory(where, self._secrets)
            if self._opened.setdefault(where, made) is not made:
                made.close()  # another thread was faster
        return self._opened[where]

    def close(self) -> None:
        """Let go of them."""
        for one in self._opened.values():
            one.close()
