"""Commands whose status 1 is an answer, and no failure: nothing found, or a difference.

Rule 1: it counts only where the command that answers is the last of a pipe or a list, and no other
        in that list could have failed with the same status.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

RULE: Final = "status-1-is-an-answer"

LONGEST: Final = 4_000
"""Longer lines are not looked into."""

_ANSWERING = frozenset(
    """
    rg grep egrep fgrep zgrep ack ag diff cmp test [ pgrep pidof which
    """.split()  # noqa: SIM905
)
_OF_GIT = frozenset({"diff", "grep"})
_HARMLESS = frozenset({"cd", "echo", "pwd", "export", "printf", "true"})
_LISTS = frozenset({"&&", "||"})
_SETTING = re.compile(r"\w+=\S*")
_BEFORE = frozenset({"sudo", "time", "command", "env", "nice"})
_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree"})


def is_answer(line: str) -> bool:
    """Whether a command that ends with status 1 has only said no."""
    last = line.strip().rsplit("\n", 1)[-1]
    if len(line) > LONGEST:
        return False
    try:
        words = shlex.shlex(last, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        words.commenters = ""
        told = list(words)
    except ValueError:
        return False
    *before, own = _pieces(told)
    return _answers(own) and all(_answers(one) or _first(one) in _HARMLESS for one in before)


def _pieces(words: Sequence[str]) -> list[list[str]]:
    """The commands whose status may be the line's: of each pipe the last, of each list all."""
    found: list[list[str]] = [[]]
    for word in words:
        if word in (";", "&", "|", "|&"):
            found = [*(found[:-1] if word.startswith("|") else []), []]
        elif word in _LISTS:
            found.append([])
        else:
            found[-1].append(word)
    return found


def _answers(words: Sequence[str]) -> bool:
    first = _first(words)
    return first in _ANSWERING or (first == "git" and _of_git(words) in _OF_GIT)


def _first(words: Sequence[str]) -> str:
    """The program that is run, without the directory it lies in."""
    for word in words:
        if not (_SETTING.fullmatch(word) or word in _BEFORE):
            return word.rsplit("/", 1)[-1]
    return ""


def _of_git(words: Sequence[str]) -> str:
    """Which command of git it is."""
    rest = iter(words[list(words).index("git") + 1 :] if "git" in words else ())
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-"):
            return word
    return ""
