"""The names most like one that leads nowhere.

Rule 1: a name that begins another one means that one.
Rule 2: else names are compared as far as the given one goes: it may be the beginning of an id.
Rule 3: what all of them share says nothing, so at most half of the rest may differ, or one letter.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

MOST: Final = 2
ALIKE: Final = 0.6
"""How much of two names must be the same before a slip is thought of at all."""


def nearest(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """At most two of the names: those that begin so, or else those most like it."""
    known, asked = list(names), name.upper()
    if not asked:
        return ()
    begun = [other for other in known if other.upper().startswith(asked)]
    if begun:
        return tuple(begun[:MOST])
    cut = {other: other.upper()[: len(asked) + 1] for other in known}
    shared = _shared(asked, cut.values())
    scored = [(_likeness(asked, other, shared), given) for given, other in cut.items()]
    best = sorted((one for one in scored if one[0]), key=lambda one: -one[0])
    return tuple(given for _, given in best[:MOST])


def _shared(name: str, others: Iterable[str]) -> int:
    """How many letters at the beginning are the same in all of them."""
    at = len(name)
    for other in others:
        while not other.startswith(name[:at]):
            at -= 1
    return at


def _likeness(name: str, other: str, shared: int) -> float:
    """How alike two names are behind what everybody shares; 0 where they are not."""
    one, two = name[shared:], other[shared : len(name)]
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    longer = max(len(one), len(two))
    close = longer - same <= max(1, longer // 2)
    whole = (shared + same) / max(len(name), 1)
    return (same + 1) / (longer + 1) if close and whole >= ALIKE else 0.0
