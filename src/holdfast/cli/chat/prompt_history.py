"""What was typed, over all sessions: one line of JSON a prompt, with its session and its time.

The file is private, appended to under a lock, read under a shared one, and trimmed to four fifths
of its bound once it grows beyond that: the oldest lines leave, and the newest always stays. Who
reads it by position names the log it has seen: a file that was trimmed is another log.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from holdfast.files import private_file, write_atomic

SOFT_CAP: Final = 0.8
"""The share of its bound that a file is trimmed to, so that it is not trimmed again at once."""


class Typed(NamedTuple):
    """One prompt."""

    session: str
    time: int
    """In seconds."""
    text: str


class PromptHistory:
    """The file of what was typed."""

    def __init__(self, file: Path, most: int = 0) -> None:
        self.file = private_file(file)
        self._most = most

    def append(self, session: str, time: int, text: str) -> None:
        """Keep a prompt; the oldest leave where the file grows beyond its bound."""
        line = {"session_id": session, "ts": time, "text": text}
        data = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._locked(fcntl.LOCK_EX):
            with self.file.open("ab") as file:
                file.write(data)
                size = file.tell()
            if self._most and size > self._most:
                self._trim()

    def _trim(self) -> None:
        lines = self.file.read_bytes().splitlines(keepends=True)
        size, most = sum(map(len, lines)), int(self._most * SOFT_CAP)
        first = 0
        while first < len(lines) - 1 and size > most:
            size -= len(lines[first])
            first += 1
        write_atomic(self.file, b"".join(lines[first:]))

    def metadata(self) -> tuple[int, int]:
        """Which log it is, and how many prompts are in it."""
        with self._locked(fcntl.LOCK_SH):
            return self._log(), self.file.read_bytes().count(b"\n")

    def lookup(self, log: int, offset: int) -> Typed | None:
        """The prompt at a position of the log that was seen; None where it is another by now."""
        with self._locked(fcntl.LOCK_SH):
            if log != self._log() or offset < 0:
                return None
            lines = self.file.read_bytes().splitlines()
        return _read(lines[offset]) if offset < len(lines) else None

    def newest_first(self) -> Iterator[Typed]:
        """Every prompt of every session; what cannot be read is passed over."""
        with self._locked(fcntl.LOCK_SH):
            lines = self.file.read_bytes().splitlines()
        yield from filter(None, map(_read, reversed(lines)))

    def _log(self) -> int:
        return os.stat(self.file).st_ino

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """A lock on a file beside it, which stays where the file itself is replaced."""
        lock = os.open(private_file(self.file.with_name(f"{self.file.name}.lock")), os.O_RDWR)
        try:
            fcntl.flock(lock, how)
            yield
        finally:
            os.close(lock)


def _read(line: bytes) -> Typed | None:
    try:
        told: Any = json.loads(line)
        return Typed(str(told["session_id"]), int(told["ts"]), str(told["text"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def typed_history(file: Path, most: int, session: Callable[[], str], now: Callable[[], int],
                  masked: Callable[[str], str]) -> Any:  # fmt: skip
    """The same for the line that is typed: the arrow upwards goes over all sessions."""
    from prompt_toolkit.history import History

    kept = PromptHistory(file, most)

    class Remembered(History):
        def load_history_strings(self) -> Iterator[str]:
            for one in kept.newest_first():
                yield one.text

        def store_string(self, string: str) -> None:
            kept.append(session(), now(), masked(string))

    return Remembered()
