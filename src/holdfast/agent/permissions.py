"""What the agent may do without asking: rules of the user's own, never of a repository.

A rule is `tool` or `tool:pattern`, the pattern matching the path or the command. Of several that
match, deny beats ask beats allow. What no rule names is asked, but for looking around.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from holdfast.errors import Misuse
from holdfast.files import config_home

Verdict = Literal["allow", "ask", "deny"]

HARMLESS: Final = frozenset({"read", "grep", "glob", "list", "todo", "recall", "search_history"})
"""Tools that only look: they need no leave."""


class Permissions(Struct, frozen=True, kw_only=True):
    """The rules in force for one project."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def verdict(self, tool: str, fields: dict[str, Any]) -> Verdict:
        """What is to be done with a call."""
        subject = str(fields.get("command") or fields.get("path") or fields.get("pattern") or "")
        order: tuple[tuple[Verdict, tuple[str, ...]], ...] = (
            ("deny", self.deny), ("ask", self.ask), ("allow", self.allow),
        )  # fmt: skip
        for verdict, rules in order:
            if any(_matches(rule, tool, subject) for rule in rules):
                return verdict
        return "allow" if tool in HARMLESS else "ask"


def _matches(rule: str, tool: str, subject: str) -> bool:
    name, mark, pattern = rule.partition(":")
    if not fnmatch.fnmatchcase(tool, name):
        return False
    return not mark or fnmatch.fnmatchcase(subject, pattern)


def permissions(project: str, allow: Sequence[str] = (), file: Path | None = None) -> Permissions:
    """The user's rules for everywhere and for one project, and what this run allows besides."""
    told = _read(file or config_home() / "permissions.toml")
    own = told.get("projects", {}).get(project, {}) if project else {}
    return Permissions(
        allow=(*_rules(told, "allow"), *_rules(own, "allow"), *allow),
        ask=(*_rules(told, "ask"), *_rules(own, "ask")),
        deny=(*_rules(told, "deny"), *_rules(own, "deny")),
    )


def _rules(told: dict[str, Any], name: str) -> list[str]:
    rules = told.get(name, [])
    if not isinstance(rules, list) or not all(isinstance(one, str) for one in rules):
        raise Misuse(f"permissions.toml: {name} must be a list of texts")
    return [str(one) for one in rules]


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Misuse(f"{file} cannot be read: {error}") from error
