"""What Codex itself would send next, kept up as its records come: for compactions and rollbacks.

Rule 1: a replacement is the whole new past; what of it was said before is found again by its words.
Rule 2: a rollback takes back the newest turns, and whatever compaction lies in them.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from holdfast.importers.budget import Allowance
from holdfast.model import wire

MOST_TURNS = 10_000
"""How many turns can be taken back."""

MOST_KEPT = 1_000
"""How many messages a compaction keeps that does not name them."""


class Seen(Struct, frozen=True):
    """Something that is visible: a message or a summary."""

    native: str
    print: int = 0
    """What it is found by; 0 where it is nothing to be found."""
    context: bool = False
    """Whether the program has said it, beside somebody's words."""
    words: int = 0
    """How long a human's words are, in tokens as Codex counts them; 0 where they are no human's."""


class Past:
    """The messages that are visible, and where each turn began."""

    def __init__(self) -> None:
        self._seen: list[Seen] = []
        self._turns: list[tuple[list[Seen], int]] = []
        """The list that was visible when a turn began, and how much of it: it only grows, but where
        a turn is taken back, and with it whatever began later."""
        self.allowance = Allowance()

    def say(self, seen: Seen, *, turn: bool = False) -> None:
        """Something was said; a `turn` begins with it."""
        if turn:
            self._turns.append((self._seen, len(self._seen)))
            if len(self._turns) > 2 * MOST_TURNS:
                del self._turns[:MOST_TURNS]
        self._seen.append(seen)

    def index(self) -> dict[int, list[str]]:
        """What is visible by its words: native ids, the oldest last."""
        found: dict[int, list[str]] = {}
        for one in reversed(self._seen):
            if one.print:
                found.setdefault(one.print, []).append(one.native)
        return found

    def humans(self, most: int) -> list[str]:
        """The newest words of humans that take so many tokens together, by their native ids."""
        kept: list[str] = []
        for one in reversed([one for one in self._seen if one.words]):
            most -= one.words
            if most < 0 or len(kept) == MOST_KEPT:
                break
            kept.append(one.native)
        return kept[::-1] if self.allowance.take(len(kept)) else []

    def compact(self, kept: set[str], native: str) -> None:
        """All is a summary from here on, but for what is kept."""
        self._seen = [*(one for one in self._seen if one.native in kept), Seen(native)]

    def roll_back(self, turns: int) -> str | None:
        """Take back the newest turns; the native id of what is last then, None if nothing is."""
        if not self._turns or turns <= 0:
            return None
        first = max(len(self._turns) - turns, 0)
        seen, place = self._turns[first]
        while first and place and seen[place - 1].context:
            place -= 1
        del seen[place:], self._turns[first:]
        self._seen = seen
        return self._seen[-1].native if self._seen else ""


def print_of(role: str, content: Any) -> int:
    """What a message is found again by, in whatever order its members come."""
    return hash(wire.encode([role, _ordered(content)])) or 1


def _ordered(content: Any) -> Any:
    """Content with the members of its parts in one order."""
    if type(content) is not list:
        return content
    return [
        sorted(one.items(), key=lambda member: member[0]) if type(one) is dict else one
        for one in content
    ]
