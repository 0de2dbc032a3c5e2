"""What of a part is compared by meaning, and how that is weighed against its words.

Rule 1: what people and models said is compared, by its beginning; what tools were called with and
        what they answered is found by its words.
Rule 2: how near the meaning is and the share of the words that are there, rare ones counting more,
        are added up: both are at most about 1.
"""

from __future__ import annotations

from holdfast.core.search.searchable_text import searchable
from holdfast.core.secrets import mask
from holdfast.model.message import Part

KINDS = ("text", "reasoning", "summary", "subtask")
"""Kinds of parts that have a vector."""

BEGINNING = 1_500
"""Characters of a text that are compared."""


LEAST = 0.1
"""Whatever scores less has nothing to do with what is looked for."""


def excerpt(part: Part) -> str:
    """What of a part is compared, without secrets."""
    return mask(searchable(part)[:BEGINNING])


def blended(words: dict[int, float], meanings: dict[int, float]) -> list[tuple[int, float]]:
    """Places by both, the best first; the newest first among equals."""
    scores = {at: meanings.get(at, 0.0) + words.get(at, 0.0) for at in words | meanings}
    kept = [one for one in scores.items() if one[0] in words or one[1] >= LEAST]
    return sorted(kept, key=lambda one: (-one[1], -one[0]))
