"""Words that are spelled nearly alike: what somebody may have meant who mistyped one.

Rule 1: one slip is a letter too many, one missing, another one, or two in the wrong order.
Rule 2: words of up to five letters may have one slip, longer ones two; shorter than three, none.
Rule 3: a word with a digit in it is a name, not a slip: it has no likeness.
Rule 4: the fewest slips come first, then the same first letter, then what is said more often.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SHORTEST: Final = 3
ONE_SLIP: Final = 5
"""Letters up to which a word may have one slip only."""


def slips_allowed(word: str) -> int:
    """How many slips a word may have."""
    if len(word) < SHORTEST or not word.isalpha():
        return 0
    return 1 if len(word) <= ONE_SLIP else 2


def nearest_words(word: str, known: Iterable[tuple[str, int]], most: int = 3) -> tuple[str, ...]:
    """Those of the words, each with how often it is said, that may have been meant."""
    allowed = slips_allowed(word)
    found: list[tuple[int, bool, int, str]] = []
    for other, times in known:
        if abs(len(other) - len(word)) <= allowed and other.isalpha():
            slips = distance(word, other, allowed)
            if 0 < slips <= allowed:
                found.append((slips, other[0] != word[0], -times, other))
    return tuple(other for *_, other in sorted(found)[:most])


def distance(one: str, two: str, most: int) -> int:
    """How many slips lie between two words; more than `most` where that is sure."""
    before, row = [0] * (len(two) + 1), list(range(len(two) + 1))
    for at, letter in enumerate(one, 1):
        further = [at]
        for place, other in enumerate(two, 1):
            slips = min(row[place] + 1, further[-1] + 1, row[place - 1] + (letter != other))
            if at > 1 and place > 1 and letter == two[place - 2] and one[at - 2] == other:
                slips = min(slips, before[place - 2] + 1)
            further.append(slips)
        before, row = row, further
        if min(row) > most:
            return most + 1
    return row[-1]
