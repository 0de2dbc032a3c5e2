"""Stretches of a log by `seq`, and the little algebra that folding needs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from msgspec import Struct

OPEN = 2**63 - 1
"""The end of a span that takes in whatever is appended next."""


class Span(Struct, frozen=True, array_like=True, order=True):
    """From `first` to `last`, both included."""

    first: int
    last: int = OPEN

    def __contains__(self, seq: int) -> bool:
        return self.first <= seq <= self.last

    @property
    def empty(self) -> bool:
        """Whether nothing is in it."""
        return self.last < self.first


Spans = tuple[Span, ...]
"""Disjoint, in order, with no two that touch."""

EVERYTHING: Spans = (Span(1),)


def normal(spans: Iterable[Span]) -> Spans:
    """The same stretches, in order, with those that touch or overlap made one."""
    merged: list[Span] = []
    for span in sorted(span for span in spans if not span.empty):
        if merged and span.first <= merged[-1].last + 1:
            merged[-1] = Span(merged[-1].first, max(merged[-1].last, span.last))
        else:
            merged.append(span)
    return tuple(merged)


def union(some: Spans, others: Spans) -> Spans:
    """What is in either."""
    return normal((*some, *others))


def without(spans: Spans, gone: Spans) -> Spans:
    """What is left of `spans` once `gone` is taken out."""
    left: list[Span] = []
    holes = normal(gone)
    at = 0
    for span in normal(spans):
        first = span.first
        while at < len(holes) and holes[at].last < first:
            at += 1
        hole = at
        while hole < len(holes) and holes[hole].first <= span.last:
            if holes[hole].first > first:
                left.append(Span(first, holes[hole].first - 1))
            first = holes[hole].last + 1
            hole += 1
        if first <= span.last:
            left.append(Span(first, span.last))
    return tuple(left)


def remaining(spans: Spans, covered: Spans, kept: Iterable[int]) -> Spans:
    """What of `spans` is still to be seen once some are covered, but for single entries kept."""
    return union(without(spans, covered), tuple(Span(seq, seq) for seq in kept))


def clip(spans: Spans, first: int, last: int = OPEN) -> Spans:
    """Only what lies between `first` and `last`."""
    return normal(Span(max(s.first, first), min(s.last, last)) for s in spans)


def within(seq: int, spans: Spans) -> bool:
    """Whether `seq` is in one of them."""
    at = bisect_right(spans, seq, key=_first) - 1
    return at >= 0 and seq <= spans[at].last


def _first(span: Span) -> int:
    return span.first
