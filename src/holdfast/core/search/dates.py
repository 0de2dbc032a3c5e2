"""When something was said, by a question's words for time: "yesterday", "in March", "2026-03-04".

Rule 1: what was said lies behind: a weekday or a month alone is the last there was, and what lies
        ahead of now names nothing. Who says "since" asks for all from then on; what was before
        or until a day is no stretch of time.
Rule 2: a stretch of time is a preference and never a filter (`preferred` in ranking.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from holdfast.core.knowledge.dates import (
    MONTHS,
    PLAIN,
    RECURS,
    RELATIVE,
    count,
    moved,
    weekday,
)

BEGINNING: Final = 2_000
"""Characters of a question that are looked through for days."""

MOST: Final = 4
"""Stretches of time that a question names; further ones count for nothing."""

FAR: Final = 2**43
"""Behind every time, in ms, that anything is said to have happened at."""

_MONTH: Final = "|".join(MONTHS)
_DATED: Final = re.compile(
    rf"""\b(?:
      (?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?
    | (?P<name>{_MONTH})\ (?P<nth>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\ (?P<of>(?:19|20)\d\d))?
    | (?P<nth2>\d{{1,2}})(?:st|nd|rd|th)?\ (?:of\ )?(?P<name2>{_MONTH})
        (?:,?\ (?P<of2>(?:19|20)\d\d))?
    | (?P<name3>{_MONTH})\ (?:of\ )?(?P<of3>(?:19|20)\d\d)
    | (?:in|during|since|last|before|after|until)\ (?:
          (?P<name4>{_MONTH})(?!,?\ (?:of\ )?\d)|(?P<year>(?:19|20)\d\d))
    )\b(?![-\w])""",
    re.IGNORECASE | re.VERBOSE,
)
_BEFORE: Final = re.compile(r"\b(since|after|before|until|till|by)(?: the)? ?\Z", re.IGNORECASE)
"""What stands before words for time, and says on which side of them."""
_FROM: Final = ("since", "after")
_UNTIL: Final = ("before", "until", "till", "by")
Days = tuple[date, date]
"""The first day of a stretch, and the one behind its last."""


def asked_times(
    question: str, now: Callable[[], int], zone: tzinfo | None = None
) -> tuple[tuple[int, int], ...]:
    """The stretches of time that a question names: the first ms, and the one behind the last.

    Days begin at midnight in the zone; without one, where this program runs. The clock is read
    only where there are words for time.
    """
    text = question[:BEGINNING]
    if not (RELATIVE.search(text) or _DATED.search(text)):
        return ()
    today = datetime.fromtimestamp(min(max(now(), 0), FAR) / 1000, zone or UTC)
    today = (today if zone else today.astimezone()).date()
    found: list[tuple[int, int]] = []
    for at, (first, behind) in _named(text, today):
        word = _BEFORE.search(text[:at]) or _BEFORE.match(text[at:].split(" ")[0])
        how = word[1].lower() if word else ""
        if first > today or how in _UNTIL:
            continue
        behind = today + timedelta(1) if how in _FROM else behind
        found.append((_ms(first, zone), _ms(behind, zone)))
    return tuple(dict.fromkeys(found))[:MOST]


def _ms(day: date, zone: tzinfo | None) -> int:
    """When a day begins; without a zone it has the offset from UTC that holds here on that day."""
    begins = datetime.combine(day, time(), zone)
    return max(int((begins if zone else begins.astimezone()).timestamp() * 1000), 0)


def _named(text: str, today: date) -> Iterator[tuple[int, Days]]:
    """Where each word for time stands, and the days that it names."""
    recurs = bool(RECURS.search(text))
    for found in RELATIVE.finditer(text):
        if not (recurs and found["bare"]):
            yield from _kept(found, _relative, today)
    for found in _DATED.finditer(text):
        yield from _kept(found, _dated, today)


def _kept(
    found: re.Match[str], read: Callable[[dict[str, str], date], Days], today: date
) -> Iterator[tuple[int, Days]]:
    """What is read from one place; nothing where there is no such day (30 February)."""
    group = {name: value.lower() for name, value in found.groupdict().items() if value}
    try:
        yield found.start(), read(group, today)
    except (ValueError, OverflowError):
        return


def _relative(group: dict[str, str], today: date) -> Days:
    if plain := group.get("plain"):
        return _from(today + timedelta(PLAIN.get(plain, 0)))
    if name := group.get("day") or group.get("bare"):
        return _from(weekday(today, name, group.get("which", "last")))
    if "turn" in group:
        many, unit = _STEPS[group["unit"]]
        back = {"this": 0, "next": 1, "last": -1}[group["turn"]]
        return _from(moved(today, back * many, unit), group["unit"])
    if "ago" in group:
        return _from(moved(today, -count(group["ago"]), group["gunit"]), group["gunit"])
    raise ValueError("what lies ahead")


_STEPS: Final = {
    "week": (1, "week"), "month": (1, "month"), "quarter": (3, "month"), "year": (12, "month"),
}  # fmt: skip
"""How far away the next such stretch is."""


def _dated(group: dict[str, str], today: date) -> Days:
    """What is written as a date; without its year the last such day or month that there was."""
    if year := group.get("year"):
        return _from(date(int(year), 1, 1), "year")
    if "y" in group:
        day = int(group.get("d", 1))
        return _from(
            date(int(group["y"]), int(group["m"]), day), "day" if "d" in group else "month"
        )
    name = next(group[key] for key in ("name", "name2", "name3", "name4") if key in group)
    month, nth = MONTHS.index(name) + 1, group.get("nth") or group.get("nth2")
    year = group.get("of") or group.get("of2") or group.get("of3")
    named = date(int(year) if year else today.year, month, int(nth or 1))
    if not year and named > today:
        named = named.replace(year=today.year - 1)
    return _from(named, "day" if nth else "month")


def _from(day: date, unit: str = "day") -> Days:
    """The day, or the whole week, month, quarter or year that it is in."""
    if unit == "day":
        return day, day + timedelta(1)
    if unit == "week":
        monday = day - timedelta(day.weekday())
        return monday, monday + timedelta(7)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    first = date(day.year, (day.month - 1) // months * months + 1, 1)
    return first, moved(first, months, "month")
