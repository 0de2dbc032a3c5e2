"""Facets as words of an index: filters are looked up as fast as what was said.

Rule 1: a tag is a letter for the filter and a hash of one piece of a name; it is never a word that
        anybody types, and looking for it is a run of tags.
Rule 2: a time has one tag for each span that holds it: of 4.7 hours, 3 days, 50 days and 2 years. A
        stretch of time is a few of these; what they hold beyond it is left out afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b

from msgspec.structs import replace

from holdfast.core.search.facets import NAMED, Facets, Run, asked, pieces
from holdfast.core.secrets import mask
from holdfast.model.search import Query

SHIFTS = (24, 28, 32, 36)
"""Spans of time, as bits of a time in ms; each holds sixteen of the one before."""

LATEST = 2**43
"""Times behind this are told apart no further."""

_LETTERS = dict(zip(NAMED, "pgrmtf", strict=True))
GAP = "z"
"""Stands between two names, so that no run goes over from one into the next."""


def tags(facets: Facets) -> str:
    """Everything a part can be told apart by, as words."""
    at = min(max(facets.created, 0), LATEST)
    return _names(replace(facets, created=0)) + _times(at >> SHIFTS[0])


@lru_cache(1024)  # a call, its result and what is said beside them differ in little
def _names(facets: Facets) -> str:
    names = [(name, value) for name in NAMED for value in facets.names(name) if value]
    runs = [run for name, value in names if (run := _named(name, value))]
    return "".join([f"{run} {GAP} " for run in runs])


@lru_cache(4096)  # one session names the same again and again
def _named(name: str, value: str) -> str:
    return _run(name, pieces(name, value))


@lru_cache(512)
def _times(at: int) -> str:
    """The tags of a time that is given in the shortest span."""
    return " ".join(_time(level, at >> shift - SHIFTS[0]) for level, shift in enumerate(SHIFTS))


def _run(name: str, run: Run) -> str:
    return " ".join(_LETTERS[name] + _hash(piece) for piece in run)


@lru_cache(8192)
def _hash(piece: str) -> str:
    said = mask(piece).encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=6).hexdigest()


def _time(level: int, number: int) -> str:
    return f"d{level}x{number:x}"


def filters(query: Query, latest: int) -> list[str]:
    """What must be among the tags, as expressions of the index; `latest` is the newest time."""
    wanted = [f'"{_run(name, run)}"' for name, run in asked(query).items()]
    if query.since > 0 or query.until <= latest:
        wanted.append(within(((query.since, query.until),), latest))
    return wanted


def within(times: tuple[tuple[int, int], ...], latest: int) -> str:
    """What is among the tags of what was said in any of these times, as an expression."""
    asked = [
        tag
        for first, behind in times
        for tag in _spans(min(max(first, 0), LATEST), min(behind - 1, latest, LATEST))
    ]
    return f"({' OR '.join(asked or ['none'])})"


def _spans(first: int, last: int) -> Iterator[str]:
    """The fewest spans that hold every time from `first` to `last`."""
    low, high = first >> SHIFTS[0], last >> SHIFTS[0]
    for level in range(len(SHIFTS)):
        top = level == len(SHIFTS) - 1
        while low <= high and (top or low & 15):
            yield _time(level, low)
            low += 1
        while low <= high and high & 15 != 15:
            yield _time(level, high)
            high -= 1
        if low > high:
            return
        low, high = low >> 4, high >> 4
