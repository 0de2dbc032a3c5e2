"""Stretches of a log by `seq`, and the little algebra that folding needs."""

from __future__ import annotations

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
    left = list(spans)
    for hole in gone:
        left = [piece for span in left for piece in _pieces(span, hole)]
    return normal(left)


def _pieces(span: Span, hole: Span) -> tuple[Span, Span]:
    return (
        Span(span.first, min(span.last, hole.first - 1)),
        Span(max(span.first, hole.last + 1), span.last),
    )


def clip(spans: Spans, first: int, last: int = OPEN) -> Spans:
    """Only what lies between `first` and `last`."""
    return normal(Span(max(s.first, first), min(s.last, last)) for s in spans)


def within(seq: int, spans: Spans) -> bool:
    """Whether `seq` is in one of them."""
    return any(seq in span for span in spans)
