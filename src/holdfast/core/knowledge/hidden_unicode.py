"""Characters that nobody sees: what a person approves is what a model reads.

Rule 1: tag characters (U+E0000 to U+E007F) and the supplementary variation selectors are taken out:
        they spell whole sentences that only a model sees.
Rule 2: zero-width and bidirectional controls are written out, as `[U+202E]`. A joiner between two
        letters of a script that needs it, or between two emoji, stays as it is.
Rule 3: cleaning a clean text changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from msgspec import Struct

_STRIPPED: Final = "\U000e0000-\U000e007f\U000e0100-\U000e01ef"
_JOINERS: Final = "\u200c\u200d"
_SHOWN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb"
)
_HIDDEN = re.compile(f"[{_STRIPPED}]|[{_SHOWN}{_JOINERS}]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NEEDS_JOINERS = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\u2600-\u27bf\ufe0f\ufb50-\ufdff"
    "\ufe70-\ufefc\U0001f1e6-\U0001faff]"
)


class Hidden(Struct, frozen=True):
    """A hidden character, how often it is in a text, and the line it is first seen on."""

    name: str
    """As `U+200B`."""
    times: int
    line: int


def cleaned(text: str) -> str:
    """The text with nothing hidden: tag characters taken out, the other ones written out."""
    text = text.removeprefix("\ufeff")
    return _HIDDEN.sub(_written, text) if _HIDDEN.search(text) else text


def hidden(text: str) -> tuple[Hidden, ...]:
    """What `cleaned` changes in a text, in the order it is met."""
    text = text.removeprefix("\ufeff")
    places: dict[str, int] = {}
    times: Counter[str] = Counter()
    for found in _HIDDEN.finditer(text):
        if _written(found) != found[0]:
            name = f"U+{ord(found[0]):04X}"
            times[name] += 1
            places.setdefault(name, found.start())
    return tuple(
        Hidden(name, times[name], text.count("\n", 0, place) + 1) for name, place in places.items()
    )


def _written(found: re.Match[str]) -> str:
    letter, text, at = found[0], found.string, found.start()
    if letter >= "\U000e0000":
        return ""
    if letter in _JOINERS and 0 < at < len(text) - 1:
        between = _NEEDS_JOINERS.match(text[at - 1]) and _NEEDS_JOINERS.match(text[at + 1])
        if between:
            return letter
    return f"[U+{ord(letter):04X}]"
