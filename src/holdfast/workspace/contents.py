"""Contents: what files held when they were last looked at, as long as a process works there.

What equals an object of git is only named, and read from git's objects when it is asked for; the
rest is copied to a file that has no name, so that nothing of it outlives the process.
"""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, Final

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import Unsafe
from holdfast.files import Root, private_directory
from holdfast.model.workspace import ABSENT, Captured, FileState
from holdfast.workspace.git_objects import Repository, blob_name

LARGEST: Final = 10 << 20
"""A larger file is not kept: that it changed is known, and what it held is not."""

MOST_BYTES: Final = 1 << 30
"""So much is copied at most for what shell commands may change."""

SETTLED: Final = 50_000_000
"""A file that changed so few ns ago may change again without a later time: it is read again."""

_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class InGit(Struct, frozen=True):
    """A file whose content is an object of git."""

    object: str
    mode: int
    size: int


class Contents:
    """The content of each path as it is known, and as it is now."""

    def __init__(
        self, root: Root, repository: Repository, secrets: Sequence[str], spool: Path
    ) -> None:
        self._root, self._repository = root, repository
        self._keys = tuple(one.encode() for one in secrets if one)
        self._spool_in = spool
        self._spool: IO[bytes] | None = None
        self.places: dict[str, tuple[int, int]] = {}
        self.known: dict[str, FileState | InGit] = {}
        self.bytes = 0
        self.unsettled: set[str] = set()
        """Paths that changed so lately that their time alone does not tell of another change."""

    def before(self, path: str) -> Captured:
        """A path as it was last known."""
        known = self.known.get(path, ABSENT)
        if isinstance(known, InGit):
            return self._of_git(path, known)
        if not known.holds or known.uncovered:
            return Captured(path, known)
        data = self._kept(known.hash)
        if data is None:
            known = replace(known, uncovered="there was no room for what it held")
        return Captured(path, known, data)

    def differs(self, path: str, now: Captured) -> bool:
        """Whether a path is another than was last known."""
        known = self.known.get(path, ABSENT)
        if isinstance(known, InGit):
            same = (now.state.kind, now.state.mode, now.state.size) == (
                "file", known.mode, known.size,
            )  # fmt: skip
            return not same or now.data is None or blob_name(now.data) != known.object
        return not known.same(now.state)

    def remember(self, now: Captured) -> None:
        """A path is known as it is now."""
        if now.state.kind == "absent":
            self.known.pop(now.path, None)
            return
        self.known[now.path] = now.state
        if now.data is not None:
            self._keep(now.state.hash, now.data)

    def now(self, path: str) -> Captured:
        """A path as it is, with its content where that is kept."""
        try:
            with self._root.parent(path) as (place, directory):
                return self.in_directory(path, place.name, directory)
        except (FileNotFoundError, Unsafe):
            # Where one above it is a link or a file, nothing beneath is of this directory.
            return Captured(path, ABSENT)

    def in_directory(self, path: str, name: str, directory: int) -> Captured:
        """The same, of a name in a directory that is open."""
        try:
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            return Captured(path, ABSENT)
        self._note_time(path, found)
        mode = stat.S_IMODE(found.st_mode)
        if stat.S_ISDIR(found.st_mode):
            return Captured(path, FileState("directory", mode))
        if stat.S_ISLNK(found.st_mode):
            target = os.fsencode(os.readlink(name, dir_fd=directory))
            digest = sha256(target).hexdigest()
            return Captured(path, FileState("symlink", 0, digest, len(target)), target)
        if not stat.S_ISREG(found.st_mode):
            return Captured(path, FileState("other", mode, _by_stat(found), 0, "is no file"))
        return self._file(path, name, directory, mode)

    def _file(self, path: str, name: str, directory: int, mode: int) -> Captured:
        try:
            file = os.open(name, _OPEN, dir_fd=directory)
        except FileNotFoundError:
            return Captured(path, ABSENT)
        except OSError as error:
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
            why = f"may not be read ({error.strerror})"
            return Captured(path, FileState("file", mode, _by_stat(found), found.st_size, why))
        with os.fdopen(file, "rb", 0) as opened:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                return Captured(path, FileState("other", mode, _by_stat(found), 0, "is no file"))
            if found.st_size > LARGEST:
                why = f"is larger than {LARGEST >> 20} MiB"
                return Captured(path, FileState("file", mode, _by_stat(found), found.st_size, why))
            data = b"".join(iter(lambda: opened.read(1 << 20), b""))
        state = FileState("file", mode, sha256(data).hexdigest(), len(data))
        if any(key in data for key in self._keys):
            return Captured(path, replace(state, uncovered="holds a key that Holdfast is given"))
        return Captured(path, state, data)

    def _note_time(self, path: str, found: os.stat_result) -> None:
        late = time.time_ns() - max(found.st_ctime_ns, found.st_mtime_ns) < SETTLED
        (self.unsettled.add if late else self.unsettled.discard)(path)

    def _of_git(self, path: str, known: InGit) -> Captured:
        data = self._repository.blob(known.object, LARGEST)
        if data is None or len(data) != known.size:
            why = "git holds its content in another form"
            stat_only = FileState("file", known.mode, f"git:{known.object}", known.size, why)
            return Captured(path, stat_only)
        state = FileState("file", known.mode, sha256(data).hexdigest(), len(data))
        if any(key in data for key in self._keys):
            return Captured(path, replace(state, uncovered="holds a key that Holdfast is given"))
        return Captured(path, state, data)

    def _keep(self, digest: str, data: bytes) -> None:
        if digest in self.places or self.bytes + len(data) > MOST_BYTES:
            return
        with suppress(OSError):  # a full disk: what it held is said not to be known
            if self._spool is None:
                private_directory(self._spool_in)
                self._spool = tempfile.TemporaryFile(dir=self._spool_in)  # noqa: SIM115
            at = self._spool.seek(0, os.SEEK_END)
            self._spool.write(data)
            self._spool.flush()
            self.places[digest] = (at, len(data))
            self.bytes += len(data)

    def _kept(self, digest: str) -> bytes | None:
        place = self.places.get(digest)
        if place is None or self._spool is None:
            return None
        self._spool.seek(place[0])
        data = self._spool.read(place[1])
        return data if sha256(data).hexdigest() == digest else None

    def resume(self, file: Path, places: dict[str, tuple[int, int]]) -> None:
        """Go on with a file that another process has begun; beyond its bound, with an empty one."""
        if self._spool is not None:
            self._spool.close()
        self._spool = file.open("r+b")
        self.bytes = self._spool.seek(0, os.SEEK_END)
        if self.bytes > MOST_BYTES // 2:
            self._spool.truncate(0)
            self.bytes, places = 0, {}
        self.places = dict(places)

    def close(self) -> None:
        """Let go of everything."""
        self._repository.close()
        if self._spool is not None:
            self._spool.close()
            self._spool = None
        self.places.clear()


def _by_stat(found: os.stat_result) -> str:
    """What stands for the content of a file that is not read."""
    return f"stat:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"
