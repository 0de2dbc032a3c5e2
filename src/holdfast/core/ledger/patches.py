"""Which files a patch concerns, and how: apply_patch envelopes and SEARCH/REPLACE blocks.

Rule 1: the envelope names its files in `*** Add|Update|Delete File:` lines; nothing else is read.
        It begins a line, or is the quoted argument of `apply_patch`.
Rule 2: a block of SEARCH and REPLACE changes the file named on the line before it, or before the
        fence that opens it; an empty SEARCH creates the file.
"""

from __future__ import annotations

import re

from msgspec import Struct

from holdfast.model.ledger import Change


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
