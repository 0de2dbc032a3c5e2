"""A disk with a tape running: what was written, and the disks that a power cut could leave.

What is modelled: a sync makes everything written to that file so far last, and the first sync of a
file just made syncs its directory, as SQLite does, so that every name made or deleted there lasts;
of what was done since, any part may be there or not, in sectors of 512 bytes. What is not: a sync
that lies, and bytes that change by themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any, Literal

import apsw

SECTOR = 512

Mode = Literal["none", "all", "some", "torn"]

_numbers = count()


@dataclass(frozen=True)
class Op:
    """One thing that happened to one file, or the acknowledgement of a step."""

    kind: Literal["write", "truncate", "sync", "create", "delete", "acknowledge"]
    name: str = ""
    at: int = 0
    data: bytes = b""


Tape = list[Op]


class TapeFile(apsw.VFSFile):
    """A file whose changes are written on the tape as well."""

    def __init__(self, base: str, filename: Any, flags: list[int], tape: Tape) -> None:
        self._name, self._tape = name_of(filename), tape
        fresh = not os.path.exists(self._name)
        super().__init__(base, filename, flags)
        if fresh:
            tape.append(Op("create", self._name))

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._tape.append(Op("write", self._name, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self._tape.append(Op("truncate", self._name, newsize))

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._tape.append(Op("sync", self._name))


class TapeVFS(apsw.VFS):
    """The usual file system, with a tape running."""

    def __init__(self, name: str, tape: Tape) -> None:
        self._tape = tape
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        if name is None:
            return apsw.VFSFile("", name, flags)  # a temporary file: gone after a cut anyway
        return TapeFile("", name, flags, self._tape)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self._tape.append(Op("delete", filename, at=int(syncdir)))


def name_of(filename: Any) -> str:
    return filename.filename() if isinstance(filename, apsw.URIFilename) else filename


@contextmanager
def taping(tape: Tape) -> Iterator[str]:
    """The name of a VFS that writes on this tape."""
    name = f"tape-{os.getpid()}-{next(_numbers)}"
    vfs = TapeVFS(name, tape)
    try:
        yield name
    finally:
        vfs.unregister()


@dataclass
class Copy:
    """One file under a name: what lasts of it, and what was done since."""

    lasting: bytearray | None = None
    """None while not even the name lasts."""
    gone: bool = False
    """Whether it is no file at all, but the deletion of one."""
    since: Tape = field(default_factory=list)

    def settle(self) -> None:
        """Everything so far lasts."""
        self.lasting = self.lasting or bytearray()
        for op in self.since:
            apply(self.lasting, op)
        self.since.clear()

    def left(self, mode: Mode, random: Random) -> bytes | None:
        """What a power cut leaves."""
        if self.gone:
            return None
        if mode == "none" or (self.lasting is None and mode != "all" and random.random() < 0.25):
            return bytes(self.lasting) if self.lasting is not None else None
        content = bytearray(self.lasting or b"")
        for op in self.since:
            for piece in sectors(op) if mode == "torn" else (op,):
                if mode == "all" or random.random() < 0.5:
                    apply(content, piece)
        return bytes(content)


class Platter:
    """The files of one directory as the tape runs by."""

    def __init__(self, *existing: str) -> None:
        self.files: dict[str, list[Copy]] = {name: [Copy(bytearray())] for name in existing}
        """By name: the copies that may be found under it after a cut, newest last."""

    def play(self, op: Op) -> None:
        """What one operation does."""
        copies = self.files.setdefault(op.name, [])
        if op.kind == "create":
            copies.append(Copy())
        elif op.kind == "delete":
            copies.append(Copy(gone=True))
            if op.at:
                self._sync_directory()
        elif op.kind == "sync":
            if copies[-1].lasting is None:
                self._sync_directory()
            copies[-1].settle()
        elif op.kind != "acknowledge":
            copies[-1].since.append(op)

    def _sync_directory(self) -> None:
        for copies in self.files.values():
            del copies[:-1]
            if copies and copies[-1].gone:
                copies.clear()
            elif copies and copies[-1].lasting is None:
                copies[-1].lasting = bytearray()

    def left(self, mode: Mode, random: Random) -> dict[str, bytes]:
        """The files that a power cut leaves."""
        found: dict[str, bytes] = {}
        for name, copies in self.files.items():
            if copies:
                which = {"none": 0, "all": -1}.get(mode, random.randrange(len(copies)))
                content = copies[which].left(mode, random)
                if content is not None:
                    found[name] = content
        return found


def apply(content: bytearray, op: Op) -> None:
    if op.kind == "truncate":
        del content[op.at :]
    if len(content) < op.at:
        content.extend(bytes(op.at - len(content)))
    if op.kind == "write":
        content[op.at : op.at + len(op.data)] = op.data


def sectors(op: Op) -> Iterator[Op]:
    """A write in the pieces that a disk writes whole."""
    if op.kind != "write":
        yield op
        return
    start = 0
    while start < len(op.data):
        end = start + SECTOR - (op.at + start) % SECTOR
        yield Op("write", op.name, op.at + start, op.data[start:end])
        start = end
