"""The snapshots port in memory."""

from __future__ import annotations

from collections.abc import Sequence

from .state import Shelf


class MemorySnapshots:
    """The snapshots port."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def save(
        self, session: str, seq: int, version: int, data: bytes, *, drop: Sequence[int] = ()
    ) -> None:
        with self._shelf.lock:
            kept = self._shelf.snapshots.setdefault(self._shelf.session(session).id, {})
            for place in drop:
                kept.pop(place, None)
            kept[seq] = (version, bytes(data))

    async def newest(self, session: str, upto: int, version: int) -> tuple[int, bytes] | None:
        with self._shelf.lock:
            found: list[tuple[int, bytes]] = []
            one = self._shelf.session(session)
            while True:
                kept = self._shelf.snapshots.get(one.id, {}).items()
                found += [(n, data) for n, (v, data) in kept if n <= upto and v == version]
                if not one.fork:
                    return max(found, default=None)
                upto, one = min(upto, one.fork), self._shelf.session(one.parent)

    async def places(self, session: str) -> tuple[int, ...]:
        with self._shelf.lock:
            return tuple(sorted(self._shelf.snapshots.get(self._shelf.session(session).id, {})))
