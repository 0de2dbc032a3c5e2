"""What stands beside a hit counts too: an answer seldom repeats the words of its question.

Rule 1: four entries on either side get a share of what an entry scores, the nearer the more, and
        the more the shorter texts are: a long one has its answer in itself.
Rule 2: what has none of the words itself is found so only for a question, not for names.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nlargest
from typing import Final

SHARES: Final = (0.5, 0.4, 0.3, 0.2)
"""Of the score of an entry, for those beside it. Chosen on one half of the questions (0021)."""

SHORT: Final = 60
"""Words of a text: where they have so many on average, a neighbour's share is half as large."""

GIVING: Final = 500
"""So many entries, the best, give something to those beside them."""


def spread(own: Mapping[int, float], words: float, *, also: bool) -> dict[int, float]:
    """Scores by entry, with what its neighbours give; numbers that follow one another are
    neighbours, and texts have so many words on average. `also`: entries without a score of their
    own, too."""
    scores = dict(own)
    shares = [share * SHORT / (SHORT + words) for share in SHARES]
    for at, score in nlargest(GIVING, own.items(), key=lambda one: (one[1], one[0])):
        for distance, share in enumerate(shares, 1):
            for other in (at - distance, at + distance):
                if also or other in own:
                    scores[other] = scores.get(other, 0.0) + share * score
    return scores
