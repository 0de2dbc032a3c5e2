"""A command line as rules see it: what a pattern allows of it, and the commands it is made of.

Rule 1: a wildcard stands for words of one command, never for what chains, redirects or substitutes.
        Whoever wants such a sign allowed spells it.
Rule 2: what is forbidden is looked for in every part, quoted or not: too much is better
        than too little.
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
_REDIRECTED: Final = re.compile(r"\d*(?:>>|<<|[<>])[&|]?[ \t]*[^\s;&|()<>`]+")
_SET: Final = re.compile(r"^(?:[A-Za-z_]\w*\+?=(?:\"[^\"]*\"|'[^']*'|[^\s\"'])*\s+)+")
_QUOTES: Final = str.maketrans("", "", "\"'\\")

_BEFORE: Final = frozenset(
    {"command", "env", "sudo", "doas", "exec", "eval", "builtin", "nohup", "time", "nice", "xargs",
     "timeout", "if", "then", "elif", "else", "while", "until", "do", "!", "{"}
)  # fmt: skip
"""Words that a command may follow, with their options between."""

_BETWEEN: Final = 10
"""So many words after one of them a command is looked for."""


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
    joined = command.replace("\\\n", "")
    yield command
    yield " ".join(joined.split())
    for text in (joined, _REDIRECTED.sub(" ", joined)):
        for piece in _BREAK.split(text):
            yield " ".join(piece.split())
            yield from _meant(_SET.sub("", piece.strip()))


def _meant(piece: str) -> Iterator[str]:
    """A simple command, without what only surrounds it."""
    for text in (piece, piece.translate(_QUOTES)):
        words = text.split()
        many = _BETWEEN if words and words[0] in _BEFORE else 1
        for n in range(min(many, len(words))):
            yield " ".join(words[n:])
            yield " ".join((words[n].rpartition("/")[2], *words[n + 1 :]))
