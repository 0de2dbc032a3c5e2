"""Time as a label, and names that sort in the order they were made."""

from __future__ import annotations

import threading
import time
from functools import lru_cache
from secrets import randbits

from holdfast.ports import Clock

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [a + b for a in _LETTERS for b in _LETTERS]


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


class Ulids:
    """ULIDs, each greater than the one before it, whatever the clock does."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0

    def new(self) -> str:
        with self._lock:
            now = self._clock.now()
            # Within one millisecond, or with the clock set back, count on from the last.
            self._last = now << 80 | randbits(80) if now > self._last >> 80 else self._last + 1
            return written(self._last)


def written(number: int) -> str:
    """A 128-bit number as 26 letters that sort as the number does."""
    return _leading(number >> 10) + _PAIRS[number & 1023]


@lru_cache(maxsize=1)  # what is named in one go differs in its last letters
def _leading(number: int) -> str:
    pairs, high, low = _PAIRS, number >> 60, number  # small numbers shift faster
    return (
        f"{pairs[high >> 50 & 1023]}{pairs[high >> 40 & 1023]}{pairs[high >> 30 & 1023]}"
        f"{pairs[high >> 20 & 1023]}{pairs[high >> 10 & 1023]}{pairs[high & 1023]}"
        f"{pairs[low >> 50 & 1023]}{pairs[low >> 40 & 1023]}{pairs[low >> 30 & 1023]}"
        f"{pairs[low >> 20 & 1023]}{pairs[low >> 10 & 1023]}{pairs[low & 1023]}"
    )
