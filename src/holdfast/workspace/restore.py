"""Restore: paths put back, all or none, with nothing lost whatever happens on the way.

Rule 1: what is to be written is written beside first, so that a full disk is met before anything
        is changed.
Rule 2: what is to go is moved aside, never deleted, and must be what it was thought to be: what
        somebody changed in the meantime goes back, and so does everything else.
Rule 3: a new name is made only where there is none, and a directory is removed only when empty.
Rule 4: every name is reached from the root through directories that are no links.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from holdfast.errors import InvalidRequest, Unsafe
from holdfast.failpoints import failpoint
from holdfast.files import UNFINISHED, Root
from holdfast.model.workspace import FileState, Step
from holdfast.workspace.contents import Contents

ASIDE: Final = f"{UNFINISHED}rewind-"
"""How the directory begins in which a rewind keeps what it moved aside, until it has ended."""

_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


class Changed(InvalidRequest):
    """Somebody changed a path while it was being put back; nothing was changed by us."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"{path} was changed by somebody else just now; everything is as it was: look at the "
            "preview again, then rewind"
        )


class Restore:
    """Puts paths of one directory back."""

    def __init__(self, root: Root, contents: Contents) -> None:
        self._root, self._contents = root, contents
        self._held: dict[str, int] = {}

    def put_back(
        self, batch: str, steps: Sequence[Step], contents: Mapping[str, bytes]
    ) -> tuple[str, ...]:
        try:
            try:
                self._hold(batch)
                self._stage(batch, steps, contents)
                failpoint("rewind.staged")
                return self._carry_out(batch, steps)
            except BaseException:
                self.roll_back(batch, steps)
                raise
        finally:
            self._free(batch)

    def roll_back(self, batch: str, steps: Sequence[Step]) -> tuple[str, ...]:
        """Everything as it was; the paths where somebody has put something else since."""
        placed = [(n, step) for n, step in enumerate(steps) if step.want.holds]
        for n, step in sorted(placed, key=lambda one: _upwards(one[1])):
            if self._is_ours(batch, n, step):
                with self._root.parent(step.path) as (place, directory):
                    os.unlink(place.name, dir_fd=directory)
        made = [step for step in steps if _is_folder(step.want) and not _is_folder(step.have)]
        for step in sorted(made, key=_upwards):
            with suppress(OSError, Unsafe):
                self._rmdir(step.path)
        folders = sorted((step for step in steps if _is_folder(step.have)), key=_depth)
        for step in folders:
            self._folder_again(step)
        moved = [(n, step) for n, step in enumerate(steps) if step.have.holds]
        left = [step.path for n, step in moved if not self._unaside(batch, n, step)]
        for step in reversed(folders):
            self._set_mode(step.path, step.have.mode)
        if not left:
            self.finish(batch)
        return tuple(left)

    def finish(self, batch: str) -> None:
        """Remove what is aside; it is in the store as well."""
        name = ASIDE + batch
        with self._root.directory(()) as top:
            for part in ("old", "new"):
                with suppress(OSError), _opened(f"{name}/{part}", top) as folder:
                    for each in os.listdir(folder):
                        with suppress(OSError):
                            os.unlink(each, dir_fd=folder)
                with suppress(OSError):
                    os.rmdir(f"{name}/{part}", dir_fd=top)
            with suppress(OSError):
                os.rmdir(name, dir_fd=top)

    def unfinished(self, batch: str) -> str:
        """ "busy" while somebody holds what is aside, "left" where nobody does any more."""
        try:
            with self._root.directory(()) as top, _opened(ASIDE + batch, top) as aside:
                fcntl.flock(aside, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "busy"
        except OSError:
            return ""
        return "left"

    def _hold(self, batch: str) -> None:
        """A directory of its own for what is aside, locked as long as this process is at it."""
        with self._root.directory(()) as top:
            os.mkdir(ASIDE + batch, 0o700, dir_fd=top)
            self._held[batch] = aside = os.open(ASIDE + batch, _DIRECTORY, dir_fd=top)
            fcntl.flock(aside, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for part in ("old", "new"):
                os.mkdir(part, 0o700, dir_fd=aside)
            os.fsync(aside)
            os.fsync(top)

    def _free(self, batch: str) -> None:
        if (held := self._held.pop(batch, -1)) >= 0:
            os.close(held)

    def _stage(self, batch: str, steps: Sequence[Step], contents: Mapping[str, bytes]) -> None:
        with self._aside(batch, "new") as staged:
            for n, step in enumerate(steps):
                if not step.want.holds or _only_mode(step):
                    continue
                data = contents[step.want.hash]
                if step.want.kind == "symlink":
                    os.symlink(os.fsdecode(data), str(n), dir_fd=staged)
                else:
                    _fill(os.open(str(n), _NEW, 0o600, dir_fd=staged), data, step.want.mode)
            os.fsync(staged)

    def _carry_out(self, batch: str, steps: Sequence[Step]) -> tuple[str, ...]:
        whole = [(n, step) for n, step in enumerate(steps) if not _only_mode(step)]
        for n, step in sorted(whole, key=lambda one: _upwards(one[1])):
            if step.have.holds:
                self._set_aside(batch, n, step)
                failpoint("rewind.moved")
        kept = self._remove_folders(steps)
        for step in sorted(steps, key=_depth):
            if _is_folder(step.want) and not _is_folder(step.have):
                with self._root.parent(step.path) as (place, directory):
                    os.mkdir(place.name, step.want.mode | 0o700, dir_fd=directory)
                    os.fsync(directory)
        for n, step in sorted(whole, key=lambda one: _depth(one[1])):
            if step.want.holds:
                self._place(batch, n, step)
                failpoint("rewind.placed")
        self._set_modes(steps)
        return kept

    def _set_modes(self, steps: Sequence[Step]) -> None:
        for step in sorted(steps, key=_upwards):
            if _only_mode(step) and not self._contents.now(step.path).state.same(step.have):
                raise Changed(step.path)
            if _only_mode(step) or _is_folder(step.want):
                self._set_mode(step.path, step.want.mode)

    def _set_aside(self, batch: str, n: int, step: Step) -> None:
        """Move what is there aside; it has to be what was thought to be there."""
        with self._root.parent(step.path) as (place, directory), self._aside(batch, "old") as old:
            try:
                os.rename(place.name, str(n), src_dir_fd=directory, dst_dir_fd=old)
            except FileNotFoundError:
                raise Changed(step.path) from None
            except OSError as error:
                if error.errno == errno.EXDEV:
                    do = "rewind the files there by hand; `holdfast diff` shows them"
                    raise Unsafe(str(place), "lies on another file system", do) from error
                raise
            os.fsync(directory)
            moved = self._contents.in_directory(f"{ASIDE}{batch}/old/{n}", str(n), old)
        if not moved.state.same(step.have):
            raise Changed(step.path)

    def _remove_folders(self, steps: Sequence[Step]) -> tuple[str, ...]:
        """Remove directories that the agent made; one that holds anything else stays."""
        kept = list[str]()
        for step in sorted(steps, key=_upwards):
            if not _is_folder(step.have) or _is_folder(step.want):
                continue
            try:
                self._rmdir(step.path)
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or step.want.holds:
                    raise
                kept.append(step.path)
        return tuple(kept)

    def _rmdir(self, path: str) -> None:
        with self._root.parent(path) as (place, directory):
            os.rmdir(place.name, dir_fd=directory)
            os.fsync(directory)

    def _place(self, batch: str, n: int, step: Step) -> None:
        """Give what was staged its name, where there is none by then."""
        with self._root.parent(step.path) as (place, directory), self._aside(batch, "new") as new:
            try:
                _link(str(n), new, place.name, directory)
            except FileExistsError:
                raise Changed(step.path) from None
            os.fsync(directory)

    def _is_ours(self, batch: str, n: int, step: Step) -> bool:
        """Whether a path is what was staged for it, and nothing that somebody put there."""
        if _only_mode(step):
            return False
        try:
            with (
                self._root.parent(step.path) as (place, directory),
                self._aside(batch, "new") as new,
            ):
                there = os.stat(place.name, dir_fd=directory, follow_symlinks=False)
                staged = os.stat(str(n), dir_fd=new, follow_symlinks=False)
        except (OSError, Unsafe):
            return False
        return os.path.samestat(there, staged)

    def _unaside(self, batch: str, n: int, step: Step) -> bool:
        """Put back what was moved aside; False where its name is taken by something else."""
        if _only_mode(step):
            self._set_mode(step.path, step.have.mode)
            return True
        try:
            with self._aside(batch, "old") as old:
                os.stat(str(n), dir_fd=old, follow_symlinks=False)
                with self._root.parent(step.path) as (place, directory):
                    try:
                        os.link(str(n), place.name, src_dir_fd=old, dst_dir_fd=directory,
                                follow_symlinks=False)  # fmt: skip
                    except FileExistsError:
                        there = os.stat(place.name, dir_fd=directory, follow_symlinks=False)
                        moved = os.stat(str(n), dir_fd=old, follow_symlinks=False)
                        return os.path.samestat(there, moved)
                    os.fsync(directory)
        except FileNotFoundError:
            return True  # it never was moved
        except (OSError, Unsafe):
            return False
        return True

    def _folder_again(self, step: Step) -> None:
        with (
            suppress(FileExistsError, FileNotFoundError, Unsafe),
            self._root.parent(step.path) as (place, directory),
        ):
            os.mkdir(place.name, step.have.mode | 0o700, dir_fd=directory)

    def _set_mode(self, path: str, mode: int) -> None:
        with suppress(FileNotFoundError, Unsafe), self._root.parent(path) as (place, directory):
            found = os.stat(place.name, dir_fd=directory, follow_symlinks=False)
            if stat.S_IMODE(found.st_mode) == mode or stat.S_ISLNK(found.st_mode):
                return
            file = os.open(place.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK,
                           dir_fd=directory)  # fmt: skip
            try:
                os.fchmod(file, mode)
            finally:
                os.close(file)

    @contextmanager
    def _aside(self, batch: str, part: str) -> Iterator[int]:
        with (
            self._root.directory(()) as top,
            _opened(ASIDE + batch, top) as aside,
            _opened(part, aside) as folder,
        ):
            yield folder


def _link(name: str, source: int, target: str, directory: int) -> None:
    """Give a file a second name, which is never one that is taken."""
    os.link(name, target, src_dir_fd=source, dst_dir_fd=directory, follow_symlinks=False)


@contextmanager
def _opened(name: str, above: int) -> Iterator[int]:
    file = os.open(name, _DIRECTORY, dir_fd=above)
    try:
        yield file
    finally:
        os.close(file)


def _fill(file: int, data: bytes, mode: int) -> None:
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fchmod(file, mode)
        os.fsync(file)
    finally:
        os.close(file)


def _depth(step: Step) -> tuple[int, str]:
    return step.path.count("/"), step.path


def _upwards(step: Step) -> int:
    """What lies deepest comes first."""
    return -step.path.count("/")


def _is_folder(state: FileState) -> bool:
    return state.kind == "directory"


def _only_mode(step: Step) -> bool:
    """Whether a file stays, with another mode."""
    have, want = step.have, step.want
    return (have.kind, have.hash) == (want.kind, want.hash) == ("file", want.hash)
