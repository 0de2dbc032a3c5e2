"""The stem of an English word, by Porter's algorithm: `deploys` and `deployed` are `deploy`.

Rule 1: only lower-case ASCII words of three letters or more have a stem; all else is its own.
Rule 2: `y` behind a vowel stays, as in Porter's second version: `deployment` is `deploy` too.
Rule 3: a stem is no word to be shown, only what two words are compared by.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_C, _V = "[^aeiou](?:[^aeiouy]*)", "[aeiouy][aeiou]*"
_LEAST_1: Final = re.compile(f"^(?:{_C})?{_V}{_C}")
_JUST_1: Final = re.compile(f"^(?:{_C})?{_V}{_C}(?:{_V})?$")
_LEAST_2: Final = re.compile(f"^(?:{_C})?{_V}{_C}{_V}{_C}")
_VOWEL: Final = re.compile(f"^(?:{_C})?[aeiouy]")
_SHORT: Final = re.compile(f"^{_C}[aeiouy][^aeiouwxy]$")
"""Consonant, vowel, consonant: an `e` was there before the ending, as in `filing`."""

_STEP_2: Final = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3: Final = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4: Final[dict[str, str]] = dict.fromkeys((
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion",
    "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
), "")  # fmt: skip


@lru_cache(65_536)
def stem(word: str) -> str:
    """What is left of a word without its endings."""
    if len(word) < 3 or not (word.isascii() and word.isalpha() and word.islower()):
        return word
    word = _verb(_plural(word))
    if word.endswith("y") and word[-2] not in "aeiou" and _VOWEL.match(word[:-1]):
        word = word[:-1] + "i"
    word = _ending(word, _STEP_2, _LEAST_1)
    word = _ending(word, _STEP_3, _LEAST_1)
    word = _ending(word, _STEP_4, _LEAST_2)
    return _last_e(word)


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _verb(word: str) -> str:
    """Without `eed`, `ed` or `ing`, where a vowel is left before them."""
    if word.endswith("eed"):
        return word[:-1] if _LEAST_1.match(word[:-3]) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending) and _VOWEL.match(word[: -len(ending)]):
            return _mended(word[: -len(ending)])
    return word


def _mended(left: str) -> str:
    """What a verb is that has lost its ending: `hopping` is `hop`, `hoping` is `hope`."""
    if left.endswith(("at", "bl", "iz")) or _SHORT.match(left):
        return left + "e"
    doubled = left[-1:] == left[-2:-1] and left[-1:] not in "aeioulsz"
    return left[:-1] if doubled else left


def _ending(word: str, endings: dict[str, str], enough: re.Pattern[str]) -> str:
    """The word with its longest known ending replaced, where enough is left before it."""
    for size in range(min(len(word) - 1, 7), 1, -1):
        if (ending := word[-size:]) in endings:
            keep = 1 if ending in ("sion", "tion") and endings is _STEP_4 else 0
            left = word[: len(word) - size + keep]
            return left + endings[ending] if enough.match(left) else word
    return word


def _last_e(word: str) -> str:
    if word.endswith("e"):
        left = word[:-1]
        if _LEAST_2.match(left) or (_JUST_1.match(left) and not _SHORT.match(left)):
            word = left
    return word[:-1] if word.endswith("ll") and _LEAST_2.match(word[:-1]) else word
