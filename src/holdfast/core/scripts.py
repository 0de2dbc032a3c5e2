"""Characters that are words by themselves: of scripts that leave no blank between words, and emoji.

Rule 1: in an index each of them stands alone, so that any run of them is found in a longer one.
Rule 2: a character that is composed is the same as one that comes in pieces.
"""

from __future__ import annotations

import re
import unicodedata

LETTERS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\uff66-\uff9f\U0001aff0-\U0001b16f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
)
"""Where these scripts are, as a class of characters is written in a pattern."""

PICTURES = "\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001faff"
"""Where emoji are, likewise."""

_LETTER = re.compile(f"[{LETTERS}]")
_RUN = re.compile(f"[{LETTERS}]+")
_PICTURE = re.compile(f"[{PICTURES}]")
_ALONE = re.compile(f"[{LETTERS}{PICTURES}]")

_ASCII = bytes(range(128))

_PRIVATE = 0xF0000
"""An index takes letters for words, and no pictures; what it is given instead begins here."""


def is_alone(character: str) -> bool:
    """Whether a character is a word by itself."""
    return bool(_ALONE.match(character))


def composed(text: str) -> str:
    """The text with every character in one piece."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def apart(text: str) -> str:
    """The text as an index of words takes it: what is a word by itself between blanks."""
    text = composed(text)
    if text.isascii():
        return text
    foreign = text.encode("utf-8", "replace").translate(None, _ASCII).decode()
    if _LETTER.search(foreign):
        text = _RUN.sub(_spread, text)
    return _PICTURE.sub(_letter, text) if _PICTURE.search(foreign) else text


def _spread(run: re.Match[str]) -> str:
    return f" {' '.join(run[0])} "


def _letter(picture: re.Match[str]) -> str:
    """A letter of nobody's, in the place of a picture."""
    return f" {chr(_PRIVATE + ord(picture[0]) % 0x10000)} "
