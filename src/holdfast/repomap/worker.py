"""Parsing in a process of its own: some inputs keep a parser busy for minutes, and some end it.

Rule 1: a file that takes too long, or too much memory, or ends the process, has no tags; that is
        all that becomes of it.
Rule 2: what goes in and out is a length of four bytes, then so many bytes.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from typing import BinaryIO, Final

import msgspec

from holdfast.core.repomap import Tags

SECONDS: Final = 3.0
"""So long may one file take."""

MEMORY: Final = 1 << 30
ANSWER: Final = 16 << 20
"""The largest answer that is believed, in bytes."""


class Parsing:
    """Parses files one after another, in a process that is replaced where it fails."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, language: str, source: bytes) -> Tags:
        """What a file defines and refers to; nothing where it cannot be parsed in time."""
        try:
            process = self._process = self._process or _started()
            assert process.stdin is not None
            process.stdin.write(_framed(language.encode()) + _framed(source))
            process.stdin.flush()
            return msgspec.msgpack.decode(self._answer(process), type=Tags)
        except (OSError, EOFError, TimeoutError, msgspec.MsgspecError):
            self.close()
            return Tags()

    def close(self) -> None:
        """End the process; the next file begins another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _answer(self, process: subprocess.Popen[bytes]) -> bytes:
        assert process.stdout is not None
        end = time.monotonic() + self._seconds
        size = int.from_bytes(_read(process.stdout.fileno(), 4, end), "big")
        if size > ANSWER:
            raise EOFError("an answer too long to be one")
        return _read(process.stdout.fileno(), size, end)


def _started() -> subprocess.Popen[bytes]:
    # -P: what lies in the working directory is not ours to import.
    command = [sys.executable, "-P", "-m", "holdfast.repomap.worker"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)


def _framed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _read(file: int, size: int, end: float) -> bytes:
    data = bytearray()
    while len(data) < size:
        ready, _, _ = select.select([file], [], [], max(end - time.monotonic(), 0))
        if not ready:
            raise TimeoutError
        piece = os.read(file, min(size - len(data), 1 << 16))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def _whole(stream: BinaryIO) -> bytes | None:
    size = stream.read(4)
    return stream.read(int.from_bytes(size, "big")) if len(size) == 4 else None


def main() -> None:
    """Answer until nobody asks any more."""
    from holdfast.repomap.parsing import tags

    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while (language := _whole(asked)) is not None and (source := _whole(asked)) is not None:
        answers.write(_framed(msgspec.msgpack.encode(tags(language.decode(), source))))
        answers.flush()


if __name__ == "__main__":
    main()
