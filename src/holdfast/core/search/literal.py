"""Strings that are looked for as they are typed, with their punctuation.

Rule 1: what stands in quotes is one, and so is a run without blanks that has punctuation in it,
        such as `--no-verify` or `a/b/c.py:12`; what only ends a sentence does not belong to it.
Rule 2: case does not matter, and a blank stands for any blanks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_QUOTED: Final = r'"([^"]*\w[^"]*)"|“([^”]*\w[^”]*)”|`([^`]*\w[^`]*)`'
CHUNK: Final = re.compile(rf"(?<!\S)(?:{_QUOTED})(?!\w)|\S+")
"""What is typed in quotes, or without a blank between."""

MOST: Final = 16
LONGEST: Final = 1_000
"""Characters of a string that are compared."""

_PUNCTUATION: Final = re.compile(r"[!-/:-@\[-^`{-~]")
_PAIRS: Final = {")": "(", "]": "[", "}": "{", ">": "<"}


def chunks_of(typed: str) -> list[tuple[str, bool]]:
    """What is typed piece by piece, and whether it stands in quotes."""
    found = [(one[1] or one[2] or one[3] or "", one[0]) for one in CHUNK.finditer(typed)]
    return [(quoted or plain, bool(quoted)) for quoted, plain in found]


def literals(typed: str) -> tuple[str, ...]:
    """The strings that are looked for as they stand, folded; none where there are only words."""
    found: dict[str, None] = {}
    for chunk, quoted in chunks_of(typed):
        text = chunk if quoted else _bare(chunk)
        if (quoted or _PUNCTUATION.search(text)) and re.search(r"\w", text):
            found[flat(text[:LONGEST])] = None
    return tuple(found)[:MOST]


def whole(typed: str) -> tuple[str, ...]:
    """The strings of which all that was typed consists; none where there are other words too."""
    chunks = chunks_of(typed)
    strings = literals(typed)
    return (
        (flat(typed)[:LONGEST],)
        if len(chunks) == 1 and not strings
        else (strings if len(strings) == len(chunks) else ())
    )


def flat(text: str) -> str:
    """A text as strings are compared: in lower case, every stretch of blanks one blank."""
    return " ".join(text.lower().split())


def holds_all(text: str, wanted: Sequence[str]) -> bool:
    """Whether a text has every one of the strings."""
    lowered = text.lower()
    if all(one in lowered for one in wanted):
        return True
    if not any(" " in one for one in wanted):
        return False
    flattened = " ".join(lowered.split())
    return all(one in flattened for one in wanted)


def _bare(chunk: str) -> str:
    """A run without the punctuation of the sentence it stands in."""
    text = chunk.rstrip(".,;:!?\"'").lstrip("\"'")
    while text and (opening := _PAIRS.get(text[-1])) and opening not in text:
        text = text[:-1]
    closing = {opening: end for end, opening in _PAIRS.items()}
    while text and (end := closing.get(text[0])) and end not in text:
        text = text[1:]
    return text
