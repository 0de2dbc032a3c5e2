"""A disk that fails when told to: the Nth I/O call, once or from then on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

import apsw

from tests.faults.disk import name_of

Kind = Literal["EIO", "ENOSPC"]

_CODES = {
    "open": apsw.SQLITE_CANTOPEN,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "delete": apsw.SQLITE_IOERR_DELETE,
    "size": apsw.SQLITE_IOERR_FSTAT,
}
_GROWS = ("open", "write", "sync")
"""The calls that a full disk can fail."""

_numbers = count()


@dataclass
class Fault:
    """Which I/O call fails, and whether those after it do too."""

    kind: Kind = "EIO"
    at: int = 0
    """The number of the call; 0 fails none, and only counts."""
    lasting: bool = False
    calls: int = 0
    struck: list[str] = field(default_factory=list)
    """What has failed so far, such as `sync store.db-wal`."""

    def meet(self, call: str, name: str) -> None:
        """Count a call, and fail it if it is its turn."""
        if self.kind == "ENOSPC" and call not in _GROWS:
            return
        self.calls += 1
        if self.at and (self.calls == self.at or (self.lasting and self.calls > self.at)):
            self.struck.append(f"{call} {os.path.basename(name)}")
            full = self.kind == "ENOSPC" and call == "write"
            raise apsw.exception_for(apsw.SQLITE_FULL if full else _CODES[call])


class FailingFile(apsw.VFSFile):
    """A file on a failing disk."""

    def __init__(self, base: str, filename: Any, flags: list[int], fault: Fault) -> None:
        self._name, self._fault = name_of(filename), fault
        fault.meet("open", self._name)
        super().__init__(base, filename, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        self._fault.meet("read", self._name)
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        try:
            self._fault.meet("write", self._name)
        except apsw.FullError:
            super().xWrite(data[: len(data) // 2], offset)  # as much as there was room for
            raise
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._fault.meet("sync", self._name)
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        self._fault.meet("truncate", self._name)
        super().xTruncate(newsize)

    def xFileSize(self) -> int:
        self._fault.meet("size", self._name)
        return super().xFileSize()


class FailingVFS(apsw.VFS):
    """The usual file system, on a disk that fails when told to."""

    def __init__(self, name: str, fault: Fault) -> None:
        self._fault = fault
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        if name is None:
            return apsw.VFSFile("", name, flags)
        return FailingFile("", name, flags, self._fault)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self._fault.meet("delete", filename)
        super().xDelete(filename, syncdir)


@contextmanager
def failing(fault: Fault) -> Iterator[str]:
    """The name of a VFS with this fault."""
    name = f"failing-{os.getpid()}-{next(_numbers)}"
    vfs = FailingVFS(name, fault)
    unraisable, sys.unraisablehook = sys.unraisablehook, _ignore
    try:
        yield name
    finally:
        sys.unraisablehook = unraisable
        vfs.unregister()


def _ignore(unraisable: object) -> None:
    """While one failure is on its way to us, apsw can only print the next."""
