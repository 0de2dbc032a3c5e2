"""Periods that calls are summed by: days, weeks, months, and blocks of five hours.

Times come as quarters of an hour. Days begin at midnight where this program runs, weeks on Monday,
months on the first. A block is the five hours that subscriptions of some agents allow an amount in:
it begins with the first call after the block before has ended, at the full hour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Literal

Period = Literal["minute", "hour", "day", "week", "month", "block"]

HOUR = 3_600_000
BLOCK = 5 * HOUR
"""How long a block lasts, in ms."""

LATEST = 253_402_128_000_000
"""Two days before the last that a date can tell: no zone makes it later than that."""


def day_of(time: int) -> str:
    """The calendar day of a time in ms, where this program runs."""
    return _local(time).strftime("%Y-%m-%d")


def named(by: Period, times: Iterable[int]) -> dict[int, str]:
    """The period that each of these times is in, by name: the day, the Monday of the week, the
    month, or the day and hour at which the block began."""
    if by == "block":
        return {time: block_name(begun) for time, begun in blocks(times).items()}
    return {time: _NAMES[by](_local(time)) for time in times}


def blocks(times: Iterable[int]) -> dict[int, int]:
    """When the block began that each of these times is in."""
    found: dict[int, int] = {}
    begun = -BLOCK
    for time in sorted(set(times)):
        if time >= begun + BLOCK:
            begun = time - time % HOUR
        found[time] = begun
    return found


def block_name(begun: int) -> str:
    """A block by when it began, where this program runs."""
    return _local(begun).strftime("%Y-%m-%d %H:%M")


def _local(time: int) -> datetime:
    return datetime.fromtimestamp(min(time, LATEST) / 1_000, UTC).astimezone()


def _monday(day: datetime) -> str:
    return (day - timedelta(days=day.weekday())).strftime("%Y-%m-%d")


_NAMES: dict[str, Callable[[datetime], str]] = {
    "minute": lambda time: time.strftime("%Y-%m-%d %H:%M"),
    "hour": lambda time: time.strftime("%Y-%m-%d %H:00"),
    "day": lambda day: day.strftime("%Y-%m-%d"),
    "week": _monday,
    "month": lambda day: day.strftime("%Y-%m"),
}
