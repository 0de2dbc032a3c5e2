"""Directory: one place where an agent works, looked at around what it does there.

Rule 1: a path that is captured, or that a scan has met, is known from then on: what the next scan
        finds has changed since.
Rule 2: everything is bounded, in time and in bytes, and what is beyond is said to be uncovered.
"""

from __future__ import annotations

import stat
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from holdfast.errors import InvalidRequest, Unsafe
from holdfast.files import Found, Root, data_home, private_file
from holdfast.gitignore import Ignoring
from holdfast.model.workspace import Captured, Coverage, FileNote, FileState, Step, Touched
from holdfast.workspace.contents import LARGEST, Contents, InGit
from holdfast.workspace.git_objects import Repository, Tracked
from holdfast.workspace.restore import Restore
from holdfast.workspace.saved import load, locked, save
from holdfast.workspace.scan import Scanner, Seen

SECONDS: Final = 20.0
"""So long a baseline may take; what it has not reached is uncovered until it changes."""

MOST_CHANGED: Final = 256 << 20
"""So many bytes of what one command changed are kept, before and after together."""

SKIPPED: Final = frozenset({"node_modules", "__pycache__", "venv", ".venv", ".git"})
"""What is passed over where no repository says what to ignore."""

LATER: Final = "was not read in time for its content to be known"
MOST_NOTES: Final = 1000


