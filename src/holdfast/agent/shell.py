"""Running a command for the agent: bounded in time and output, without our keys.

A command is killed with all it started when its time is up. Its output is taken as it comes, head
and tail where it is long, and its exit status stands in the last line.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import deque
from contextlib import suppress
from typing import Final

from holdfast.engine.settings import KEYS

HEAD: Final = 200_000
TAIL: Final = 200_000
"""So many bytes of an output's beginning and end are kept."""


def run(command: str, directory: str, seconds: int) -> str:
    """What a command says, and how it ended."""
    started = subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=directory,
        env=without_keys(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    kept = Kept()
    reader = threading.Thread(target=_read, args=(started, kept), daemon=True)
    reader.start()
    try:
        started.wait(timeout=max(seconds, 1))
        ended = f"exit status {started.returncode}"
    except subprocess.TimeoutExpired:
        ended = f"stopped after {seconds} s"
    finally:
        _kill(started)
        reader.join(2)  # what is still in the pipe is part of the answer
        if started.stdout is not None:
            started.stdout.close()
    return f"{kept.text()}[{ended}]"


def without_keys() -> dict[str, str]:
    """The environment of this process, without the keys that are ours."""
    return {name: value for name, value in os.environ.items() if name not in KEYS}


class Kept:
    """The head and the tail of what comes by."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._held = 0
        self._left = 0

    def take(self, data: bytes) -> None:
        """Take in what has come."""
        room = max(HEAD - len(self._head), 0)
        self._head += data[:room]
        rest = data[room:]
        self._tail.append(rest)
        self._held += len(rest)
        while self._held > TAIL and len(self._tail) > 1:
            gone = self._tail.popleft()
            self._held -= len(gone)
            self._left += len(gone)

    def text(self) -> str:
        """What was kept, and how much was not."""
        between = f"\n[… {self._left:,} bytes left out …]\n".encode() if self._left else b""
        data = bytes(self._head) + between + b"".join(self._tail)
        text = data.decode("utf-8", "replace")
        return text if not text or text.endswith("\n") else f"{text}\n"


def _read(started: subprocess.Popen[bytes], kept: Kept) -> None:
    assert started.stdout is not None
    with suppress(ValueError, OSError):
        while data := os.read(started.stdout.fileno(), 65_536):
            kept.take(data)


def _kill(started: subprocess.Popen[bytes]) -> None:
    """End a command with all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()
