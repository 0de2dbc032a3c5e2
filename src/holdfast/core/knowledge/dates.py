"""Dates in what is kept: "by Thursday" means nothing next week, `2026-03-05` does.

Rule 1: a day is reckoned from the day it was spoken of; what lies ahead is meant unless "last",
        "ago" or "yesterday" says otherwise.
Rule 2: only what names a day or a stretch of days is replaced; "soon" stays as it is.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_NUMBERS: Final = {
    word: n for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
} | {"a": 1, "an": 1, "a couple of": 2}  # fmt: skip
_DAY = "|".join(_DAYS)
_NUMBER = r"\d{1,3}|" + "|".join(map(re.escape, sorted(_NUMBERS, key=len, reverse=True)))

RELATIVE = re.compile(
    rf"""\b(?:
      (?P<plain>the\ day\ after\ tomorrow|the\ day\ before\ yesterday|today|tonight|tomorrow
        |yesterday|this\ (?:morning|afternoon|evening))
    | (?P<which>this|next|last|coming|the\ coming)\ (?P<day>{_DAY})
    | (?P<bare>{_DAY})(?!s)
    | (?P<turn>this|next|last)\ (?P<unit>week|month|quarter|year)
    | (?P<end>the\ )?end\ of\ (?P<of>(?:the|this|next)\ )?(?P<whole>week|month|year)
    | in\ (?P<ahead>{_NUMBER})\ (?P<aunit>day|week|month)s?(?:'\ time)?
    | (?P<ago>{_NUMBER})\ (?P<gunit>day|week|month)s?\ ago
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


def absolute(text: str, said: date) -> str:
    """A text with the days it speaks of as dates, for whoever reads it much later."""
    recurs = bool(RECURS.search(text))
    return RELATIVE.sub(
        lambda found: found[0] if recurs and found["bare"] else _date(found, said), text
    )


RECURS = re.compile(r"\b(?:always|never|every|each|any|usually|on an?)\b", re.IGNORECASE)
"""What speaks of every such day, so that a weekday alone is no date."""


def _date(found: re.Match[str], said: date) -> str:
    group = {name: value.lower() for name, value in found.groupdict().items() if value}
    if plain := group.get("plain"):
        return _iso(said + timedelta(PLAIN.get(plain, 0)))
    if "day" in group:
        return _iso(weekday(said, group["day"], group["which"]))
    if "bare" in group:
        return _iso(weekday(said, group["bare"], "coming"))
    if "turn" in group:
        return _stretch(said, group["turn"], group["unit"])
    if "whole" in group:
        return _iso(_end(said, group["whole"], (group.get("of") or "this").strip()))
    if "ahead" in group:
        return f"on {_iso(moved(said, count(group['ahead']), group['aunit']))}"
    return f"on {_iso(moved(said, -count(group['ago']), group['gunit']))}"


PLAIN: Final = {
    "tomorrow": 1, "yesterday": -1, "the day after tomorrow": 2, "the day before yesterday": -2,
}  # fmt: skip


def _iso(day: date) -> str:
    return day.isoformat()


def count(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word]


def weekday(said: date, name: str, which: str) -> date:
    ahead = (_DAYS.index(name) - said.weekday()) % 7
    if which == "last":
        return said - timedelta((said.weekday() - _DAYS.index(name)) % 7 or 7)
    if which == "next":  # of the week that follows this one
        return said + timedelta(7 - said.weekday() + _DAYS.index(name))
    return said + timedelta(ahead or 7 * (which == "coming"))


def _stretch(said: date, turn: str, unit: str) -> str:
    step = {"this": 0, "next": 1, "last": -1}[turn]
    if unit == "week":
        monday = said - timedelta(said.weekday()) + timedelta(7 * step)
        return f"the week of {_iso(monday)}"
    if unit == "year":
        return str(said.year + step)
    if unit == "quarter":
        whole = said.year * 4 + (said.month - 1) // 3 + step
        return f"Q{whole % 4 + 1} {whole // 4}"
    month = said.year * 12 + said.month - 1 + step
    return f"{MONTHS[month % 12].capitalize()} {month // 12}"


def _end(said: date, unit: str, of: str) -> date:
    ahead = 1 if of == "next" else 0
    if unit == "week":
        return said + timedelta(6 - said.weekday() + 7 * ahead)
    if unit == "year":
        return date(said.year + ahead, 12, 31)
    month = said.year * 12 + said.month + ahead
    return date(month // 12, month % 12 + 1, 1) - timedelta(1)


def moved(said: date, many: int, unit: str) -> date:
    if unit != "month":
        return said + timedelta(many * (7 if unit == "week" else 1))
    month = said.year * 12 + said.month - 1 + many
    last = _end(date(month // 12, month % 12 + 1, 1), "month", "this").day
    return date(month // 12, month % 12 + 1, min(said.day, last))
