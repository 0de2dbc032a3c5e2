"""What an extract needs of a stretch that is too long to be read again: its best pieces and names.

Rule 1: it is read on entry by entry, and reading on from where it was frozen gives what reading
        from the beginning gives.
Rule 2: it is bounded: the pieces that promise most stay, and the names that are used most.
Rule 3: each of them knows its entries, so that only what is covered is told; what a rewind has left
        behind is not.
"""

from __future__ import annotations

from heapq import nlargest
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.extract.names import HALF, PRINTED, SAID, names_in
from holdfast.core.extract.quotes import Piece, pieces, promising
from holdfast.core.extract.texts import printed, written
from holdfast.model.log import Entry
from holdfast.model.message import Message
from holdfast.model.span import Spans, within

PIECES: Final = 192
NAMES: Final = 600
"""So many stay when twice as many are held."""
PLACES: Final = 4
"""Of each name so many uses are known, the newest."""
AGE: Final = 200
"""A piece is worth what it is worth when it is so many entries old; from then on all age alike."""


class Use(Struct, frozen=True, array_like=True):
    """A name stands in an entry: where, and how much that warms it."""

    seq: int
    weight: float


class Digest(Struct, omit_defaults=True, kw_only=True):
    """The pieces and names of all entries up to one. It changes in place: it is read on often."""

    seq: int = 0
    pieces: list[Piece] = []
    names: dict[str, list[Use]] = {}

    def step(self, entry: Entry) -> None:
        """One more entry; one that was read already changes nothing."""
        if entry.seq <= self.seq:
            return
        self.seq = entry.seq
        if not isinstance(entry.body, Message):
            return
        self.pieces += pieces(entry, AGE)
        self._use(printed(entry.body), PRINTED)
        self._use(written(entry.body), SAID)
        if len(self.pieces) > 2 * PIECES:
            self.pieces = best(self.pieces, self.seq)
        if len(self.names) > 2 * NAMES:
            self.names = self._warmest()

    def _use(self, text: str, weight: float) -> None:
        if not text:
            return
        for name in sorted(names_in(text)):
            uses = self.names.setdefault(name, [])
            uses.append(Use(self.seq, weight))
            if len(uses) > PLACES:
                del uses[0]

    def _warmest(self) -> dict[str, list[Use]]:
        def warmth(name: str) -> float:
            return sum(use.weight / (1 + (self.seq - use.seq) / HALF) for use in self.names[name])

        kept = {*nlargest(NAMES, self.names, key=warmth)}
        return {name: uses for name, uses in self.names.items() if name in kept}

    def within(self, covers: Spans) -> Digest:
        """Only what these stretches hold."""
        names = {
            name: held
            for name, uses in self.names.items()
            if (held := [use for use in uses if within(use.seq, covers)])
        }
        said = [piece for piece in self.pieces if within(piece.seq, covers)]
        return Digest(seq=self.seq, pieces=said, names=names)


def best(found: list[Piece], newest: int) -> list[Piece]:
    """The pieces that promise most, in the order of the log."""
    chosen = nlargest(PIECES, enumerate(found), key=lambda one: promising(aged(one[1], newest)))
    return [piece for _, piece in sorted(chosen, key=lambda one: one[0])]


def aged(piece: Piece, newest: int) -> Piece:
    """A piece, worth less the older it is."""
    age = max(newest - piece.seq, 0)
    return replace(piece, worth=piece.worth / (1 + age / AGE))
