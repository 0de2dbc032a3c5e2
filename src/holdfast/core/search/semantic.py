"""What of a part is compared by meaning, and how that is weighed against its words.

Rule 1: what people and models said is compared, by its beginning; what tools were called with and
        what they answered is found by its words.
Rule 2: how near the meaning is and what the words score are added up, each as a share of the best
        there is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from holdfast.core.search.searchable_text import searchable
from holdfast.core.secrets import mask
from holdfast.model.message import Part

KINDS = ("text", "reasoning", "summary", "subtask")
"""Kinds of parts that have a vector."""

BEGINNING = 1_500
"""Characters of a text that are compared."""


MEANING = 0.25
"""What the meaning counts, of 1; the words count the rest. Chosen on one half of the questions
(decision 0021)."""

LEAST = 0.1
"""Whatever scores less has nothing to do with what is looked for."""


def excerpt(part: Part) -> str:
    """What of a part is compared, without secrets."""
    return mask(searchable(part)[:BEGINNING])


def blended(
    first: Collection[int], words: Mapping[int, float], meanings: Mapping[int, float]
) -> list[tuple[int, float]]:
    """Places by both, the best first, `first` before all; the newest first among equals."""
    best, nearest = max(words.values(), default=0.0) or 1.0, max(meanings.values(), default=0.0)
    scores = {
        at: (1 - MEANING) * words.get(at, 0.0) / best
        + MEANING * meanings.get(at, 0.0) / (nearest or 1.0)
        for at in words.keys() | meanings.keys()
    }
    kept = [one for one in scores.items() if one[0] in words or meanings.get(one[0], 0.0) >= LEAST]
    return sorted(kept, key=lambda one: (one[0] not in first, -one[1], -one[0]))