class Directory:
    """Scans a directory, keeps what its files held, and puts them back."""

    def __init__(
        self,
        path: str,
        secrets: Sequence[str] = (),
        *,
        spool: Path | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._root = Root(path)
        self.path = str(self._root.path)
        self._repository = Repository(self._root.path)
        self._tracked: dict[str, Tracked] = {}
        self._above: set[str] = set()
        self._ignoring = Ignoring(self._root)
        self._contents = Contents(
            self._root, self._repository, secrets, spool or data_home() / "workspace"
        )
        self._scanner = Scanner(self._root, self._passed_over)
        self._restore = Restore(self._root, self._contents)
        self._seconds = seconds
        self._lock = threading.RLock()
        self._ready: Coverage | None = None
        self._closed = False

    def prepare(self) -> Coverage:
        """Know the directory as it is; what is known already is not read again."""
        with self._lock:
            if self._ready is None:
                self._check_open()
                self._ready = self._baseline()
            return self._ready

    def scan(self) -> tuple[Touched, ...]:
        """What differs from what was known, each path as it was and as it is."""
        with self._lock:
            self._check_open()
            if self._ready is None:
                self.prepare()
            if not self._scanner.known:
                return ()  # it is too large, as `prepare` says
            lately = set(self._contents.unsettled)
            candidates = self._scanner.scan() | lately
            found, left = list[Touched](), MOST_CHANGED
            for path in sorted(candidates):
                now = self._contents.now(path)
                if not self._contents.differs(path, now):
                    continue
                before = self._contents.before(path)
                self._contents.remember(now)
                left -= len(before.data or b"") + len(now.data or b"")
                found.append(Touched(before, now) if left > 0 else _too_much(before, now))
            return tuple(found)

    def capture(self, paths: Sequence[str]) -> tuple[Captured, ...]:
        """These paths as they are; from here on they are known so."""
        with self._lock:
            self._check_open()
            found = tuple(self._contents.now(path) for path in paths)
            for one in found:
                self._contents.remember(one)
            return found

    def changed(self, saved: Path) -> tuple[Touched, ...]:
        """What differs from what another process has saved; at first nothing, it is only saved."""
        with locked(saved), self._lock:
            self._check_open()
            if load(saved, self._contents, self._scanner):
                self._tracked, _ = self._repository.index()
                self._ready = Coverage()
                found = self.scan()
            else:
                self._contents.resume(private_file(saved / "contents"), {})
                self.prepare()
                found = ()
            save(saved, self._contents, self._scanner)
            return found

    def look(self, paths: Sequence[str]) -> tuple[Captured, ...]:
        """These paths as they are, and nothing more."""
        with self._lock:
            return tuple(self._contents.now(path) for path in paths)

    def put_back(
        self, batch: str, steps: Sequence[Step], contents: Mapping[str, bytes]
    ) -> tuple[str, ...]:
        """Do all steps or none; the paths that could not be and stay as they are.

        What was there is kept aside until `finish`; `roll_back` puts it back.
        """
        with self._lock:
            kept = self._restore.put_back(batch, steps, contents)
            for step in steps:
                self._contents.remember(self._contents.now(step.path))
            return kept

    def roll_back(self, batch: str, steps: Sequence[Step]) -> tuple[str, ...]:
        """Undo what an interrupted `put_back` has done; the paths that somebody changed since."""
        with self._lock:
            return self._restore.roll_back(batch, steps)

    def finish(self, batch: str) -> None:
        """Let go of what was kept aside."""
        with self._lock:
            self._restore.finish(batch)

    def unfinished(self, batch: str) -> str:
        """ "busy" while a living process is at it, "left" where one ended, else empty."""
        return self._restore.unfinished(batch)

    def close(self) -> None:
        """Let go of everything; what is under way ends at once."""
        self._closed = True
        with self._lock:
            self._scanner.close()
            self._contents.close()

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidRequest("this directory is not watched any more; open it again")

    def _passed_over(self, found: Found) -> bool:
        if found.path in self._tracked or found.path in self._above:
            return False
        name = found.path.rpartition("/")[2]
        if not self._ignoring.repository:
            return name in SKIPPED
        return self._ignoring(found)

    def _baseline(self) -> Coverage:
        begun = time.monotonic()
        self._tracked, written = self._repository.index()
        for path in self._tracked:
            while (path := path.rpartition("/")[0]) and path not in self._above:
                self._above.add(path)
        try:
            self._scanner.scan()
        except Unsafe as unsafe:
            self._scanner.known.clear()
            note = FileNote(self.path, f"{unsafe.why}: what commands change is not covered")
            return Coverage(uncovered=(note,), whole=False, seconds=time.monotonic() - begun)
        in_git, files, whole = self._take_in(written, begun)
        notes = self._notes()
        return Coverage(
            files=files, in_git=in_git, kept=files - in_git, bytes=self._contents.bytes,
            uncovered=notes, whole=whole, watched=bool(self._scanner.watch),
            seconds=time.monotonic() - begun,
        )  # fmt: skip

    def _take_in(self, written: int, begun: float) -> tuple[int, int, bool]:
        """Know what each path holds: by git's index, or by reading it."""
        in_git = files = 0
        whole = True
        known = self._contents.known
        for place, names in list(self._scanner.known.items()):
            read: list[tuple[str, str]] = []
            for name, seen in names.items():
                if seen is None:
                    continue
                path = f"{place}/{name}" if place else name
                files += stat.S_ISREG(seen.mode)
                if tracked := self._equals(path, seen, written):
                    mode = stat.S_IMODE(seen.mode)
                    known[path] = InGit(tracked.object, mode, tracked.size)
                    in_git += 1
                else:
                    read.append((path, name))
            if self._closed or time.monotonic() - begun > self._seconds:
                whole = False
                for path, _ in read:
                    known[path] = _unread(self._scanner.seen(path))
            else:
                self._read(place, read)
        return in_git, files, whole

    def _equals(self, path: str, seen: Seen, written: int) -> Tracked | None:
        """What git holds of a file, where its index shows that the file has not changed since."""
        tracked = self._tracked.get(path)
        if tracked is None or not stat.S_ISREG(seen.mode) or not stat.S_ISREG(tracked.mode):
            return None
        same = (tracked.mtime, tracked.ctime, tracked.size) == (
            seen.mtime, seen.ctime, seen.size,
        )  # fmt: skip
        # Written as late as the index, it may have changed again without a later time.
        return tracked if same and seen.mtime < written and seen.size <= LARGEST else None

    def _read(self, place: str, names: list[tuple[str, str]]) -> None:
        if not names:
            return
        try:
            with self._root.directory(tuple(place.split("/")) if place else ()) as directory:
                for path, name in names:
                    self._contents.remember(self._contents.in_directory(path, name, directory))
        except (OSError, Unsafe):  # it went, or may not be read: the next scan tells
            return

    def _notes(self) -> tuple[FileNote, ...]:
        found = [
            FileNote(path, known.uncovered)
            for path, known in self._contents.known.items()
            if isinstance(known, FileState) and known.uncovered
        ]
        closed = [FileNote(path, "may not be read") for path in sorted(self._scanner.closed)]
        return tuple(sorted([*found, *closed], key=lambda one: one.path)[:MOST_NOTES])


def _unread(seen: Seen | None) -> FileState:
    if seen is None:
        return FileState()
    mode = stat.S_IMODE(seen.mode)
    if stat.S_ISDIR(seen.mode):
        return FileState("directory", mode)
    return FileState("file", mode, f"stat:{seen.inode}:{seen.size}:{seen.mtime}", seen.size, LATER)


def _too_much(before: Captured, after: Captured) -> Touched:
    """What one command changed beyond what is kept: that it changed is known."""
    why = f"more than {MOST_CHANGED >> 20} MiB were changed at once"

    def bare(one: Captured) -> Captured:
        told = replace(one.state, uncovered=why) if one.state.holds else one.state
        return Captured(one.path, told)

    return Touched(bare(before), bare(after))
