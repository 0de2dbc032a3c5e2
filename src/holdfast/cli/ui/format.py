"""Numbers, sizes and times in the words people use for them."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING

from holdfast.cli.commands import COMMANDS

if TYPE_CHECKING:
    from holdfast.model.log import SessionInfo
    from holdfast.model.search import Hit

_AGES = (
    (60, 1, "s"),
    (3600, 60, "min"),
    (86_400, 3600, "h"),
    (14 * 86_400, 86_400, "d"),
    (60 * 86_400, 7 * 86_400, "wk"),
)


_DATED = re.compile(r"(?:-20\d{6}|-20\d\d-\d\d-\d\d|@[\w.-]+|-v\d+:\d+|-latest)$")
_MADE_BY = re.compile(r"^(?:.*/|[a-z.-]*anthropic\.|claude-(?=[a-z]))")


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def ago(when: int, at: int | None = None) -> str:
    """How long ago that was; as a date where it is long. 0 is no time."""
    if when <= 0:
        return "unknown"
    seconds = max(((now() if at is None else at) - when) // 1000, 0)
    if seconds < 5:
        return "just now"
    for limit, unit, word in _AGES:
        if seconds < limit:
            return f"{seconds // unit} {word} ago"
    return date(when)


def date(when: int) -> str:
    """A day, where the reader is."""
    try:
        return datetime.fromtimestamp(when / 1000).astimezone().strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        return "some day"


def clock(when: int) -> str:
    """An hour and a minute, where the reader is."""
    return datetime.fromtimestamp(when / 1000).astimezone().strftime("%H:%M")


def moment(when: int) -> str:
    """A time as programs read it; the beginning of time where it is none."""
    try:
        return datetime.fromtimestamp(when // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return "1970-01-01T00:00:00Z"


def number(value: int) -> str:
    """With commas between the thousands."""
    return f"{value:,}"


def rounded(value: int) -> str:
    """Three digits and a letter, where there are more than four."""
    if value < 10_000:
        return number(value)
    amount = float(value)
    for letter in ("", "k", "M", "G"):
        if amount < 999.5 or letter == "G":
            break
        amount /= 1000
    return f"{amount:.0f}{letter}" if amount >= 99.95 else f"{amount:.1f}{letter}"


def many(value: int, word: str, plural: str = "") -> str:
    """A number and its noun."""
    return f"{value:,} {word if value == 1 else plural or _plural(word)}"


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("ry") else f"{word}s"


def size(count: int) -> str:
    """Bytes, in the largest unit that leaves a number of one to four digits."""
    amount, units = float(count), ("bytes", "kB", "MB", "GB", "TB")
    for unit in units:
        if amount < 1000 or unit == units[-1]:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError


def money(nano: int) -> str:
    """Billionths of a dollar, with as many digits as tell something."""
    amount = nano / 1_000_000_000
    if not nano or abs(amount) >= 1:
        return f"${amount:,.2f}" if nano else "$0"
    return f"${amount:.4f}" if abs(amount) >= 0.001 else f"${amount:.6f}"


def lasting(milliseconds: int) -> str:
    """How long something took."""
    if milliseconds < 1000:
        return f"{max(milliseconds, 0)} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {seconds % 60:.0f} s"


def elapsed(seconds: float) -> str:
    """How long something has run, behind what it is; nothing before the first second is over."""
    whole = int(seconds)
    if whole < 1:
        return ""
    return f" {whole} s" if whole < 60 else f" {whole // 60} min {whole % 60} s"


def short_model(model: str) -> str:
    """A model by the part of its name that tells it from others: no maker, host or date."""
    name = model
    while (shorter := _MADE_BY.sub("", _DATED.sub("", name))) != name and shorter:
        name = shorter
    return name


def program() -> str:
    """What to type for `holdfast` here: its name, or where it is when no PATH leads to it."""
    if shutil.which("holdfast"):
        return "holdfast"
    beside = os.path.join(os.path.dirname(sys.executable), "holdfast")
    if not os.path.exists(beside):
        return f"{sys.executable} -m holdfast.cli"
    here = os.path.relpath(beside)
    return path(beside) if here.startswith(os.pardir) else here


@lru_cache(1)
def _commands() -> re.Pattern[str]:
    """Where a command of ours, or of pip, begins in a sentence."""
    names = "|".join(map(re.escape, COMMANDS))
    return re.compile(rf"(?<![\w./'-])holdfast(?= (?:{names})\b)|(?<![\w-])pip(?= install )")


def runnable(words: str) -> str:
    """The same words with each command as it can be typed here: `holdfast` may not be on PATH."""
    if not _commands().search(words) or (name := program()) == "holdfast":
        return words
    python = os.path.join(os.path.dirname(name.split(" ")[0]), "python")
    pip = f"{python if os.path.dirname(python) else sys.executable} -m pip"
    return _commands().sub(lambda found: name if found[0] == "holdfast" else pip, words)


def path(place: str) -> str:
    """A path as it is written at home."""
    home = os.path.expanduser("~")
    inside = place == home or place.startswith(home.rstrip(os.sep) + os.sep)
    return f"~{place[len(home.rstrip(os.sep)) :]}" if inside and home != os.sep else place


def in_chat(words: str) -> str:
    """The same words where commands of the shell are typed with a slash."""
    return runnable(re.sub(r"`holdfast (compact|undo|redo|context|recall)`", r"/\1", words))


def loading(model: str, seconds: float) -> str:
    """What is said while a model is loaded."""
    return f"loading {model}… {seconds:.0f} s"


def short_project(session: SessionInfo | Hit) -> str:
    """A project by the last part of its path."""
    name = os.path.basename(session.project.rstrip("/"))
    windows = re.match(r"[A-Za-z]:\\|\\\\", name)
    return PureWindowsPath(name).name or name if windows else name
