"""The counts port in memory."""

from __future__ import annotations

from holdfast.model.log import PartRef
from holdfast.model.message import Message
from holdfast.model.span import Spans, within

from .state import Shelf


class MemoryCounts:
    """The counts port."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def known(self, session: str, spans: Spans, counter: str) -> dict[PartRef, int]:
        with self._shelf.lock:
            found: dict[PartRef, int] = {}
            for entry in self._shelf.line(session):
                if isinstance(entry.body, Message) and within(entry.seq, spans):
                    for ordinal in range(len(entry.body.parts)):
                        tokens = self._shelf.counts.get((entry.id, ordinal, counter))
                        if tokens is not None:
                            found[PartRef(entry.seq, ordinal)] = tokens
            return found

    async def tally(self, session: str, counter: str, counts: dict[PartRef, int]) -> None:
        with self._shelf.lock:
            line = {entry.seq: entry for entry in self._shelf.line(session)}
            for ref, tokens in counts.items():
                entry = line.get(ref.seq)
                if (
                    entry
                    and isinstance(entry.body, Message)
                    and ref.ordinal < len(entry.body.parts)
                ):
                    self._shelf.counts[entry.id, ref.ordinal, counter] = tokens
