"""What a repository ignores, read from its files `.gitignore` and `.git/info/exclude`.

Rule 1: git is not asked. Its configuration is the repository's to write, and can name commands.
Rule 2: the last line that fits decides, the file nearest to a name before those above it.
Rule 3: whatever a pattern says, fitting it takes a time bounded by its length and the name's.
"""

from __future__ import annotations

import fnmatch
import os
import re
from typing import Final, NamedTuple

from holdfast.errors import HoldfastError
from holdfast.files import Found, Root, project_root

LARGEST: Final = 256 * 1024
LINES: Final = 2_000
LONGEST: Final = 1_024
"""Of a file this much is read: bytes, lines, and characters of a line."""

Names = tuple[str, ...]


class Rule(NamedTuple):
    """One line of a file: what it fits, and whether that is ignored or kept."""

    parts: tuple[re.Pattern[str] | None, ...]
    """One for each name on the way; None for `**`."""
    keeps: bool
    folder: bool
    """It fits directories only."""

    def fits(self, names: Names, folder: bool) -> bool:
        """Whether it fits a path, counted from where its file lies."""
        return (folder or not self.folder) and _fit(self.parts, names)


class Ignoring:
    """Says of what is found beneath a root whether the repository it belongs to ignores it.

    Where the root itself is ignored, somebody chose to look there: that is no reason to pass over
    what it holds.
    """

    def __init__(self, root: Root) -> None:
        self._top = Root(project_root(root.path))
        self._within = root.path.relative_to(self._top.path).parts
        self._known: dict[Names, tuple[Rule, ...]] = {}
        self.repository = os.path.lexists(self._top.path / ".git")

    def __call__(self, one: Found) -> bool:
        """Whether to pass it over: it is ignored, git's own, or a repository within."""
        names, folder = (*self._within, *one.path.split("/")), one.kind == "directory"
        return names[-1] == ".git" or self._ignored(names, folder) or (folder and self._own(names))

    def _ignored(self, names: Names, folder: bool) -> bool:
        for depth in range(len(names) - 1, -1, -1):
            for rule in self._rules(names[:depth]):
                if rule.fits(names[depth:], folder):
                    return not rule.keeps
        return False

    def _own(self, names: Names) -> bool:
        return os.path.lexists(self._top.path.joinpath(*names, ".git"))

    def _rules(self, names: Names) -> tuple[Rule, ...]:
        """What the file of one directory says, its last line first."""
        if names not in self._known:
            text = self._text("/".join((*names, ".gitignore")))
            if not names:
                text = f"{self._text('.git/info/exclude')}\n{text}"
            self._known[names] = rules(text)
        return self._known[names]

    def _text(self, path: str) -> str:
        try:
            return self._top.read(path, LARGEST).decode("utf-8", "surrogateescape")
        except (HoldfastError, OSError):
            return ""


def rules(text: str) -> tuple[Rule, ...]:
    """What a file says, its last line first."""
    read = (_rule(line) for line in text.split("\n")[:LINES] if len(line) <= LONGEST)
    return tuple(rule for rule in read if rule is not None)[::-1]


def _rule(line: str) -> Rule | None:
    line = line.removesuffix("\r")
    told = line.rstrip(" ")
    if told.endswith("\\") and told != line:
        told += " "
    keeps = told.startswith("!")
    pattern = told.removeprefix("!").rstrip("/")
    if not pattern or told.startswith("#"):
        return None
    parts = pattern.removeprefix("/").split("/")
    if "/" not in pattern:
        parts.insert(0, "**")
    elif parts[-1] == "**":
        parts.append("*")
    return Rule(tuple(map(_part, parts)), keeps, told.endswith("/"))


def _part(written: str) -> re.Pattern[str] | None:
    """One name of a pattern, in the notation of fnmatch; None for `**`."""
    if written == "**":
        return None
    told = written.replace("[^", "[!")
    plain = re.sub(r"\\(.)", lambda one: f"[{one[1]}]" if one[1] in "*?[" else one[1], told)
    return re.compile(fnmatch.translate(plain))


def _fit(parts: tuple[re.Pattern[str] | None, ...], names: Names) -> bool:
    """Whether parts fit names, all of both; where `**` took too few names it takes one more."""
    part = name = 0
    again: tuple[int, int] | None = None
    while name < len(names):
        wanted = parts[part] if part < len(parts) else False
        if wanted is None:
            again, part = (part, name), part + 1
        elif wanted and wanted.match(names[name]):
            part, name = part + 1, name + 1
        elif again:
            again = again[0], again[1] + 1
            part, name = again[0] + 1, again[1]
        else:
            return False
    return part == len(parts)
