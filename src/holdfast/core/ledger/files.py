"""The files of a session as the log last shows them.

Rule 1: a path is what was written; two ways of writing one path are two files.
Rule 2: the last change counts, but a file that was created here stays created while it changes.
Rule 3: hash, size and lines are known only where the log holds the whole content.
"""

from __future__ import annotations

import re
from hashlib import sha256

from msgspec.structs import replace

from holdfast.core.ledger.patches import Touch
from holdfast.model.ledger import Change, File, Ledger

_NUMBERED = re.compile(r"^ *(\d+)(?:→|\t|\| )", re.MULTILINE)
_MOST = 2000
"""A reading tool shows at most this many lines unless it is asked for more."""


def touch(ledger: Ledger, seq: int, found: Touch) -> Ledger:
    """A file was written, changed or deleted."""
    before = ledger.files.get(found.path) or File(path=found.path, seq=seq)
    whole = found.content
    data = None if whole is None else whole.encode("utf-8", "surrogatepass")
    now = replace(
        before,
        change=_merged(before.change, found.change),
        seq=seq,
        lines=None if whole is None else len(whole.splitlines()),
        size=None if data is None else len(data),
        hash="" if data is None else sha256(data).hexdigest(),
        inferred=found.inferred,
    )
    return replace(ledger, files={**ledger.files, found.path: now})


def look(ledger: Ledger, seq: int, path: str, output: str, *, whole: bool) -> Ledger:
    """The content of a file was shown."""
    before = ledger.files.get(path) or File(path=path, seq=seq)
    lines = _lines(output) if whole else None
    now = replace(before, read=seq, seq=seq, lines=lines if lines is not None else before.lines)
    return replace(ledger, files={**ledger.files, path: now})


def doubt(ledger: Ledger, seq: int, found: Touch) -> Ledger:
    """A change of which nobody told whether it happened."""
    unsure = Touch(path=found.path, change="unknown", inferred="no-result")
    return touch(ledger, seq, unsure)


def _merged(before: Change, now: Change) -> Change:
    if before == "created" and now in ("changed", "written"):
        return "created"
    if before in ("changed", "written") and now == "written":
        return "changed"
    return now


def _lines(output: str) -> int | None:
    """How many lines a numbered listing of a whole file has."""
    numbers = [int(number) for number in _NUMBERED.findall(output)]
    counted = numbers and numbers == list(range(1, len(numbers) + 1))
    return len(numbers) if counted and len(numbers) < _MOST else None
