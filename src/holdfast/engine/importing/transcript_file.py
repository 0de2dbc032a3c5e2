"""The files that importers are handed: bounded, confined to one directory, and remembered.

Rule 1: a line that is too long, or a file that is too large, is told as such and never held.
Rule 2: whatever was asked for is part of how a source looked, be it absent; how a directory looks
        says how the files in it do.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from hashlib import blake2b
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import BinaryIO

from msgspec import Struct

from holdfast.errors import Unsafe
from holdfast.files import Root
from holdfast.model.transcript_events import Line

CHUNK = 1 << 20

MARK = b"\xef\xbb\xbf"
"""What some editors put before UTF-8: it is no part of what stands in a file."""


class Bounds(Struct, frozen=True, kw_only=True):
    """How much of one source is read at most."""

    line: int = 64 << 20
    """The bytes of one line."""
    file: int = 8 << 30
    """The bytes of a file that is read line by line."""
    whole: int = 512 << 20
    """The bytes of a file that is read at once; whoever takes it apart there may want less."""
    lines: int = 20_000_000


class FileMaterial:
    """One file beneath a root, and its neighbours there."""

    def __init__(self, root: Root, name: str, bounds: Bounds | None = None) -> None:
        self.root, self.name = root, name
        self._bounds = bounds or Bounds()
        self._asked = {name: self._look(name)}
        self._copies: TemporaryDirectory[str] | None = None
        self.read = 0
        """How many bytes of the file itself have been read."""
        self.growing = False
        """Whether somebody may be writing it: then a last line without an end is not there yet."""

    @property
    def path(self) -> str:
        """Where it is, for people and as its name in the store."""
        return str(self.root.path / self.name)

    def lines(self, name: str = "") -> Iterator[Line]:
        asked = self._ask(name)
        try:
            with self.root.open(asked) as file:
                yield from self._numbered(file, asked == self.name)
        except (OSError, Unsafe) as why:
            if asked == self.name:
                yield Line(1, b"", f"cannot be read: {why}")

    def _numbered(self, file: BinaryIO, own: bool) -> Iterator[Line]:
        bounds, number, total = self._bounds, 0, 0
        readline = file.readline
        while data := readline(bounds.line + 1):
            if own and self.growing and len(data) <= bounds.line and not data.endswith(b"\n"):
                return
            number += 1
            total += len(data)
            data = data.removeprefix(MARK) if number == 1 else data
            self.read = total if own else self.read
            if number > bounds.lines or total > bounds.file:
                yield Line(number, b"", "is beyond what is read of one file")
                return
            if len(data) > bounds.line and not data.endswith(b"\n"):
                while total <= bounds.file and (more := readline(CHUNK)):
                    total += len(more)
                    if more.endswith(b"\n"):
                        break
                yield Line(number, b"", f"is longer than {bounds.line:,} bytes")
                continue
            yield Line(number, data.rstrip(b"\r\n"))

    def whole(self, name: str = "", most: int | None = None) -> bytes | None:
        asked, bound = self._ask(name), self._bounds.whole
        limit = bound if most is None else min(most, bound)
        held = BytesIO()  # which holds it once, where joined pieces would be held twice
        try:
            held.writelines(self.root.chunks(asked, limit))
        except (OSError, Unsafe):
            return None
        data = held.getvalue()
        self.read = len(data) if asked == self.name else self.read
        return data.removeprefix(MARK)

    def names(self, directory: str) -> tuple[str, ...]:
        asked = self._ask(directory or ".")
        try:
            return tuple(PurePosixPath(one.path).name for one in self.root.listing(asked))
        except (OSError, Unsafe):
            return ()

    def copy(self, name: str = "") -> str | None:
        asked = self._ask(name)
        if self._copies is None:
            self._copies = TemporaryDirectory(prefix="holdfast-")  # private: mode 0700
        place = Path(self._copies.name) / f"{len(os.listdir(self._copies.name))}.copy"
        try:
            with place.open("wb") as made:
                for chunk in self.root.chunks(asked, self._bounds.file):
                    made.write(chunk)
        except (OSError, Unsafe):
            return None
        return str(place)

    def look(self) -> str:
        """How the file looked, and everything else that was asked for, when it was asked for."""
        return _looked(self._asked)

    def same(self, look: str) -> bool:
        """Whether all still looks as it did then."""
        try:
            names = [_unquoted(name) for name in look.split(" ")[1:]]
        except ValueError:
            return False
        return look == _looked({name: self._look(name) for name in names})

    def beside(self, look: str) -> tuple[str, ...]:
        """The paths that were asked for besides the file itself, directories too."""
        names = [_unquoted(name) for name in look.split(" ")[1:]]
        return tuple(str(self.root.path / name) for name in names if name != self.name)

    def age(self) -> float:
        """How long ago the file was last written, in seconds."""
        try:
            return time.time() - self.root.stat(self.name).st_mtime
        except (OSError, Unsafe):
            return 0.0

    def _look(self, name: str) -> str:
        try:
            found = self.root.stat(name) if name != "." else None
            if found is None or stat.S_ISDIR(found.st_mode):
                listed = self.root.listing(name)
                return "/".join(f"{o.path}:{o.stat.st_size}:{o.stat.st_mtime_ns}" for o in listed)
            return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ino}"
        except (OSError, Unsafe):
            return "absent"

    def _ask(self, name: str) -> str:
        asked = name or self.name
        if not {asked, str(PurePosixPath(asked).parent)} & self._asked.keys():
            self._asked[asked] = self._look(asked)
        return asked

    def close(self) -> None:
        """Take away the copies that were made."""
        if self._copies:
            self._copies.cleanup()
            self._copies = None


def _looked(asked: dict[str, str]) -> str:
    made = blake2b(digest_size=16)
    for name, look in asked.items():
        made.update(f"{name}\0{look}\0".encode("utf-8", "surrogatepass"))
    return f"{made.hexdigest()} {' '.join(map(_quoted, asked))}"


def _quoted(name: str) -> str:
    return name.encode("utf-8", "surrogatepass").hex()


def _unquoted(name: str) -> str:
    return bytes.fromhex(name).decode("utf-8", "surrogatepass")
