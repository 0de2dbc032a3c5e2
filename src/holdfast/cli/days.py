"""Days as people write them on a command line: dates, `yesterday`, `7d`."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from typing import Any

BEFORE = {"today": 0, "yesterday": 1}
BACK = re.compile(r"[0-9]{1,4}[dw]")
"""So many days or weeks before today."""

FAR = 1 << 53
"""Behind every time that anything is said to have happened at."""


def times(since: str, until: str) -> dict[str, int]:
    """From the beginning of one day to the end of another, where this program runs."""
    told = {"since": (_day(since), 0), "until": (_day(until), 1)}
    return {name: _begins(day, later) for name, (day, later) in told.items() if day}


def _begins(day: datetime, later: int) -> int:
    """When a day so many days later begins, in ms; a day without a zone's time is far away."""
    try:
        return int((day + timedelta(days=later)).astimezone().timestamp() * 1_000)
    except (OverflowError, ValueError, OSError):
        return 0 if day.year < 1970 else FAR


def _day(word: str) -> Any:
    """The beginning of a day: by its date, or so long before today."""
    from holdfast.errors import InvalidRequest

    if word in BEFORE or BACK.fullmatch(word):
        ago = BEFORE[word] if word in BEFORE else int(word[:-1]) * (7 if word[-1] == "w" else 1)
        return datetime.combine(datetime.now().date(), time()) - timedelta(days=ago)  # noqa: DTZ005
    try:
        return datetime.strptime(word, "%Y-%m-%d") if word else None  # noqa: DTZ007 - local
    except ValueError:
        raise InvalidRequest(
            f"{word!r} is no day; write it as 2026-03-31, yesterday, 7d or 2w"
        ) from None
