"""How many lines a change adds and removes, and how a tool's answer says so.

Rule 1: what stands on both sides in the same order is neither added nor removed.
Rule 2: it is counted in linear time where both sides are long: then order is left out of account.
Rule 3: the answer of a tool that changes a file ends in `+3 -1 lines`, so that the log alone tells.
"""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import Final, NamedTuple

LONG: Final = 2_000
"""So many differing lines are compared in order; more are only matched with one another."""

_TOLD: Final = re.compile(r"\+(\d{1,9}) -(\d{1,9}) lines\)?\s*\Z")


class Lines(NamedTuple):
    """What a change does to a text."""

    added: int = 0
    removed: int = 0

    def __str__(self) -> str:
        return f"+{self.added} -{self.removed} lines"


def changed(before: str, after: str) -> Lines:
    """The lines that come and go between two states of a text."""
    old, new = between(before.splitlines(), after.splitlines())
    same = _in_order(old, new) if max(len(old), len(new)) <= LONG else _at_all(old, new)
    return Lines(len(new) - same, len(old) - same)


def told_in(answer: str) -> Lines:
    """The lines that a tool's answer says it changed; none where it says nothing of them."""
    found = _TOLD.search(answer[-40:])
    return Lines(int(found[1]), int(found[2])) if found else Lines()


def between(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Both sides without what they begin and end with alike."""
    first, most = 0, min(len(old), len(new))
    while first < most and old[first] == new[first]:
        first += 1
    last = 0
    while last < most - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return old[first : len(old) - last], new[first : len(new) - last]


def _in_order(old: list[str], new: list[str]) -> int:
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


def _at_all(old: list[str], new: list[str]) -> int:
    return (Counter(old) & Counter(new)).total()
