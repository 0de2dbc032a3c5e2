"""BM25 over texts that are at hand: notes, summaries, titles. No store, no files, no clock.

found = Ranking({"a": "deploys run on Fridays", "b": "tests"}).best("when do we deploy?")
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from heapq import nlargest
from math import log
from typing import Final, NamedTuple

from holdfast.core.search.terms import question_terms, terms

K1: Final = 0.9
B: Final = 0.4
"""BM25's own numbers: how soon repeating a word counts no more, and how much length does. Chosen on
one half of the questions (decision 0021)."""


class Ranked(NamedTuple):
    """A text that has something to do with a question."""

    key: str
    score: float
    """Comparable within one answer only."""
    share: float
    """How much of the question it holds, rare words counting more: 1 for every term of it."""


class Ranking:
    """Texts by key, ready to be asked; a text may be put in, replaced and dropped at any time.

    10,000 short notes are put in within a second and answer within a few milliseconds.
    """

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self._holders: dict[str, dict[str, int]] = {}
        self._held: dict[str, Counter[str]] = {}
        self._sizes: dict[str, int] = {}
        self._total = 0
        for key, text in (texts or {}).items():
            self.put(key, text)

    def put(self, key: str, text: str) -> None:
        """Take a text, in the place of the one that had its key."""
        self.drop(key)
        held = self._held[key] = Counter(terms(text))
        self._sizes[key] = held.total()
        self._total += held.total()
        for term, times in held.items():
            self._holders.setdefault(term, {})[key] = times

    def drop(self, key: str) -> None:
        """Forget a text; nothing happens where it is not there."""
        for term in self._held.pop(key, ()):
            holders = self._holders[term]
            del holders[key]
            if not holders:
                del self._holders[term]
        self._total -= self._sizes.pop(key, 0)

    @property
    def mean(self) -> float:
        """How many terms a text has on average."""
        return self._total / max(len(self._sizes), 1)

    def best(
        self, question: str, most: int = 10, *, among: Collection[str] | None = None
    ) -> list[Ranked]:
        """Those that hold any of a question's terms, the best first; `among` names all that may."""
        asked = question_terms(question)
        scores: dict[str, float] = {}
        shares: dict[str, float] = {}
        whole = 0.0
        for term in asked:
            holders = self._holders.get(term, {})
            weight = rarity(len(self._sizes), len(holders))
            whole += weight
            for key, score in self._scored(holders, weight):
                if among is None or key in among:
                    scores[key] = scores.get(key, 0.0) + score
                    shares[key] = shares.get(key, 0.0) + weight
        found = nlargest(most, scores.items(), key=lambda one: one[1])
        return [Ranked(key, score, shares[key] / whole) for key, score in found]

    def _scored(self, holders: dict[str, int], weight: float) -> Iterator[tuple[str, float]]:
        word = per_word(self.mean)
        for key, times in holders.items():
            yield key, weight * saturated(times, SHORTEST + word * self._sizes[key])


def rarity(texts: int, holding: int) -> float:
    """What a term counts that so many of all texts hold."""
    return log(1 + (max(texts - holding, 0) + 0.5) / (holding + 0.5))


def saturated(times: float, room: float) -> float:
    """What it counts how often a term is in a text, 1 at most."""
    return times / (times + room)


SHORTEST: Final = K1 * (1 - B)
"""The room of an empty text; each word adds to it, so that a long one counts less."""


def per_word(mean: float) -> float:
    """What each word of a text adds to its room, where texts have so many words."""
    return K1 * B / (mean or 1.0)


PREFERRED: Final = 1.5
"""How often its score counts what was said at a time that is preferred: the better
match from another time still comes first."""


def preferred(
    scores: Mapping[int, float], said: Mapping[int, int], times: tuple[tuple[int, int], ...]
) -> dict[int, float]:
    """Scores, where what was said at one of these times counts more; `said` is when each was."""
    return {
        at: score * PREFERRED if any(a <= said.get(at, -1) < b for a, b in times) else score
        for at, score in scores.items()
    }
