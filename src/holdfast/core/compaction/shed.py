"""Shedding: which of the oldest messages leave so that the rest fits, with no model asked.

Rule 1: it looks at columns only (role, kinds, counts), newest first, until the room is full.
Rule 2: it never cuts between a call and its results.
Rule 3: it frees more than it must, so that the next turns need not shed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.core.log.boundary import boundaries
from holdfast.core.tokens.count import MESSAGE
from holdfast.core.window.truncate import Cap, narrowed, weight_shown
from holdfast.model.log import Entry, Head, PartRef, kind_of
from holdfast.model.message import Message, Text
from holdfast.model.window import Block

LEAVES = 0.75
"""After shedding, this much of the room is taken at most."""

DROPPED = 0.25
"""What leaves at once where a summariser says that it was asked too much."""

CONVERSATION = ("history", "current")

SEALED = frozenset({"opaque", "summary"})
"""The kinds of parts that a provider's compaction has: it answers nothing."""

CLEARED = 40
"""About what stands for a part that is cleared."""


class Scale:
    """What entries take in the window, by estimate: as they are shown, less what is cleared.

    What is `kept` beside a summary has a frame around each of its texts.
    """

    def __init__(
        self, cap: Cap, cleared: Iterable[PartRef] = (), kept: Iterable[int] = (), frame: int = 0
    ) -> None:
        self._cap = cap
        self._cleared = frozenset(cleared)
        self._touched = frozenset(ref.seq for ref in self._cleared)
        self._kept = frozenset(kept)
        self._frame = frame

    def head(self, head: Head) -> int:
        """An entry by its columns."""
        framed = self._frame * head.kinds.count("text") if head.seq in self._kept else 0
        return self._bare(head) + framed

    def _bare(self, head: Head) -> int:
        if head.kind != "message":
            return 0
        if head.seq in self._touched or (self._cap and "tool_result" in head.kinds):
            places = range(len(head.counts))
            results = [head.counts[n] for n in places if head.kinds[n : n + 1] == ("tool_result",)]
            cap = narrowed(results, self._cap)
            return MESSAGE + sum(
                _note(head.kinds[place]) if PartRef(head.seq, place) in self._cleared
                else weight_shown(head, place, cap)
                for place in places
            )  # fmt: skip
        return sum(head.counts) + MESSAGE

    def entry(self, entry: Entry) -> int:
        """A message, as it was read and cut."""
        body = entry.body
        if not isinstance(body, Message):
            return 0
        texts = sum(isinstance(part, Text) for part in body.parts)
        framed = self._frame * texts if entry.seq in self._kept else 0
        if entry.seq not in self._touched:
            return sum(entry.counts) + MESSAGE + framed
        return (
            MESSAGE
            + framed
            + sum(
                _note(kind_of(part)) if PartRef(entry.seq, place) in self._cleared else count
                for place, (part, count) in enumerate(zip(body.parts, entry.counts, strict=True))
            )
        )


def _note(kind: str) -> int:
    """What stands for a part that is cleared, by its kind; for a thought nothing does."""
    return 0 if kind in ("reasoning", "opaque") else CLEARED


def asking(heads: Sequence[Head]) -> int:
    """The index where the newest turn begins, by roles alone; `len(heads)` where nobody asks."""
    users = [index for index, head in enumerate(heads) if head.role == "user"]
    return users[-1] if users else len(heads)


def last_reply(heads: Sequence[Head]) -> int:
    """The index of the newest reply; what has arrived since is behind it."""
    for index in range(len(heads) - 1, -1, -1):
        if heads[index].role == "assistant" and {*heads[index].kinds} - SEALED:
            return index
    return 0


def cut(heads: Sequence[Head], weights: Sequence[int], room: int) -> int:
    """The index of the oldest entry that stays; `len(heads)` where not even the newest may."""
    taken, keep = 0, len(heads)
    for index in range(len(heads) - 1, -1, -1):
        taken += weights[index]
        if taken > room:
            return keep
        if heads[index].role != "tool":
            keep = index
    return keep


def without_oldest(blocks: Sequence[Block], part: float = DROPPED) -> tuple[Block, ...]:
    """The blocks of a window without the oldest part of its conversation, calls with results."""
    talk = [index for index, block in enumerate(blocks) if block.section in CONVERSATION]
    taken = [blocks[index].tokens for index in talk]
    cuts = boundaries([Message(blocks[index].role, blocks[index].parts) for index in talk])
    leaves = (at for at in cuts if at and sum(taken[:at]) >= part * sum(taken))
    gone = {*talk[: next(leaves, 0)]}
    return tuple(block for index, block in enumerate(blocks) if index not in gone)


def legal(entries: Sequence[Entry], wanted: int) -> int:
    """The first legal cut at or behind the wanted index of these messages."""
    bodies = [entry.body for entry in entries if isinstance(entry.body, Message)]
    return next((at for at in boundaries(bodies) if at >= wanted), len(bodies))
