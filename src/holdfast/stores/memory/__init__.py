"""A store in plain dictionaries: what the ports mean, written to be read rather than to be fast.

An entry read through a fork names the session that was asked, wherever the entry lives.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import ClassVar

from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.store import Erasing, Finding

from .calls import MemoryCalls
from .counts import MemoryCounts
from .files import MemoryFileHistory
from .imports import MemoryImports
from .jobs import MemoryJobs
from .log import MemoryLog
from .notes import MemoryNotes
from .search import MemorySearch
from .sessions import MemorySessions
from .snapshots import MemorySnapshots
from .state import Shelf

__all__ = ["MemoryStore"]


class MemoryStore:
    """Everything in memory, gone when the process ends."""

    blocking: ClassVar[bool] = True

    def __init__(self) -> None:
        shelf = self._shelf = Shelf()
        self.log = MemoryLog(shelf)
        self.sessions = MemorySessions(shelf)
        self.blobs = MemoryBlobs(shelf)
        self.files = MemoryFileHistory(shelf)
        self.calls = MemoryCalls(shelf)
        self.counts = MemoryCounts(shelf)
        self.snapshots = MemorySnapshots(shelf)
        self.notes = MemoryNotes(shelf)
        self.search = MemorySearch(shelf)
        self.imports = MemoryImports(shelf)
        self.jobs = MemoryJobs(shelf)
        self.care = MemoryCare()

    @classmethod
    def open(cls, name: str = "") -> MemoryStore:
        """A fresh one each time; a name means nothing here."""
        return cls()

    def close(self) -> None:
        """From here on it refuses, as a closed file does."""
        self._shelf.lock.closed = True


class MemoryBlobs:
    """The blobs port in memory."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def put(self, data: bytes) -> str:
        hash = sha256(data).hexdigest()
        with self._shelf.lock:
            self._shelf.blobs[hash] = bytes(data)
        return hash

    async def fetch(self, hash: str) -> bytes:
        with self._shelf.lock:
            if hash not in self._shelf.blobs:
                raise NotFound("blob", hash)
            return self._shelf.blobs[hash]

    async def sweep(self) -> int:
        with self._shelf.lock:
            return self._shelf.sweep()


class MemoryCare:
    """The care port: memory does not rot, and cannot be copied to a safe place."""

    async def ids(self) -> tuple[str, ...]:
        return ()

    async def examine(self, session: str = "") -> tuple[Finding, ...]:
        return ()

    async def backup(self) -> str:
        raise InvalidRequest(
            "nothing to back up in memory; keep the sessions in a file to have copies"
        )

    async def erase_further(self, *, owner: str, now: int, until: int) -> Erasing | None:
        return None

    async def repair(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        return ()
