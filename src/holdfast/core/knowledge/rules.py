"""Rules: instruction files that apply where a path matches their `paths:` globs.

Rule 1: `*` and `?` stay within one name, `**` stands for any number of directories, `{a,b}` for
        either. A pattern that ends with `/`, or names a directory, is for all beneath it.
Rule 2: a pattern with a slash is relative to the directory of the rules; one without matches a
        name at any depth, as in .gitignore.
Rule 3: matching takes time linear in pattern and path, whatever the pattern is.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

LONGEST: Final = 512
"""A longer pattern matches nothing."""

MOST: Final = 64
"""So many patterns are made of one with braces, at most."""


def matches(patterns: Iterable[str], path: str) -> bool:
    """Whether a path, relative to the directory of the rules, is like one of the patterns."""
    names = path.split("/")
    return any(_alike(one, names) for pattern in patterns for one in alternatives(pattern))


def alternatives(pattern: str) -> list[str]:
    """A pattern with its braces written out; one that makes too many matches nothing."""
    if len(pattern) > LONGEST:
        return []
    found, left = list[str](), [pattern]
    while left:
        if len(found) + len(left) > MOST:
            return []
        one = left.pop()
        closing = one.find("}")
        opening = one.rfind("{", 0, closing) if closing >= 0 else -1
        if opening < 0:
            found.append(one)
            continue
        before, after = one[:opening], one[closing + 1 :]
        left += [before + middle + after for middle in one[opening + 1 : closing].split(",")]
    return found


def _alike(pattern: str, names: list[str]) -> bool:
    pattern = pattern.strip().removeprefix("./")
    rooted = "/" in pattern.rstrip("/")
    wanted = [one for one in pattern.split("/") if one]
    if not wanted:
        return False
    if not rooted:
        wanted = ["**", *wanted]
    if wanted[-1] == "**":
        wanted = [*wanted[:-1], "*", "**"]  # what is beneath, not the directory itself
        return _fits(wanted, names)
    return _fits(wanted, names) or _fits([*wanted, "*", "**"], names)


def _fits(wanted: list[str], names: list[str]) -> bool:
    """Whether names are like patterns, `**` being any number of them."""
    reached = {0}
    for pattern in wanted:
        if pattern == "**":
            reached = set(range(min(reached), len(names) + 1)) if reached else reached
        else:
            reached = {n + 1 for n in reached if n < len(names) and fnmatchcase(names[n], pattern)}
        if not reached:
            return False
    return len(names) in reached
