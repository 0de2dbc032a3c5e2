"""What a damaged JSON document still holds, found by its brackets.

Rule 1: an item begins where its pattern matches, whatever stands before: inside a text every quote
        is escaped, so that no text can look like it.
Rule 2: an item ends with the bracket that belongs to its first; it is whole if it is JSON then, and
        holds no other item: one whose end is gone may seem to hold all that come behind it.
Rule 3: time and memory are bounded, whatever the document holds.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import chain, islice, pairwise

import msgspec

from holdfast.importers.jsonl import UNREADABLE, decoded

TRIED = 4
"""So many times its own size is decoded of a document, to know which of its items are whole."""

MOST_ITEMS = 200_000
"""How many items are looked for in a document that is damaged."""

MOST_TOKENS = 20_000_000
"""How many brackets and texts of one are looked at."""

DEEPEST = 10_000
"""How many brackets are open at once; nothing that is deeper is JSON to anybody."""

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\]:,]', re.DOTALL)
_BRACKET = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\]]', re.DOTALL)
_OBJECT = re.compile(rb"\s*\{")
_any = msgspec.json.Decoder(msgspec.Raw)


def whole_items(data: bytes, begins: re.Pattern[bytes]) -> list[tuple[int, int]]:
    """Where the items are that are whole, in their order; none of them is within another."""
    found: list[tuple[int, int]] = []
    begun = _OBJECT.match(data)
    everything = (begun.end() - 1 if begun else 0, len(data.rstrip()))
    left = TRIED * len(data)
    for start, end in _closed(data, begins):
        if (start, end) == everything or (found and found[-1][0] > start):
            continue
        left -= end - start
        if left < 0:
            break
        if _is_whole(data[start:end]):
            found.append((start, end))
    return found


def _closed(data: bytes, begins: re.Pattern[bytes]) -> list[tuple[int, int]]:
    """Where something begins like an item, and the bracket is that belongs to it; inner first."""
    starts = [match.start() for match in islice(begins.finditer(data), MOST_ITEMS)]
    known, opened = {*starts}, deque[int](maxlen=DEEPEST)
    found: list[tuple[int, int]] = []
    pieces = (_BRACKET.finditer(data, *ends) for ends in pairwise([*starts, len(data)]))
    for token in islice(chain.from_iterable(pieces), MOST_TOKENS):
        sign = data[token.start()]
        if sign in b"{[":
            opened.append(token.start())
        elif sign in b"}]" and opened and (start := opened.pop()) in known:
            found.append((start, token.end()))
    return found


def _is_whole(data: bytes) -> bool:
    try:
        _any.decode(data)
    except UNREADABLE:
        return decoded(data) is not None
    return True


def is_object(data: bytes) -> bool:
    """Whether it begins as an object does."""
    return _OBJECT.match(data) is not None


def members(data: bytes) -> dict[str, bytes]:
    """The outermost members of the beginning of an object; none where it is no such thing."""
    if not is_object(data):
        return {}
    scan = _Scan(data)
    scan.run()
    return scan.found


class _Scan:
    """A walk through a damaged object by its brackets alone."""

    def __init__(self, data: bytes) -> None:
        self._data, self._depth = data, 0
        self.found: dict[str, bytes] = {}
        self._key, self._valued = b"", False
        self._start = 0

    def run(self) -> None:
        """Walk to the end."""
        for token in islice(_TOKEN.finditer(self._data), MOST_TOKENS):
            sign = self._data[token.start()]
            if sign in b"{[":
                self._start = token.start() if self._depth == 1 else self._start
                self._depth += 1
            elif sign in b"}]":
                self._close(token.end())
            elif self._depth == 1:
                self._member(sign, token.group())

    def _close(self, end: int) -> None:
        self._depth = max(self._depth - 1, 0)
        if self._depth == 1 and self._key:
            self._keep(self._data[self._start : end])
            self._valued = False

    def _member(self, sign: int, token: bytes) -> None:
        if sign == 0x3A:
            self._valued = True
        elif sign == 0x2C:
            self._valued = False
        elif self._valued:
            self._keep(token)
        else:
            self._key = token

    def _keep(self, value: bytes) -> None:
        self.found[self._key[1:-1].decode("utf-8", "replace")] = value
