"""Whether a rule is about a call: by the fields of the tool, never by what else the call says.

A path is what it leads to: `./.env`, `a/../.env` and the whole path from `/` are all `.env`. A rule
whose pattern begins with `/` is about whole paths.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from typing import Any, Final

from holdfast.agent.permissions.command_line import might_name, names, spells
from holdfast.agent.permissions.launchers import hides, launches

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "shell": ("command",), "read": ("path",), "write": ("path",), "edit": ("path",),
    "list": ("path",), "grep": ("pattern", "path"), "glob": ("pattern", "path"),
}  # fmt: skip
"""What a tool's calls are about; other tools have no field that a rule could name."""


def allows(rule: str, tool: str, fields: dict[str, Any], root: str) -> bool:
    """Whether a rule that allows means this call: a command only where it is a simple one."""
    pattern = _pattern(rule, tool)
    if pattern is None or pattern == ANY:
        return pattern == ANY
    if tool == "shell":
        command = _text(fields, "command")
        if is_literal(pattern):
            return spells(pattern, command)
        return spells(pattern, command) and not launches(command, pattern)
    return _about(pattern, tool, fields, root)


def catches(rule: str, tool: str, fields: dict[str, Any], root: str) -> bool:
    """Whether a rule that denies or asks means this call: any part of a command is enough."""
    pattern = _pattern(rule, tool)
    if pattern is None or pattern == ANY:
        return pattern == ANY
    if tool == "shell":
        return names(pattern.strip(), _text(fields, "command"))
    return _about(pattern, tool, fields, root)


def might_catch(rule: str, tool: str, fields: dict[str, Any]) -> bool:
    """Whether a rule that denies or asks might mean a command, were it known what the shell runs:
    it makes up words of it, names a program by an argument, or is too long to be judged."""
    pattern = _pattern(rule, tool)
    if pattern is None or pattern == ANY or tool != "shell":
        return False
    command = _text(fields, "command")
    if len(command) > LONGEST:
        return True
    return hides(command) or might_name(pattern.strip(), command)


def spells_out(rule: str, tool: str, fields: dict[str, Any]) -> bool:
    """Whether a rule allows just this command, word for word."""
    pattern = _pattern(rule, tool)
    if pattern is None or pattern == ANY or tool != "shell" or not is_literal(pattern):
        return False
    return spells(pattern, _text(fields, "command"))


def is_literal(pattern: str) -> bool:
    """Whether a pattern has no wildcard, but for signs in brackets that stand for themselves."""
    return not re.search(r"[*?]|\[[^]]{2,}\]", re.sub(r"\[[*?[]\]", "", pattern))


LONGEST: Final = 500_000
"""The characters of a command at most that rules judge; a longer one is asked about."""

ANY: Final = "\0"
"""Stands for the pattern of a rule that has none."""


def _pattern(rule: str, tool: str) -> str | None:
    """The pattern of a rule about a tool; None where it is about another one."""
    name, mark, pattern = rule.partition(":")
    if not fnmatch.fnmatchcase(tool, name):
        return None
    return pattern if mark else ANY


def _about(pattern: str, tool: str, fields: dict[str, Any], root: str) -> bool:
    for name in FIELDS.get(tool, ()):
        told = _text(fields, name)
        if name == "path":
            told = _path(told, root, whole=pattern.startswith("/"))
            pattern = pattern.removeprefix("./")
        if fnmatch.fnmatchcase(told, pattern):
            return True
    return tool not in FIELDS and fnmatch.fnmatchcase("", pattern)


def _text(fields: dict[str, Any], name: str) -> str:
    return str(fields.get(name) or "")


def _path(told: str, root: str, *, whole: bool) -> str:
    """What a path leads to: from the root, or as a whole."""
    full = re.sub("^/+", "/", posixpath.normpath(posixpath.join(root or "/", told)))
    beneath = posixpath.relpath(full, root or "/")
    return full if whole or beneath.startswith("../") else beneath
