"""Shedding: which of the oldest messages leave so that the rest fits, with no model asked.

Rule 1: it looks at columns only (role, kinds, counts), newest first, until the room is full.
Rule 2: it never cuts between a call and its results.
Rule 3: it frees more than it must, so that the next turns need not shed again.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.core.boundary import boundaries
from holdfast.core.count import MESSAGE
from holdfast.model.log import Entry, Head
from holdfast.model.message import Message

LEAVES = 0.75
"""After shedding, this much of the room is taken at most."""


def weight(head: Head) -> int:
    """What an entry takes in the window, by estimate."""
    return sum(head.counts) + MESSAGE if head.kind == "message" else 0


def asking(heads: Sequence[Head]) -> int:
    """The index where the newest turn begins, by roles alone; `len(heads)` where nobody asks."""
    users = [index for index, head in enumerate(heads) if head.role == "user"]
    return users[-1] if users else len(heads)


def cut(heads: Sequence[Head], room: int) -> int:
    """The index of the oldest entry that stays; `len(heads)` where not even the newest may."""
    taken, keep = 0, len(heads)
    for index in range(len(heads) - 1, -1, -1):
        taken += weight(heads[index])
        if taken > room:
            return keep
        if heads[index].role != "tool":
            keep = index
    return keep


def legal(entries: Sequence[Entry], wanted: int) -> int:
    """The first legal cut at or behind the wanted index of these messages."""
    bodies = [entry.body for entry in entries if isinstance(entry.body, Message)]
    return next((at for at in boundaries(bodies) if at >= wanted), len(bodies))
