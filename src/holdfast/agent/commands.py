"""A command line as rules see it: what a pattern allows of it, and the commands it is made of.

Rule 1: a wildcard stands for words of one command, never for what chains, redirects or substitutes.
        Whoever wants such a sign allowed spells it.
Rule 2: what is forbidden is looked for at every word of every part, quoted or not: too much is
        better than too little. It is a net all the same, and no fence: a shell has other words.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_WORD: Final = r"(?:[^;&|\n\r\0`<>(){$]|\$(?![({])|(?<!\$)\{)"
"""A character that a wildcard may stand for."""

_BREAK: Final = re.compile(r"\$\(|[;&|\n\r`()]")
_SUBSTITUTED: Final = re.compile(r"\$\(|[`()]")
_BLANK: Final = re.compile(r"\$(?:IFS\b|\{IFS[^}]*\})")
_REDIRECTED: Final = re.compile(r"\d*(?:>>|<<|[<>])[&|]?[ \t]*[^\s;&|()<>`]+")
_SET: Final = re.compile(r"^(?:[A-Za-z_]\w*\+?=(?:\"[^\"]*\"|'[^']*'|[^\s\"'])*\s+)+")
_QUOTES: Final = str.maketrans("", "", "\"'\\")

_BETWEEN: Final = 10
"""So many words may stand between a command and what it is to do, where the first is an option."""

_SOME: Final = 64
"""So many words are looked at from a word on that is not among the first."""


def spells(pattern: str, command: str) -> bool:
    """Whether a command is what a pattern spells, its wildcards standing for words alone."""
    return _spelling(pattern.strip()).fullmatch(command.strip()) is not None


@lru_cache(maxsize=256)
def _spelling(pattern: str) -> re.Pattern[str]:
    first, *rest = _stretches(pattern)
    if not rest:
        return re.compile(first)
    between = "".join(f"(?>{_WORD}*?{one})" for one in rest[:-1] if one)
    return re.compile(f"{first}{between}{_WORD}*{rest[-1]}")


def _stretches(pattern: str) -> list[str]:
    """What stands between the stars of a pattern, as expressions."""
    made = [""]
    for sign in re.findall(r"\[!?\]?[^\]]*\]|.", pattern, re.DOTALL):
        if sign == "*":
            made.append("")
        elif sign == "?":
            made[-1] += _WORD
        elif len(sign) == 3:  # one sign in brackets is that sign
            made[-1] += re.escape(sign[1])
        elif len(sign) > 1:
            made[-1] += f"(?={_WORD}){fnmatch.translate(sign)[4:].rpartition(')')[0]}"
        else:
            made[-1] += re.escape(sign)
    return made


def pieces(command: str) -> Iterator[str]:
    """A command line, and every command in it, in each way that it could be meant."""
    joined = _BLANK.sub(" ", command.replace("\\\n", ""))
    yield command
    yield " ".join(joined.split())
    for text in (joined, _REDIRECTED.sub(" ", joined), _SUBSTITUTED.sub(" ", joined)):
        for piece in _BREAK.split(text):
            yield " ".join(piece.split())
            yield from _meant(_SET.sub("", piece.strip()))


def _meant(piece: str) -> Iterator[str]:
    """A simple command, and what any word of it begins, for that may be what is run."""
    for text in (piece, piece.translate(_QUOTES)):
        words = text.split()
        for n, word in enumerate(words):
            rest = words[n + 1 :] if n < _BETWEEN else words[n + 1 : n + _SOME]
            yield " ".join((word, *rest))
            for after in (rest, *_behind_options(rest)):
                yield " ".join((word.rpartition("/")[2], *after))


def _behind_options(rest: list[str]) -> Iterator[list[str]]:
    """What may follow a command's own options, each of them with or without a value."""
    if rest and rest[0].startswith("-"):
        for n in range(1, min(_BETWEEN, len(rest))):
            yield rest[n:]
