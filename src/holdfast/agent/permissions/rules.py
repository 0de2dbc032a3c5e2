"""What the agent may do without asking: rules of the user's own, never of a repository.

A rule is `tool` or `tool:pattern`, the pattern matching the path or the command. Of several that
match, deny beats ask beats allow. What no rule names is asked, but for looking around; the answer
`always` becomes a rule for the project, in the user's own file. To allow, a pattern must match the
whole of one simple command; to deny or to ask, it is enough that it matches a part of the line. A
command that a rule might forbid, had the shell made up its words, is asked about.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from holdfast.agent.permissions.match import allows, catches, might_catch, spells_out
from holdfast.core.log.tool_input import arguments
from holdfast.errors import InvalidRequest
from holdfast.files import config_home
from holdfast.model.message import ToolCall

Verdict = Literal["allow", "ask", "deny"]
Approval = Literal["yes", "no", "always"]
Asked = Callable[[ToolCall], Approval]
"""Asks the user whether a call may be made."""

SOURCES: Final = {"yes": "user_temporary", "no": "user_reject", "always": "user_permanent"}
"""What an answer of the user's counts as, for whoever measures."""

LOOKING: Final = frozenset(
    {"read", "grep", "glob", "list", "recall", "search_history", "tool_search", "subtask", "skill"}
)
"""Tools that only look, a subtask's own calls being asked for one by one."""

HARMLESS: Final = LOOKING | {"todo", "remember", "forget"}
"""Tools that need no leave."""


class Permissions(Struct, frozen=True, kw_only=True):
    """The rules in force for one project."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    root: str = ""
    """The directory that paths are relative to."""

    def verdict(self, tool: str, fields: dict[str, Any]) -> Verdict:
        """What is to be done with a call."""
        told = (tool, fields, self.root)
        if any(catches(rule, *told) for rule in self.deny):
            return "deny"
        if any(catches(rule, *told) for rule in self.ask):
            return "ask"
        if any(spells_out(rule, tool, fields) for rule in self.allow):
            return "allow"
        if any(might_catch(rule, tool, fields) for rule in (*self.deny, *self.ask)):
            return "ask"
        allowed = tool in HARMLESS or any(allows(rule, *told) for rule in self.allow)
        return "allow" if allowed else "ask"

    def shows(self, path: str) -> bool:
        """Whether a search may show lines of a file: those that may be read without asking."""
        fields = {"path": path}
        return self.verdict("read", fields) == "allow" and self.verdict("grep", fields) != "deny"


class Judge:
    """Who says whether a call may be made: the rules, and where they are silent the user."""

    def __init__(
        self,
        rules: Permissions,
        ask: Asked = lambda _: "no",
        remember: Callable[[str], None] = lambda _: None,
        decided: Callable[[ToolCall, bool, str], None] = lambda *_: None,
    ) -> None:
        self.rules = rules
        self._ask = ask
        self._remember = remember
        self._decided = decided

    def allows(self, call: ToolCall) -> bool:
        """Whether a call may be made."""
        allowed, source = self._judged(call)
        self._decided(call, allowed, source)
        return allowed

    def shows(self, path: str) -> bool:
        """Whether a search may show lines of a file."""
        return self.rules.shows(path)

    def _judged(self, call: ToolCall) -> tuple[bool, str]:
        """Whether it may be made, and who said so."""
        fields = arguments(call.input)
        verdict = self.rules.verdict(call.name, fields)
        if verdict != "ask":
            return verdict == "allow", "config"
        told = self._ask(call)
        if told == "always":
            self._allow(rule_for(call.name, fields))
        return told in ("yes", "always"), SOURCES.get(told, SOURCES["no"])

    def _allow(self, rule: str) -> None:
        self.rules = replace(self.rules, allow=(*self.rules.allow, rule))
        self._remember(rule)


def rule_for(tool: str, fields: dict[str, Any]) -> str:
    """The rule that allows a call for good: a command as it is, any other tool as a whole."""
    if tool != "shell":
        return tool
    command = str(fields.get("command") or "")
    return f"{tool}:{re.sub(r'[*?[]', lambda found: f'[{found[0]}]', command)}"


def permissions(
    project: str, allow: Sequence[str] = (), file: Path | None = None, *, root: str = ""
) -> Permissions:
    """The user's rules for everywhere and for one project, and what this run allows besides."""
    told = read(file or place())
    own = told.get("projects", {}).get(project, {}) if project else {}
    return Permissions(
        allow=(*_rules(told, "allow"), *_rules(own, "allow"), *allow),
        ask=(*_rules(told, "ask"), *_rules(own, "ask")),
        deny=(*_rules(told, "deny"), *_rules(own, "deny")),
        root=root,
    )


def place() -> Path:
    """Where the rules are."""
    return config_home() / "permissions.toml"


def _rules(told: dict[str, Any], name: str) -> list[str]:
    rules = told.get(name, [])
    if not isinstance(rules, list) or not all(isinstance(one, str) for one in rules):
        raise InvalidRequest(f"permissions.toml: {name} must be a list of texts")
    return [str(one) for one in rules]


def read(file: Path) -> dict[str, Any]:
    """What a file of rules says; nothing where there is none."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidRequest(f"{file} cannot be read: {error}") from error
