"""Time as a label, and names that sort in the order they were made."""

from __future__ import annotations

import threading
import time
from functools import lru_cache
from secrets import randbits

from holdfast.ports import Clock

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [a + b for a in _LETTERS for b in _LETTERS]
_COUNTED = (1 << 80) - 1


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


class Ulids:
    """ULIDs, each greater than the one before it, whatever the clock does.

    Where counting starts is random, of 79 bits, so that no two writers meet and it never ends.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._time = 0
        self._count = randbits(79)

    def new(self) -> str:
        with self._lock:
            now = self._clock.now()
            self._time = now if now > self._time else self._time  # a clock may be set back
            self._count += 1
            return _spelt(self._time, self._count)


def written(number: int) -> str:
    """A 128-bit number as 26 letters that sort as the number does."""
    return _spelt(number >> 80, number & _COUNTED)


def _spelt(time: int, count: int) -> str:
    """48 bits and 80: of two that follow one another only the last letters of each differ."""
    pairs = _PAIRS
    return (
        f"{_era(time >> 20)}{pairs[time >> 10 & 1023]}{pairs[time & 1023]}"
        f"{_place(count >> 10)}{pairs[count & 1023]}"
    )


@lru_cache(maxsize=1)
def _era(time: int) -> str:
    pairs = _PAIRS
    return f"{pairs[time >> 20]}{pairs[time >> 10 & 1023]}{pairs[time & 1023]}"


@lru_cache(maxsize=1)
def _place(count: int) -> str:
    pairs = _PAIRS
    return "".join([pairs[count >> shift & 1023] for shift in range(60, -1, -10)])
