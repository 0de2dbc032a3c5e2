"""The files of a session as the log last shows them.

Rule 1: a path is what was written; two ways of writing one path are two files.
Rule 2: the last change counts, but a file that was created here stays created while it changes.
Rule 3: hash, size and lines are known only where the log holds the whole content.
"""

from __future__ import annotations

import re
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

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


class Touch(Struct, frozen=True, kw_only=True):
    """A file that something was done to."""

    path: str
    change: Change
    inferred: str = ""
    content: str | None = None
    """The whole new content, where it is told."""


_ENVELOPE = re.compile(
    r"(?:^|\bapply_?patch[ \t]+['\"])\*\*\* Begin Patch[ \t]*\n(.*?)(?=^\*\*\* End Patch|\Z)",
    re.MULTILINE | re.DOTALL,
)
_FILE = re.compile(
    r"^\*\*\* (?:(Add|Update|Delete) File: |(Move) to: )(.+?)[ \t\r]*$", re.MULTILINE
)
_CHANGES: dict[str, Change] = {"Add": "created", "Update": "changed", "Delete": "deleted"}
_OPENING = re.compile(r"[ \t]*<{5,9} SEARCH\b")
_DIVIDER = re.compile(r"[ \t]*={5,9}[ \t]*$")
_CLOSING = re.compile(r"[ \t]*>{5,9} REPLACE\b")


def patched(text: str, inferred: str = "") -> list[Touch]:
    """The files of every apply_patch envelope in a text, in order."""
    found: list[Touch] = []
    for envelope in _ENVELOPE.finditer(text.replace("\r\n", "\n")):
        for verb, move, path in _FILE.findall(envelope[1]):
            if not move:
                found.append(Touch(path=path, change=_CHANGES[verb], inferred=inferred))
            elif found:
                found[-1] = Touch(path=found[-1].path, change="deleted", inferred=inferred)
                found.append(Touch(path=path, change="created", inferred=inferred))
    return found


def replaced(text: str) -> list[Touch]:
    """The files of every SEARCH/REPLACE block in a text; a block without a name is left out."""
    found: list[Touch] = []
    lines = text.splitlines()
    path, searched, inside, divided = "", False, False, False
    for place, line in enumerate(lines):
        if _OPENING.match(line):
            path = _named(lines, place) or path
            searched, inside, divided = False, True, False
        elif inside and not divided and _DIVIDER.match(line):
            divided = True
        elif inside and divided and _CLOSING.match(line):
            inside = False
            found += [_replacement(path, searched)] if path else []
        elif inside and not divided:
            searched = searched or bool(line.strip())
    return found


def _replacement(path: str, searched: bool) -> Touch:
    change: Change = "changed" if searched else "created"
    return Touch(path=path, change=change, inferred="search-replace")


def _named(lines: list[str], place: int) -> str:
    """The file that is named before a block, and before the fence that opens it."""
    above = place - 1
    if above >= 0 and lines[above].lstrip().startswith("```"):
        above -= 1
    return _name(lines[above]) if above >= 0 else ""


def _name(line: str) -> str:
    """The file that a line names; empty where it is prose, a fence or the end of a block."""
    name = line.strip().strip("`*#:").strip()
    plain = re.fullmatch(r"[^\s<>|\"`]+", name) and re.search(r"[./\\]|^[A-Z]+$", name)
    return name if plain and not name.startswith(("```", ">>>", "...")) else ""
