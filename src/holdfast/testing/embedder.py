"""An embedder that needs nothing: it knows a few words that mean the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

THINGS = (
    frozenset(("walrus", "seal", "animal")),
    frozenset(("carpenter", "joiner", "craftsman")),
    frozenset(("oyster", "shell", "pearl")),
)
"""Each a number of the vector: how many of its words a text holds."""


class Synonyms:
    """A vector is how often each of a few things is named, by whatever word."""

    name = "synonyms"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [
            bytes(min(sum(w in thing for w in re.findall(r"\w+", text.lower())), 255)
                  for thing in THINGS)
            for text in texts
        ]  # fmt: skip

    def alike(self, one: bytes, many: Sequence[bytes]) -> list[float]:
        return [_cosine(one, each) for each in many]


def _cosine(one: bytes, other: bytes) -> float:
    size = sum(n * n for n in one) * sum(n * n for n in other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / size**0.5 if size else 0.0
