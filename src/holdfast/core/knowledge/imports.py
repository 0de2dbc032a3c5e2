"""Imports: `@path` in an instruction file stands for another file, read along with it.

Rule 1: a path is a word that begins with @ behind a blank or at the beginning of a line, outside of
        code: neither in a fence nor between backticks. A mail address or a package is none.
Rule 2: it is relative to the file that holds it; `~/` is the home of the user.
Rule 3: imports go DEEPEST deep, and one file has at most MOST of them; each file is read once, so
        that a cycle ends by itself.
"""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath
from typing import Final

from msgspec import Struct

DEEPEST: Final = 5
"""A file that is imported by a file that is imported … so many times, and no deeper."""

MOST: Final = 50
"""So many imports of one file are followed."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_IMPORT = re.compile(r"(?:^|(?<=[\s(]))@((?:\\ |[^\s`'\"<>|*?])+)")
_ENDING: Final = ".,;:!)]}"
_SUFFIX = re.compile(r"\.(?:md|mdx|txt|rst)$", re.IGNORECASE)


class Import(Struct, frozen=True):
    """A path that a file names, and where it leads."""

    named: str
    place: str
    """The path in full."""
    plain: bool
    """Whether it is written as a path, so that one that is not there is worth a word."""


def imports(text: str, file: str, home: str) -> tuple[Import, ...]:
    """The files that a text names, in order, each once; `file` is the text's own path, in full."""
    found: dict[str, Import] = {}
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
            continue
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            continue
        for named in _IMPORT.findall(_SPAN.sub(" ", line)):
            one = _import(named.rstrip(_ENDING).replace("\\ ", " "), file, home)
            found.setdefault(one.place, one)
    return tuple(one for one in found.values() if one.named)


def _import(named: str, file: str, home: str) -> Import:
    path = join(home, named[2:]) if named.startswith("~/") else named
    place = normpath(join(dirname(file), path))
    start = named.startswith(("~/", "/", "./", "../"))
    return Import(named, place, start or bool(_SUFFIX.search(named)))
