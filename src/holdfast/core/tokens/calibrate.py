"""From estimates to counts: corrected by what calls really took, and anchored on the last of them.

Rule 1: a model's ratio moves a fifth of the way to each report, never by much, never very far.
        A report that no tokenizer can explain is a provider's mistake and teaches nothing.
Rule 2: behind an anchor only the tail is an estimate, so only the tail can be wrong.
Rule 3: a window fits when it would fit at the worst, the safety margin being there for errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Final

from holdfast.core.tokens.estimate import BOUND
from holdfast.model.window import Budget, Count, Tier

WEIGHT: Final = 0.2
STEP: Final = 0.15
LEAST, MOST = 0.5, 2.0

SLACK: Final = 32
"""Tokens by which even a short text may be off: frames, a line put in by repair."""


FAR: Final = 4
"""An estimate is trusted where four times its error would do no harm: it may then be off by half.
One text in a hundred strays further than its error; tables and the like by up to a half."""


def plausible(estimated: int, reported: int) -> bool:
    """Whether a report can be true of what was estimated: no tokenizer strays further."""
    return estimated > 0 and LEAST * estimated <= reported <= MOST * estimated


def ratio(pairs: Iterable[tuple[int, int]], start: float = 1.0) -> float:
    """How many tokens a model reports for each one estimated, from (estimated, reported) pairs."""
    learned = start
    for estimated, reported in pairs:
        if plausible(estimated, reported):
            step = WEIGHT * (reported / estimated - learned)
            learned += min(max(step, -STEP), STEP)
            learned = min(max(learned, LEAST), MOST)
    return learned


def calibrated(estimated: int, by: float) -> Count:
    """An estimate corrected by a ratio, with how far it may be off."""
    tokens = round(estimated * by)
    return Count(tokens=tokens, error=error(tokens))


def anchored(known: int, tail: int, by: float) -> Count:
    """What a call really took, prompt and reply, and the estimate of what has come since."""
    since = round(tail * by)
    return Count(tokens=known + since, error=error(since))


def credible(reported: int, estimated: int) -> int:
    """What a reply is said to have taken, held to what its estimate allows."""
    return min(max(reported, int(LEAST * estimated)), ceil(MOST * estimated) + SLACK)


def error(tokens: int) -> int:
    """How far an estimate of so many tokens may be off."""
    return ceil(tokens * BOUND) + SLACK if tokens else 0


def counted(tokens: int, tier: Tier, unsure: int) -> Count:
    """A count of which some part (seals, pictures) is still an estimate."""
    return Count(tokens=tokens, tier=tier, error=ceil(unsure * BOUND))


def certain(count: Count, budget: Budget) -> bool:
    """Whether a prompt would fit even if its estimate is off by far more than estimates are."""
    return count.tokens + FAR * count.error <= budget.room


def excess(count: Count, budget: Budget) -> int:
    """By how many tokens a prompt is too large, at the worst; 0 when it fits."""
    return max(0, count.tokens - budget.room, count.most - budget.room - budget.margin)
