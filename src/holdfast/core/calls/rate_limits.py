"""Reads what is left of an account's limits out of the headers of an answer.

Rule 1: Anthropic says when a limit resets as a date, OpenAI and those like it as a duration such as
        `6m0s`; plain numbers are seconds, or a moment where they are large enough to be one.
Rule 2: what makes no sense (`-1`, words, more left than there is) is left out, never guessed.
Rule 3: tokens of the last minute are counted as the provider counts them: Anthropic's limits leave
        out what was read from the cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from holdfast.model.rate_limits import LOW, Limit, Limits
from holdfast.model.reply import Usage

MINUTE: Final = 60_000

_ANTHROPIC: Final = re.compile(r"anthropic-(?:ratelimit|(priority))-(.+)-(limit|remaining|reset)")
_OTHERS: Final = re.compile(r"x-ratelimit-(limit|remaining|reset)(?:-(.+))?")
_NUMBER: Final = re.compile(r"\d{1,15}")
_DURATION: Final = re.compile(
    r"(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:([\d.]{1,12})s)?(?:([\d.]{1,12})ms)?"
)
_UNITS: Final = (86_400_000, 3_600_000, 60_000, 1_000, 1)
_MOMENT: Final = 1_000_000_000
"""A number of seconds as large as this is a moment, not a duration."""


def limits_in(headers: Mapping[str, str], provider: str, now: int) -> Limits | None:
    """The limits that an answer tells of, as of now; None where it tells of none."""
    told: dict[str, dict[str, str]] = {}
    for name, value in headers.items():
        if named := _named(name.lower()):
            told.setdefault(named[0], {})[named[1]] = value.strip()[:64]
    read = (_limit(kind, fields, now) for kind, fields in sorted(told.items()))
    found = tuple(one for one in read if one)
    return Limits(provider=provider, at=now, limits=found) if found else None


def counted(usage: Usage, provider: str) -> int:
    """The tokens of a call as its provider's limits count them."""
    return usage.total - usage.cache_read if provider == "anthropic" else usage.total


def per_minute(calls: Iterable[tuple[int, int]], now: int) -> int:
    """The tokens of the last minute, of calls given as when they ended and what they took."""
    return sum(tokens for ended, tokens in calls if now - MINUTE < ended <= now)


def _named(header: str) -> tuple[str, str] | None:
    """Which limit a header speaks of, and what it says of it."""
    if found := _ANTHROPIC.fullmatch(header):
        first = "priority_" if found[1] else ""
        return first + found[2].replace("-", "_"), found[3]
    if found := _OTHERS.fullmatch(header):
        return (found[2] or "requests").replace("-", "_"), found[1]
    return None


def _limit(kind: str, told: dict[str, str], now: int) -> Limit | None:
    limit, remaining = _whole(told.get("limit", "")), _whole(told.get("remaining", ""))
    if not limit or remaining is None or remaining > limit:
        return None
    reset = _moment(told.get("reset", ""), now)
    return Limit(kind=kind, limit=limit, remaining=remaining, reset=reset)


def _whole(value: str) -> int | None:
    return int(value) if _NUMBER.fullmatch(value) else None


def _moment(value: str, now: int) -> int | None:
    """When a limit resets, in milliseconds since 1970."""
    number = _whole(value)
    if number is not None:
        return _of_number(number, now)
    if value and (found := _DURATION.fullmatch(value)):
        try:
            return now + round(
                sum(float(n or 0) * u for n, u in zip(found.groups(), _UNITS, strict=True))
            )
        except ValueError:
            return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def _of_number(number: int, now: int) -> int:
    if number >= _MOMENT * 1000:
        return number
    return number * 1000 if number >= _MOMENT else now + number * 1000


def warning(limits: Limits | None, now: int) -> str:
    """A few words where little is left of a limit; empty where there is no need for any."""
    left = limits.headroom(now) if limits else None
    if left is None or left.share >= LOW:
        return ""
    until = f", {_seconds(left.reset, now):,} s" if left.reset is not None else ""
    return f"{left.kind.replace('_', ' ')} {left.share:.0%} left{until}"


def told(limits: Limits | None, rate: int, now: int) -> str:
    """The pace, and what is left of each limit."""
    pace = f"{rate:,} tokens in the last minute"
    if limits is None:
        return f"{pace}; the provider says nothing of limits"
    return " · ".join([pace, *(_words(one, now) for one in limits.limits)])


def _words(left: Limit, now: int) -> str:
    if left.reset is not None and left.reset <= now:
        return f"{left.kind.replace('_', ' ')}: all of {left.limit:,} again"
    until = f", whole in {_seconds(left.reset, now):,} s" if left.reset is not None else ""
    return f"{left.kind.replace('_', ' ')}: {left.share:.0%} of {left.limit:,} left{until}"


def _seconds(reset: int, now: int) -> int:
    return -(-(reset - now) // 1000)
