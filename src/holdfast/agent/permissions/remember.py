"""Remembering a leave: one more rule in the user's own file, all else in it as it was.

The file is changed as text, so that comments and order stay. What was written is read back before
it takes the place of the old one: it must say what the old one said, and the rule besides.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from holdfast.agent.permissions.rules import place, read
from holdfast.errors import InvalidRequest
from holdfast.files import private_directory, write_atomic


def remember(project: str, rule: str, file: Path | None = None) -> None:
    """Allow something in a project for good."""
    file = file or place()
    before = read(file)
    if rule in before.get("projects", {}).get(project, {}).get("allow", ()):
        return
    text = file.read_text("utf-8") if file.exists() else ""
    changed = with_rule(text, project, rule)
    if _read_back(changed) != _expected(before, project, rule):
        do = f'add allow = ["{rule}"] to the table of {project} yourself'
        raise InvalidRequest(f"{file} is written in a way that cannot be added to safely; {do}")
    private_directory(file.parent)
    write_atomic(file, changed.encode())


def with_rule(text: str, project: str, rule: str) -> str:
    """A file of rules with one more; whether it says so is for whoever reads it back."""
    name, written = (json.dumps(one, ensure_ascii=False) for one in (project, rule))
    head = re.compile(rf"^[ \t]*\[[ \t]*projects[ \t]*\.[ \t]*{re.escape(name)}[ \t]*\][^\n]*\n?",
                      re.MULTILINE)  # fmt: skip
    found = head.search(text)
    if not found:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[projects.{name}]\nallow = [{written}]\n"
    start = found.end()
    following = re.compile(r"^[ \t]*\[", re.MULTILINE)
    allow = re.compile(r"^[ \t]*allow[ \t]*=[ \t]*\[", re.MULTILINE).search(text, start)
    end = following.search(text, start)
    if allow and (end is None or allow.start() < end.start()):
        return f"{text[: allow.end()]}{written}, {text[allow.end() :]}"
    line = "" if found[0].endswith("\n") else "\n"
    return f"{text[:start]}{line}allow = [{written}]\n{text[start:]}"


def _read_back(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _expected(before: dict[str, Any], project: str, rule: str) -> dict[str, Any]:
    projects = before.get("projects", {})
    own = projects.get(project, {})
    allowed = {**own, "allow": [rule, *own.get("allow", [])]}
    return {**before, "projects": {**projects, project: allowed}}
