"""Reading a file by lines, of whatever size: what is held of it is bounded.

Rule 1: what is not the whole of a file ends with which lines it was, of how many.
Rule 2: lines end with a newline, as in other programs that number them.
"""

from __future__ import annotations

import os
import time
from typing import BinaryIO, Final, NamedTuple

from holdfast.agent.tools.find_files import BINARY, LARGEST
from holdfast.errors import InvalidRequest
from holdfast.files import Root

PIECE: Final = 256 * 1024
"""So many bytes of a file that is larger than `LARGEST` are shown where no number is given."""

STEP: Final = 1 << 20
SECONDS: Final = 10.0
"""So long may it take to come to a line, and to count the rest."""


class Taken(NamedTuple):
    """Some lines of a file; `last` is the last of them, and `cut` says that it is not whole."""

    data: bytes
    last: int
    cut: bool


def lines_of(root: Root, path: str, first: int, many: int) -> str:
    """So many lines from the first on; as many as fit where `many` is 0."""
    with root.open(path) as file:
        if b"\0" in file.read(BINARY):
            raise InvalidRequest(f"{path} is no text")
        file.seek(0)
        end, whole = time.monotonic() + SECONDS, os.fstat(file.fileno()).st_size <= LARGEST
        _go_to(file, first, end)
        taken = _taken(file, first, many, LARGEST if many or whole else PIECE, end)
        file.seek(0)
        total, counted = _counted(file, end)
    text = taken.data.decode("utf-8", "surrogateescape")
    if counted and first == 1 and taken.last == total and not taken.cut:
        return text
    between = "" if text.endswith("\n") or not text else "\n"
    return (
        f"{text}{between}[{_which(taken, first, f'{total:,}' if counted else f'over {total:,}')}]"
    )


def _which(taken: Taken, first: int, total: str) -> str:
    if not taken.data:
        return f"line {first:,} was not found; there are {total}"
    cut = f"; line {taken.last:,} is cut, it is too long" if taken.cut else ""
    return f"lines {first:,} to {taken.last:,} of {total}{cut}"


def _go_to(file: BinaryIO, line: int, end: float) -> None:
    """Stand where a line begins, or at the end of a file that has no such line."""
    before = line - 1
    while before and time.monotonic() < end and (data := file.read(STEP)):
        many = data.count(b"\n")
        if many < before:
            before -= many
            continue
        place = 0
        for _ in range(before):
            place = data.index(b"\n", place) + 1
        file.seek(place - len(data), os.SEEK_CUR)
        return
    if before:
        file.seek(0, os.SEEK_END)


def _taken(file: BinaryIO, first: int, many: int, room: int, end: float) -> Taken:
    held, line, begun = bytearray(), first, 0
    while time.monotonic() < end and (not many or line < first + many):
        data = file.readline(STEP)
        if not data:
            break
        held += data
        if len(held) > room:  # whole lines only, unless there is none
            kept = bytes(held[:begun])
            return Taken(kept, line - 1, False) if kept else Taken(bytes(held[:room]), line, True)
        if data.endswith(b"\n"):
            line, begun = line + 1, len(held)
    return Taken(bytes(held), line - (begun == len(held)), False)


def _counted(file: BinaryIO, end: float) -> tuple[int, bool]:
    """How many lines a file has, and whether there was time to count them all."""
    lines, last = 0, b"\n"
    while data := file.read(STEP):
        lines, last = lines + data.count(b"\n"), data[-1:]
        if time.monotonic() > end:
            return lines, False
    return lines + (last != b"\n"), True
