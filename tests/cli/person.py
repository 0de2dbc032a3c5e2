"""A person at a terminal: a pseudoterminal that a test types into, reads from and closes."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

SECONDS = 60.0


class Person:
    """One of our commands, and the terminal it runs in."""

    def __init__(
        self, words: tuple[str, ...], place: Path, env: Mapping[str, str], *, hangup: bool
    ) -> None:
        """Without `hangup` nobody tells the command that its terminal has gone."""
        self._keys, screen = pty.openpty()
        termios.tcsetwinsize(screen, (40, 100))
        self.seen = ""

        def begin() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_DFL if hangup else signal.SIG_IGN)
            if hangup:
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast.cli", *words], cwd=place,
            env={**env, "TERM": "xterm", "COLUMNS": "100", "LINES": "40", "NO_COLOR": "1"},
            stdin=screen, stdout=screen, stderr=screen, start_new_session=True, preexec_fn=begin,
        )  # fmt: skip
        os.close(screen)
        self._open = True

    def type(self, text: str) -> None:
        """Type a line."""
        self.press(f"{text}\r")

    def press(self, keys: str) -> None:
        """Type without Enter, or press control keys."""
        os.write(self._keys, keys.encode())

    def wait(self, words: str) -> None:
        """Wait until something is shown that was not shown before."""
        end = time.monotonic() + SECONDS
        while words not in self.seen:
            assert time.monotonic() < end, f"{words!r} never came:\n{self.seen}"
            self._read(0.1)
        self.seen = self.seen.partition(words)[2]

    def drain(self) -> None:
        """Read what has been shown until now."""
        before = None
        while before != self.seen:
            before = self.seen
            self._read(0.1)

    def _read(self, seconds: float) -> None:
        """Take in what is shown; where the cursor is, is answered, as terminals do."""
        with suppress(OSError):
            if self._open and select.select([self._keys], [], [], seconds)[0]:
                came = os.read(self._keys, 65_536).decode("utf-8", "replace")
                self.seen += came
                self.press("\x1b[3;1R" * came.count("\x1b[6n"))

    def close(self) -> None:
        """Take the terminal away."""
        if self._open:
            self._open = False
            os.close(self._keys)

    def ended(self, seconds: float) -> int:
        """The status it ends with; it has so long, and what it shows meanwhile is read."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self._read(0.02)
            time.sleep(0.01)
        assert self.process.poll() is not None, f"it goes on after {seconds} s: {self.seen}"
        return self.process.returncode

    def family(self) -> list[int]:
        """Everything that it has started, and what that has."""
        return descendants(self.process.pid)


def descendants(pid: int) -> list[int]:
    """The processes beneath a process."""
    parents: dict[int, int] = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            told = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            parents[int(name)] = int(told[1])
    found, ahead = list[int](), [pid]
    while ahead:
        beneath = [one for one, parent in parents.items() if parent in ahead]
        found, ahead = found + beneath, beneath
    return found


def gone(pid: int) -> bool:
    """Whether a process has ended; what is only waited for no more has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def all_gone(pids: list[int], seconds: float = 10.0) -> list[int]:
    """Those that are still there after a while."""
    end = time.monotonic() + seconds
    while (left := [pid for pid in pids if not gone(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    return left


@contextmanager
def sitting(*words: str, place: Path, env: Mapping[str, str], hangup: bool = True) -> Iterator[Any]:
    """A person with a command; whatever happens, it is over at the end."""
    person = Person(words, place, env, hangup=hangup)
    try:
        yield person
    finally:
        left = person.family()
        person.close()
        if person.process.poll() is None:
            person.process.kill()
        person.process.wait(30)
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
