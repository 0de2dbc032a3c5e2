"""Which files a patch concerns, and how: apply_patch envelopes and SEARCH/REPLACE blocks.

Rule 1: the envelope names its files in `*** Add|Update|Delete File:` lines; nothing else is read.
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
    r"^\*\*\* Begin Patch[ \t]*\n(.*?)(?=^\*\*\* End Patch|\Z)", re.MULTILINE | re.DOTALL
)
_FILE = re.compile(
    r"^\*\*\* (?:(Add|Update|Delete) File: |(Move) to: )(.+?)[ \t\r]*$", re.MULTILINE
)
_CHANGES: dict[str, Change] = {"Add": "created", "Update": "changed", "Delete": "deleted"}
_BLOCK = re.compile(
    r"^(?P<name>[^\n]*)\n(?:[ \t]*```[^\n]*\n)?[ \t]*<{5,9} SEARCH[^\n]*\n(?P<search>.*?)"
    r"^[ \t]*={5,9}[ \t]*\n(?P<new>.*?)^[ \t]*>{5,9} REPLACE",
    re.MULTILINE | re.DOTALL,
)


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
    last = ""
    for block in _BLOCK.finditer("\n" + text.replace("\r\n", "\n")):
        last = _name(block["name"]) or last
        change: Change = "changed" if block["search"].strip() else "created"
        if last:
            found.append(Touch(path=last, change=change, inferred="search-replace"))
    return found


def _name(line: str) -> str:
    """The file that a line names; empty where it is prose, a fence or the end of a block."""
    name = line.strip().strip("`*#:").strip()
    plain = re.fullmatch(r"[^\s<>|\"`]+", name) and re.search(r"[./\\]|^[A-Z]+$", name)
    return name if plain and not name.startswith(("```", ">>>", "...")) else ""
