"""Directories: what looks after the places that the sessions of one process work in."""

from __future__ import annotations

import os

from holdfast.engine.plugins import directory
from holdfast.ports import Directory


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
