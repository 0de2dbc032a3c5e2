"""The names most like one that leads nowhere.

Rule 1: a name that begins another one means that one.
Rule 2: else names are compared as far as the given one goes: it may be the beginning of an id.
Rule 3: what all of them share says nothing, so at most half of the rest may differ, or one letter.
Rule 4: models are called by a part of their names, so any stretch of one may be what was meant.
"""

from __future__ import annotations

import re
from collections import Counter
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
    longer = max(len(one), len(two))
    fits = (Counter(one) & Counter(two)).total()  # no more letters can be the same
    if longer - fits > max(1, longer // 2):
        return 0.0
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    close = longer - same <= max(1, longer // 2)
    whole = (shared + same) / max(len(name), 1)
    return (same + 1) / (longer + 1) if close and whole >= ALIKE else 0.0


_DATE: Final = re.compile(r"-20\d\d-?\d\d-?\d\d.*")
_VERSION: Final = re.compile(r"(?<!\d)\d{1,2}(?![\dbk])")
"""The numbers of a name that tell which is newer; no dates, no sizes such as 20b."""

MODELS: Final = 3
SLIP: Final = 0.7
"""How alike what was typed and a stretch of a model's name must be."""


def nearest_models(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """At most three models that may be meant: any stretch of a name may stand for it.

    Of those that are as near, the one that is named whole comes first, then the newest.
    """
    asked = _plain(name)
    scored = [(_slip(asked, other), other) for other in names] if asked else []
    near = [(score, other) for score, other in scored if score[0] >= SLIP]
    best = max((score[0] for score, _ in near), default=0.0)
    fitting = [one for one in near if one[0][0] > best - 0.1]
    return tuple(other for _, other in sorted(fitting, reverse=True)[:MODELS])


def newest_first(names: Iterable[str]) -> list[str]:
    """Models by their versions, as far as names tell; those of the same in their order."""
    return sorted(names, key=_version, reverse=True)


def _version(name: str) -> tuple[int, ...]:
    return tuple(map(int, _VERSION.findall(_DATE.sub("", name))))


def _slip(asked: str, other: str) -> tuple[float, bool, tuple[int, ...]]:
    """How near a name is: its stretch most like what was asked, whether it is all, its version."""
    words = re.findall(r"[a-z]+|[0-9.]+", other.lower())
    ends = range(1, len(words) + 1)
    likeness = {
        (start, end): _alike(asked, "".join(words[start:end]))
        for end in ends
        for start in range(end)
    }
    best = max(likeness.values(), default=0.0)
    whole = bool(words) and likeness[0, len(words)] == best
    return best, whole, _version(other)


def _alike(one: str, two: str) -> float:
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= SLIP else 0.0


def _plain(name: str) -> str:
    """A name without its maker and without what only separates its words."""
    return "".join(re.findall(r"[a-z]+|[0-9.]+", name.rpartition("/")[2].lower()))
