"""Parsing in a process of its own: some inputs keep a parser busy for minutes, and some end it.

A file that takes too long, or too much memory, or ends the process, has no tags; that is all that
becomes of it.
"""

from __future__ import annotations

import sys
import time
from typing import Final

import msgspec

from holdfast.child_process import Child, framed, heard, limits
from holdfast.core.repo_map import Tags

SECONDS: Final = 3.0
"""So long may one file take."""

ALONE: Final = 30
"""So long the process goes on with one file where nobody is left to end it, in seconds."""


class Parsing:
    """Parses files one after another, in a process that is replaced where it fails."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._child: Child | None = None

    def __call__(self, language: str, source: bytes) -> Tags:
        """What a file defines and refers to; nothing where it cannot be parsed in time."""
        try:
            child = self._child = self._child or Child("holdfast.repomap.worker")
            child.tell(language.encode(), source)
            told = child.answer(time.monotonic() + self._seconds)
            return msgspec.msgpack.decode(told, type=Tags)
        except (OSError, EOFError, msgspec.MsgspecError):
            self.close()
            return Tags()

    def close(self) -> None:
        """End the process; the next file begins another."""
        child, self._child = self._child, None
        if child is not None:
            child.close()


def main() -> None:
    """Answer until nobody asks any more."""
    from holdfast.repomap.parse import tags

    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while (language := heard(asked)) is not None and (source := heard(asked)) is not None:
        limits(ALONE)
        answers.write(framed(msgspec.msgpack.encode(tags(language.decode(), source))))
        answers.flush()


if __name__ == "__main__":
    main()
