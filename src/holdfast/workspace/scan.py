"""Scan: which paths of a directory may have changed since the last one.

Rule 1: a path has not changed where its inode and the time of its inode's last change are the same;
        nothing but the clock of the system can set that time.
Rule 2: a directory is opened from the one above it, never through a link.
Rule 3: what git ignores, `.git`, and repositories within are passed over, and judged once.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from holdfast.errors import Unsafe
from holdfast.files import UNFINISHED, Found, Kind, Root, network_filesystem
from holdfast.workspace.watch import Watch

MOST_PATHS: Final = 500_000
"""A directory with more is not covered: a rewind knows only what file tools did in it."""

_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


class Seen(NamedTuple):
    """What tells one state of a path from another."""

    ctime: int
    inode: int
    mode: int
    mtime: int
    size: int


Names = dict[str, Seen | None]
"""What a directory holds; None for what is passed over."""


class Scanner:
    """Knows a directory as it was last seen."""

    def __init__(self, root: Root, skip: Callable[[Found], bool]) -> None:
        self._root, self._skip = root, skip
        self.known: dict[str, Names] = {}
        self.closed: set[str] = set()
        """Directories that may not be read."""
        self.watch = Watch()
        if network_filesystem(root.path):
            self.watch.close()  # others change it unseen
        self._linked: set[str] = set()
        """Directories that hold files with other names, through which they may change unseen."""
        self._met = 0

    def scan(self) -> set[str]:
        """The paths that may have changed since the last scan; at first, all of them."""
        changed: set[str] = set()
        marked = self.watch.changed() if self.known else None
        if marked is None:
            self._met = 0
            with self._root.directory(()) as top:
                self._look(top, "", changed, deep=True)
            return changed
        for path in sorted({*marked, *self._linked}):
            if path in self.known:  # unless one above it has gone
                self._again(path, changed)
        return changed

    def seen(self, path: str) -> Seen | None:
        """What a path was when it was last seen."""
        place, _, name = path.rpartition("/")
        return self.known.get(place, {}).get(name)

    def _again(self, path: str, changed: set[str]) -> None:
        names = tuple(path.split("/")) if path else ()
        try:
            with self._root.directory(names) as directory:
                self._look(directory, path, changed, deep=False)
        except (OSError, Unsafe):  # it went, or is no directory any more: the one above tells
            self._forget(path, changed)

    def _look(self, directory: int, path: str, changed: set[str], *, deep: bool) -> None:
        """Compare a directory with what is known of it, and those within that are new, or all."""
        if path not in self.known:
            self.watch.add(directory, path)
        names = self.known.setdefault(path, {})
        prefix = f"{path}/" if path else ""
        below, met = list[str](), set[str]()
        self._linked.discard(path)
        with os.scandir(directory) as entries:
            for entry in entries:
                before = names.get(entry.name, _NEW)
                met.add(entry.name)
                if before is not None and self._compare(entry, prefix, names, before, changed):
                    below.append(entry.name)
        if len(met) != len(names):
            for name in names.keys() - met:
                self._gone(prefix + name, names, name, changed)
        for name in below:
            if deep or prefix + name not in self.known:
                self._descend(directory, prefix + name, name, changed, deep=deep)

    def _compare(
        self, entry: os.DirEntry[str], prefix: str, names: Names, before: Seen, changed: set[str]
    ) -> bool:
        """Note what has changed of one name; whether it is a directory to look into."""
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:  # the next scan tells
            return False
        if stat.S_ISDIR(found.st_mode):
            return self._folder(prefix + entry.name, names, entry.name, before, found, changed)
        if found.st_nlink > 1:
            self._linked.add(prefix[:-1])
        if before.ctime != found.st_ctime_ns or before.inode != found.st_ino:
            self._file(prefix + entry.name, names, entry.name, before, found, changed)
        return False

    def _folder(
        self, path: str, names: Names, name: str, before: Seen, found: os.stat_result,
        changed: set[str],
    ) -> bool:  # fmt: skip
        """Note a directory; whether to look into it."""
        if before is _NEW and self._passed_over(path, found, "directory"):
            names[name] = None
            return False
        if before.inode != found.st_ino or before.mode != found.st_mode:
            if before is not _NEW and before.inode != found.st_ino:
                self._gone(path, names, name, changed)
            changed.add(path)
            names[name] = _seen(found)
        return True

    def _file(
        self, path: str, names: Names, name: str, before: Seen, found: os.stat_result,
        changed: set[str],
    ) -> None:  # fmt: skip
        kind: Kind = "symlink" if stat.S_ISLNK(found.st_mode) else "file"
        if before is _NEW and (name.startswith(UNFINISHED) or self._passed_over(path, found, kind)):
            names[name] = None
            return
        if stat.S_ISDIR(before.mode):
            self._gone(path, names, name, changed)
        names[name] = _seen(found)
        changed.add(path)

    def _passed_over(self, path: str, found: os.stat_result, kind: Kind) -> bool:
        self._met += 1
        if self._met > MOST_PATHS:
            do = f"work in a smaller one; more than {MOST_PATHS:,} paths are not scanned"
            raise Unsafe(str(self._root.path), "holds too many files", do)
        return path.rpartition("/")[2].startswith(UNFINISHED) or self._skip(
            Found(path, kind, found)
        )

    def _descend(self, above: int, path: str, name: str, changed: set[str], *, deep: bool) -> None:
        try:
            directory = os.open(name, _DIRECTORY, dir_fd=above)
        except OSError:  # it may not be read, or has gone since
            self.closed.add(path)
            return
        try:
            self.closed.discard(path)
            self._look(directory, path, changed, deep=deep)
        finally:
            os.close(directory)

    def _gone(self, path: str, names: Names, name: str, changed: set[str]) -> None:
        before = names.pop(name)
        if before is None:
            return
        changed.add(path)
        if stat.S_ISDIR(before.mode):
            self._forget(path, changed)

    def _forget(self, path: str, changed: set[str]) -> None:
        """All beneath a directory is gone with it."""
        for name, seen in self.known.pop(path, {}).items():
            if seen is not None:
                changed.add(f"{path}/{name}")
                if stat.S_ISDIR(seen.mode):
                    self._forget(f"{path}/{name}", changed)

    def close(self) -> None:
        """Watch nothing any more."""
        with suppress(OSError):
            self.watch.close()


_NEW: Final = Seen(-1, -1, 0, 0, 0)


def _seen(found: os.stat_result) -> Seen:
    return Seen(found.st_ctime_ns, found.st_ino, found.st_mode, found.st_mtime_ns, found.st_size)
