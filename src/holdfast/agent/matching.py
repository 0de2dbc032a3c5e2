"""Whether a rule is about a call: by the fields of the tool, never by what else the call says.

A path is what it leads to: `./.env`, `a/../.env` and the whole path from `/` are all `.env`. A rule
whose pattern begins with `/` is about whole paths.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from typing import Any, Final

from holdfast.agent.commands import pieces, spells

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
        return spells(pattern, _text(fields, "command"))
    return _about(pattern, tool, fields, root)


def catches(rule: str, tool: str, fields: dict[str, Any], root: str) -> bool:
    """Whether a rule that denies or asks means this call: any part of a command is enough."""
    pattern = _pattern(rule, tool)
    if pattern is None or pattern == ANY:
        return pattern == ANY
    if tool == "shell":
        found = pieces(_text(fields, "command"))
        return any(fnmatch.fnmatchcase(one, pattern.strip()) for one in found)
    return _about(pattern, tool, fields, root)


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
