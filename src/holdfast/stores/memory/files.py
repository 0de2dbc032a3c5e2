"""The file history port in memory."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from msgspec.structs import replace

from holdfast.model.workspace import FileChange, KeptFiles, contents

from .state import Shelf


class MemoryFileHistory:
    """Changes by their number."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def record(
        self, session: str, changes: Sequence[FileChange], contents: Sequence[bytes] = ()
    ) -> tuple[FileChange, ...]:
        with self._shelf.lock:
            shelf, made = self._shelf, list[FileChange]()
            shelf.session(session)
            for data in contents:
                shelf.blobs[sha256(data).hexdigest()] = bytes(data)
            for change in changes:
                if not (number := change.number):
                    shelf.file_number = number = shelf.file_number + 1
                made.append(replace(change, session=session, number=number))
                shelf.file_changes[number] = made[-1]
            return tuple(made)

    async def remove(self, session: str, numbers: Sequence[int]) -> None:
        with self._shelf.lock:
            self._shelf.session(session)
            for number in numbers:
                found = self._shelf.file_changes.get(number)
                if found and found.session == session:
                    self._drop([self._shelf.file_changes.pop(number)])

    async def changes(
        self, session: str, *, after: int = 0, limit: int = 4096
    ) -> tuple[FileChange, ...]:
        with self._shelf.lock:
            found: list[FileChange] = []
            one, last = self._shelf.session(session), 2**62
            while True:
                first = one.fork
                found += [
                    change
                    for change in self._shelf.file_changes.values()
                    if change.session == one.id and first <= change.at <= last
                ]
                if not one.fork:
                    break
                one, last = self._shelf.session(one.parent), min(last, one.fork)
            newer = (replace(each, session=session) for each in found if each.number > after)
            return tuple(sorted(newer, key=lambda each: each.number))[:limit]

    async def beside(
        self, session: str, root: str, *, after: int = 0, limit: int = 4096
    ) -> tuple[FileChange, ...]:
        with self._shelf.lock:
            found = [
                each
                for number, each in sorted(self._shelf.file_changes.items())
                if number > after and each.root == root and each.session != session
            ]
            return tuple(found)[:limit]

    async def forget(self, before: int, keep: int) -> KeptFiles:
        with self._shelf.lock:
            numbers = sorted(self._shelf.file_changes)
            old = [
                self._shelf.file_changes[number]
                for number in numbers[: max(len(numbers) - keep, 0)]
                if self._shelf.file_changes[number].created < before
            ]
            old = [change for change in old if contents(change)]
            for change in old:
                self._shelf.file_changes[change.number] = replace(change, forgotten=True)
            return self._drop(old)

    def _drop(self, gone: Sequence[FileChange]) -> KeptFiles:
        """Let go of what only these changes had in the blobs."""
        used = {hash for one in self._shelf.file_changes.values() for hash in contents(one)}
        hashes = {hash for one in gone for hash in contents(one)} - used
        sizes = [len(self._shelf.blobs.pop(hash, b"")) for hash in hashes]
        return KeptFiles(
            changes=len(gone), contents=len(sizes), bytes=sum(sizes), stored=sum(sizes)
        )

    async def kept(self, session: str = "") -> KeptFiles:
        with self._shelf.lock:
            if session:
                self._shelf.session(session)
            held = [
                one
                for one in self._shelf.file_changes.values()
                if contents(one) and session in ("", one.session)
            ]
            hashes = {hash for one in held for hash in contents(one)}
            size = sum(len(self._shelf.blobs.get(hash, b"")) for hash in hashes)
            oldest = min((one.created for one in held), default=0)
            return KeptFiles(
                changes=len(held), contents=len(hashes), bytes=size, stored=size, oldest=oldest
            )
