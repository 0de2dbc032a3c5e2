"""Which quotations to take: those that give most for their tokens, given what is taken already.

Rule 1: a quotation gives what it is worth itself, and its names that nobody told yet.
Rule 2: what is taken comes back in the order it was taken, the best first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import heapify, heappop, heappush, nlargest
from math import fsum

from holdfast.core.estimate import estimate
from holdfast.core.extract.names import Names, is_public
from holdfast.core.extract.pieces import Piece
from holdfast.core.handles import has_handle

OPENING, GOING_ON = 7, 2
"""What a line around a quotation takes, and what one more on the same line takes."""
TELLING = 25
"""A quotation of so many tokens is worth half of what it could be: `Perfect!` says little."""
ENOUGH = 3
"""Once so many pieces of an entry are quoted, one more of it is worth half."""


def choose(candidates: Iterable[Piece], names: Names, told: set[str], room: int) -> list[Piece]:
    """The quotations that fit into so many tokens."""
    most = max(room, 0) // 2
    best = nlargest(most, candidates, key=promising)
    held = {piece: names.within(piece.text) for piece in best}
    costs = {piece: estimate(piece.text) for piece in best}
    told, taken, chosen = set(told), Counter[tuple[int, str]](), dict[str, Piece]()

    def rate(piece: Piece) -> float:
        new = fsum(map(names.likely, held[piece] - told))  # the same in whatever order
        worth = piece.worth * costs[piece] / (costs[piece] + TELLING)
        worth /= 1 + taken[piece.seq, piece.role] / ENOUGH
        return (worth + new) / (costs[piece] + _around(piece, taken))

    waiting = [(-rate(piece), number, piece) for number, piece in enumerate(best)]
    heapify(waiting)
    while waiting and room > OPENING:
        said, number, piece = heappop(waiting)
        now = -rate(piece)
        if waiting and now > said and now > waiting[0][0]:  # others told its names meanwhile
            heappush(waiting, (now, number, piece))
            continue
        cost = costs[piece] + _around(piece, taken)
        if cost <= room and piece.text not in chosen and _tells(piece.text):
            room -= cost
            told |= held[piece]
            taken[piece.seq, piece.role] += 1
            chosen[piece.text] = piece
    return list(chosen.values())


def promising(piece: Piece) -> float:
    """What a quotation gives for its length, told without looking for names."""
    size = len(piece.text.encode("utf-8", "surrogatepass"))
    return piece.worth * size / (size + 100) / (size + 30)


def _tells(text: str) -> bool:
    """Whether a text may be quoted: it has no secret, and does not only say what to look up."""
    return is_public(text) and not has_handle(text)


def _around(piece: Piece, taken: Counter[tuple[int, str]]) -> int:
    return GOING_ON if taken[piece.seq, piece.role] else OPENING
