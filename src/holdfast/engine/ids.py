"""Time as a label, and names that sort in the order they were made."""

from __future__ import annotations

import threading
import time
from hashlib import blake2b
from secrets import randbits

from holdfast.ports import Clock

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [a + b for a in _LETTERS for b in _LETTERS]
_LOW = (1 << 20) - 1


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


class Ulids:
    """ULIDs, each greater than the one before it, whatever the clock does.

    Where counting starts is random, of 79 bits, so that no two writers meet and it never ends. Of
    two that follow one another only a few letters differ, and only these are spelt anew.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._time = self._era = 0
        self._front = "0" * 6
        count = randbits(79)
        self._high, self._low = count >> 20, count & _LOW
        self._middle = _spelt(self._high, 12)

    def new(self, at: int | None = None) -> str:
        with self._lock:
            now = self._clock.now() if at is None else at
            if now > self._time:  # a clock may be set back
                self._time = now
                if now >> 20 != self._era:
                    self._era = now >> 20
                    self._front = _spelt(self._era, 6)
            time, low = self._time, self._low + 1
            if low > _LOW:
                self._high, low = self._high + 1, 0
                self._middle = _spelt(self._high, 12)
            self._low = low
            return (
                f"{self._front}{_PAIRS[time >> 10 & 1023]}{_PAIRS[time & 1023]}"
                f"{self._middle}{_PAIRS[low >> 10]}{_PAIRS[low & 1023]}"
            )


def written(number: int) -> str:
    """A 128-bit number as 26 letters that sort as the number does."""
    return _spelt(number, 26)


def _spelt(number: int, letters: int) -> str:
    shifts = range(5 * letters - 10, -1, -10)
    return "".join([_PAIRS[number >> shift & 1023] for shift in shifts])


def session_id(agent: str, native: str, *more: str) -> str:
    """The id that a session of some program always has here."""
    told = "\0".join((agent, native, *more)).encode("utf-8", "surrogatepass")
    return written(int.from_bytes(blake2b(told, digest_size=16).digest()))
