"""Measuring side by side: every round asks each contender once, in an order shuffled anew.

Rule 1: what is compared is measured in the same minutes, so other work on the machine hits all.
Rule 2: medians, with the tenth and ninetieth percentile; what is told is the ratio of two medians.
Rule 3: a sample is a few repetitions in a row, of which each counts alike; fewer for who is slow.
Rule 4: who has used up its time in all leaves the rounds; who exceeds it in one go is cut off.
Rule 5: the garbage collector waits while the clock runs, and what is on its way to the disk is let
        arrive after a slow contender, so that nobody pays for another.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import msgspec

SLOW = 0.25
"""Whoever takes this many seconds leaves the disk busy behind it."""

WARM_UP = 2
"""Rounds that do not count."""


class CutOff(Exception):
    """It took longer than it may."""


class Series(msgspec.Struct):
    """What one contender took for one repetition, in seconds, round by round."""

    seconds: list[float] = []
    cut_off: float = 0.0
    """How long it was waited for when it was cut off; 0 when it was not."""
    done: int = 0
    """How many repetitions there were, warming up included."""
    spent: float = 0.0

    @property
    def median(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None

    @property
    def spread(self) -> tuple[float, float]:
        """The tenth and the ninetieth percentile."""
        if len(self.seconds) < 2:
            return (self.seconds[0], self.seconds[0]) if self.seconds else (0.0, 0.0)
        tenths = statistics.quantiles(self.seconds, n=10, method="inclusive")
        return tenths[0], tenths[-1]


def ratio(one: Series | None, other: Series | None) -> float | None:
    """How many times the other's median the one's is; None where either is missing."""
    if one is None or other is None or one.median is None or not other.median:
        return None
    return one.median / other.median


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise CutOff here when this takes longer; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise CutOff

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def interleave(
    contenders: Mapping[str, Callable[[int], object]],
    *,
    rounds: int,
    budget: float,
    in_a_row: int = 1,
    seed: int = 0,
    tick: Callable[[], object] = lambda: None,
) -> dict[str, Series]:
    """Ask each contender `in_a_row` times per round, for so many rounds or until its time is up.

    It is called with the number of the repetition, counted from 0 for each contender.
    """
    source = random.Random(seed)
    taken = {name: Series() for name in contenders}
    with _still_heap():
        for number in range(rounds + WARM_UP):
            order = [name for name, series in taken.items() if series.spent < budget]
            source.shuffle(order)
            for name in order:
                warm = number >= WARM_UP
                _sample(contenders[name], taken[name], in_a_row, budget, warm=warm)
            tick()
    return taken


def _sample(
    call: Callable[[int], object], series: Series, in_a_row: int, budget: float, *, warm: bool
) -> None:
    """One sample: the mean of a few calls. The first ones of a slow contender count too."""
    gc.collect()
    gc.disable()
    begun, start = series.done, time.perf_counter()
    seconds = 0.0
    try:
        with within(budget):
            while series.done < begun + in_a_row and seconds < SLOW:
                call(series.done)
                seconds = time.perf_counter() - start
                series.done += 1
    except CutOff:
        series.cut_off, seconds = budget, budget
    finally:
        gc.enable()
    series.spent += seconds
    if series.done > begun and (warm or seconds > SLOW):
        series.seconds.append(seconds / (series.done - begun))
    if seconds > SLOW:
        os.sync()


@contextmanager
def _still_heap() -> Iterator[None]:
    """What exists already is not looked through again at every collection."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
