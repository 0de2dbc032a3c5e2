"""The process that searches files: it tells of each match as it comes to it.

Python's expressions can take for ever, and hold up all else in their process while they do.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Final

from holdfast.agent.tools.find_files import BINARY, LARGEST
from holdfast.child_process import framed, heard, limits
from holdfast.errors import HoldfastError
from holdfast.files import Root

SHOWN: Final = 400
"""So much of a line is shown, in characters."""

ALONE: Final = 15
"""So long it goes on where nobody is left to end it, in seconds."""

TOO_LARGE: Final = f"larger than {LARGEST:,} bytes"
NO_TEXT: Final = "no text"
UNREADABLE: Final = "not readable"


def main() -> None:
    """Be told where and what for, then search some files at a time until no more are named."""
    limits(ALONE)
    root, pattern = json.loads(heard(sys.stdin.buffer) or b'["", ""]')
    try:
        wanted = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as wrong:
        _say({"wrong": f"{pattern!r} is no pattern: {wrong}"})
        return
    _say({"done": "read"})
    beneath = Root(root)
    while paths := heard(sys.stdin.buffer):
        for path in json.loads(paths):
            for told in _searched(beneath, path, wanted):
                _say({"path": path, **told})
        _say({"done": "all of them"})


def _say(told: dict[str, str]) -> None:
    sys.stdout.buffer.write(framed(json.dumps(told).encode()))
    sys.stdout.buffer.flush()


def _searched(root: Root, path: str, wanted: re.Pattern[str]) -> Iterator[dict[str, str]]:
    """The lines of a file that match, or why it was passed over."""
    try:
        if root.stat(path).st_size > LARGEST:
            yield {"passed": TOO_LARGE}
            return
        data = root.read(path, LARGEST)
    except (HoldfastError, OSError):
        yield {"passed": UNREADABLE}
        return
    if b"\0" in data[:BINARY]:
        yield {"passed": NO_TEXT}
        return
    text = data.decode("utf-8", "replace").removesuffix("\n")
    for number, line in enumerate(text.split("\n") if data else (), 1):
        if found := wanted.search(line.removesuffix("\r")):
            yield {"line": f"{number}: {_around(line, found)}"}


def _around(line: str, found: re.Match[str]) -> str:
    """The beginning of a line, or what is around a match further on."""
    if found.end() <= SHOWN:
        return line[:SHOWN].removesuffix("\r")
    begin = max(found.start() - SHOWN // 4, 0)
    return f"{'…' if begin else ''}{line[begin : begin + SHOWN]}"


if __name__ == "__main__":
    main()
