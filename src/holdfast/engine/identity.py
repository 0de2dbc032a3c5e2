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
            return written(self._time << 80 | self._count)


def written(number: int) -> str:
    """A 128-bit number as 26 letters that sort as the number does."""
    pairs, high = _PAIRS, number >> 80  # small numbers shift faster
    return (
        f"{pairs[high >> 40]}{pairs[high >> 30 & 1023]}{pairs[high >> 20 & 1023]}"
        f"{pairs[high >> 10 & 1023]}{pairs[high & 1023]}"
        f"{_counted(number >> 10 & _COUNTED >> 10)}{pairs[number & 1023]}"
    )


@lru_cache(maxsize=1)  # what is counted differs in its last letters
def _counted(number: int) -> str:
    pairs, high, low = _PAIRS, number >> 40, number
    return (
        f"{pairs[high >> 20 & 1023]}{pairs[high >> 10 & 1023]}{pairs[high & 1023]}"
        f"{pairs[low >> 30 & 1023]}{pairs[low >> 20 & 1023]}{pairs[low >> 10 & 1023]}"
        f"{pairs[low & 1023]}"
    )
