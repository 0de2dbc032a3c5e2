"""Strings that are looked for as they are typed, with their punctuation.

Rule 1: what stands in quotes is one, and so is a run without blanks that has punctuation in it,
        such as `--no-verify` or `a/b/c.py:12`; what only ends a sentence does not belong to it.
Rule 2: a blank stands for any blanks, and case does not matter, but what has the very case comes
        first. So a name with a capital within, such as `treeItem`, is a string too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_QUOTED: Final = r'"([^"]*\w[^"]*)"|“([^”]*\w[^”]*)”|`([^`]*\w[^`]*)`'
CHUNK: Final = re.compile(rf"(?<!\S)(?:{_QUOTED})(?!\w)|\S+")
"""What is typed in quotes, or without a blank between."""

QUOTES: Final = '"`“”'

MOST: Final = 16
LONGEST: Final = 1_000
"""Characters of a string that are compared."""

_TELLING: Final = re.compile(r"[!-/:-@\[-^`{-~]|[^\W_A-Z][A-Z]")
"""Punctuation, or a capital within a name."""
_PAIRS: Final = {")": "(", "]": "[", "}": "{", ">": "<"}


def chunks_of(typed: str) -> list[tuple[str, bool]]:
    """What is typed piece by piece, and whether it stands in quotes."""
    found = [(one[1] or one[2] or one[3] or "", one[0]) for one in CHUNK.finditer(typed)]
    return [(quoted or plain, bool(quoted)) for quoted, plain in found]


def literals(typed: str) -> tuple[str, ...]:
    """The strings that are looked for as they stand; none where there are only words."""
    found: dict[str, None] = {}
    for chunk, quoted in chunks_of(typed):
        text = chunk if quoted else _bare(chunk)
        if (quoted or _TELLING.search(text)) and re.search(r"\w", text):
            found[text[:LONGEST]] = None
    return tuple(found)[:MOST]


def whole(typed: str) -> tuple[str, ...]:
    """The strings of which all that was typed consists; none where there are other words too."""
    chunks = chunks_of(typed)
    strings = literals(typed)
    return (
        (typed.strip()[:LONGEST],)
        if len(chunks) == 1 and not strings
        else (strings if len(strings) == len(chunks) else ())
    )


def flat(text: str) -> str:
    """A text as strings are compared: every stretch of blanks one blank."""
    return " ".join(text.split())


def holds_all(text: str, wanted: Sequence[str]) -> bool:
    """Whether a text has every one of the strings, in any case."""
    return holds_typed(text.lower(), [one.lower() for one in wanted])


def holds_typed(text: str, wanted: Sequence[str]) -> bool:
    """Whether a text has every one of the strings, in the case in which it was typed."""
    if all(one in text for one in wanted):
        return True
    if not any(" " in one for one in wanted):
        return False
    flattened = flat(text)
    return all(flat(one) in flattened for one in wanted)


def _bare(chunk: str) -> str:
    """A run without the punctuation of the sentence it stands in."""
    text = chunk.rstrip(".,;:!?\"'").lstrip("\"'")
    while text and (opening := _PAIRS.get(text[-1])) and opening not in text:
        text = text[:-1]
    closing = {opening: end for end, opening in _PAIRS.items()}
    while text and (end := closing.get(text[0])) and end not in text:
        text = text[1:]
    return text
