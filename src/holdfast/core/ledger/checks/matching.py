"""Whether a text speaks of something in other words: shared words, whatever their endings.

Rule 1: a word counts by its beginning, so that `handler` and `handling` are one.
Rule 2: scripts without blanks are compared by pairs of characters.
Rule 3: words that stand in any text count for nothing.
"""

from __future__ import annotations

import re
from typing import Final

_WORD = re.compile(r"[^\W\d_]+|\d+", re.UNICODE)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
_STEM: Final = 5

_COMMON_TEXT = """
the a an and or but not for with without from into onto this that these those then than there
here have has had was were are is be been being will would should could can may might must just
also please make made does did done doing you your our their its his her them they what which
who when where why how all any some each every more most other such only own same too very now
let lets need want like get got use used using one two out about after before over under again
der die das und oder nicht ein eine einen mit ohne von für auf aus bei nach ist sind war wird
werden kann soll bitte auch noch nur schon wenn dann den dem des zum zur les une est sont dans
pour avec sans sur par que qui pas plus los las una con sin por para del como más ich wir sie
uns ihr user asked request
"""
_COMMON: Final = frozenset(_COMMON_TEXT.split())


def stems(text: str) -> frozenset[str]:
    """The beginnings of the words of a text that carry meaning."""
    found = {
        word[:_STEM]
        for word in (word.lower() for word in _WORD.findall(_WIDE.sub(" ", text)))
        if (len(word) > 2 or word.isdigit()) and word not in _COMMON
    }
    for run in _WIDE.findall(text):
        found.update(run[place : place + 2] for place in range(max(1, len(run) - 1)))
    return frozenset(found)


def share(some: frozenset[str], others: frozenset[str]) -> float:
    """How much of `some` is in `others`; all of it where there is nothing."""
    return len(some & others) / len(some) if some else 1.0


def is_wide(text: str) -> bool:
    """Whether a text is mostly in a script without blanks."""
    wide = sum(map(len, _WIDE.findall(text)))
    return wide * 3 > sum(map(len, _WORD.findall(text)))


def plain(text: str) -> str:
    """A text with every run of white space made one blank."""
    return " ".join(text.split())
