"""Scaffolding: the tags in which a harness speaks to a model, and content that cannot forge them.

Rule 1: every tag is in one table, with the role it is said in and the condition it is said on.
Rule 2: content inside a tag never contains an opening or closing mark of any tag of the table;
        where it does, the mark is written with `&lt;`. Escaping twice changes nothing more.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from holdfast.model.message import Role


class Tag(Struct, frozen=True):
    """One tag: its name, who says it, and when."""

    name: str
    role: Role
    when: str


TAGS: Final[dict[str, Tag]] = {
    tag.name: tag
    for tag in (
        # What Codex says.
        Tag("model_switch", "developer", "the model changed between turns"),
        Tag("permissions instructions", "developer", "always: sandbox and approval rules"),
        Tag("collaboration_mode", "developer", "the mode in use has instructions"),
        Tag("realtime_conversation", "developer", "a realtime conversation begins or ends"),
        Tag("personality_spec", "developer", "a personality is set and not in the base prompt"),
        Tag("apps_instructions", "developer", "apps or connectors are enabled"),
        Tag("skills_instructions", "developer", "the session has skills"),
        Tag("plugins_instructions", "developer", "plug-ins are present"),
        Tag("INSTRUCTIONS", "user", "the project or the user has written instructions"),
        Tag("environment_context", "user", "at first in full, later what has changed"),
        Tag("skill", "user", "a skill was asked for, in full"),
        Tag("image", "user", "around an attached picture"),
        Tag("user_shell_command", "user", "the user ran a command of their own"),
        Tag("turn_aborted", "user", "the turn before was interrupted"),
        Tag("subagent_notification", "user", "a subtask has news"),
        Tag("proposed_plan", "assistant", "plan mode: the plan itself"),
        Tag("user_action", "user", "a structured action such as a review"),
        # What Claude Code says.
        Tag("system-reminder", "user", "context, recalled notes and hooks, not the user's words"),
        Tag("env", "system", "where the agent runs"),
        Tag("available-deferred-tools", "user", "tools that are found by searching for them"),
        Tag("analysis", "assistant", "a summariser's draft, stripped"),
        Tag("summary", "assistant", "a summariser's answer, extracted"),
        Tag("current_notes_content", "user", "session notes as they stand, to be updated"),
        Tag("budget:token_budget", "user", "at the start, for models that know it"),
        Tag("system_warning", "user", "after tool results, for models that know it"),
        # What Holdfast says.
        Tag("conversation_summary", "user", "what a summary stands for, as background"),
        Tag("conversation", "user", "a stretch of a conversation, to be summarised"),
        Tag("focus", "user", "what a summary is to dwell on"),
        Tag("earlier_message", "user", "something said before a summary, kept word for word"),
        Tag("ledger", "user", "the facts of a summarised stretch, computed"),
        Tag("pinned", "user", "what the user pinned"),
        Tag("recalled", "user", "something that had left the window is back"),
        Tag("repo_map", "user", "an outline of the repository"),
        Tag("file", "user", "a file, read-only or in the chat"),
        Tag("token_budget", "user", "how much of the window is left"),
    )
}

_MORE = (
    "user_instructions", "command-name", "command-message", "command-args",
    "local-command-caveat", "local-command-stdout", "bash-input", "bash-stdout", "bash-stderr",
    "attached_files", "current_datetime", "hook_prompt", "mcp-resource-update", "new-diagnostics",
    "persisted-output", "recommended_plugins", "scheduled-task", "session_context",
)  # fmt: skip
"""Tags that programs put before what somebody said, though no window of ours holds them."""

_EDITOR = r"ide_[a-z_]+"
"""What an editor adds of its own: the file that is open, the lines that are selected."""

_NAMES = "|".join(re.escape(name) for name in sorted(TAGS, key=len, reverse=True))
_MARK = re.compile(rf"<(?=/?\s*(?:{_NAMES})[\s>/])", re.IGNORECASE)

_BY_USER = "|".join((
    *(re.escape(one.name) for one in TAGS.values() if one.role in ("user", "developer")), *_MORE,
    _EDITOR,
))  # fmt: skip
"""What a harness says in the user's role: `<env>` and `<summary>` stand in nobody's name there."""

_OPENING = re.compile(
    rf"\s*(?:# AGENTS\.md instructions[^\n]*|<({_BY_USER})(?:\s[^>]*)?>)",
    re.IGNORECASE,
)


def own_words(text: str) -> str:
    """What is left of a text once the scaffolding at its beginning is taken off."""
    at = 0
    while found := _OPENING.match(text, at):
        at = found.end()
        if found[1]:
            closing = re.compile(f"</{re.escape(found[1])}>", re.IGNORECASE).search(text, at)
            at = closing.end() if closing else len(text)
    return text[at:].strip()


def wrap(name: str, content: str, **attributes: str) -> str:
    """Content inside a tag of the table."""
    if name not in TAGS:
        raise KeyError(f"no scaffold tag {name!r}")
    given = "".join(f' {key}="{_quoted(value)}"' for key, value in attributes.items())
    return f"<{name}{given}>\n{escape(content)}\n</{name}>"


def around(name: str, content: str) -> str:
    """A tag of the table around content that is escaped already."""
    if name not in TAGS:
        raise KeyError(f"no scaffold tag {name!r}")
    return f"<{name}>\n{content}\n</{name}>"


def escape(content: str) -> str:
    """Content with every mark that could pass for scaffolding made plain text."""
    return _MARK.sub("&lt;", content) if "<" in content else content


def _quoted(value: str) -> str:
    return escape(value).replace('"', "&quot;").replace("\n", " ")


ENVIRONMENT = "environment_context"

_VALUE = re.compile(r"([A-Za-z_][\w.-]*): (.*)")


def elements(text: str) -> dict[str, str]:
    """The values of a text that is nothing but `key: value`, one a line; none of any other."""
    lines = [_VALUE.fullmatch(line) for line in text.splitlines() if line]
    told = {found[1]: found[2] for found in lines if found}
    return told if len(told) == len(lines) else {}


def environment(values: dict[str, str]) -> str:
    """The environment as Codex writes it: one element a value, in the order given.

    `network.allowed` stands inside `network`, and `network.enabled` is an attribute of it."""
    lines: list[str] = []
    for key in dict.fromkeys(name.partition(".")[0] for name in values):
        own = values.get(key, "")
        inner = {n.partition(".")[2]: v for n, v in values.items() if n.startswith(f"{key}.")}
        lines += _element(key, own, inner)
    return "\n".join(("<environment_context>", *lines, "</environment_context>"))


def _element(key: str, own: str, inner: dict[str, str]) -> list[str]:
    """One value, or one with others inside."""
    enabled = f' enabled="{_quoted(inner["enabled"])}"' if "enabled" in inner else ""
    below = [f"    <{k}>{escape(v)}</{k}>" for k, v in inner.items() if k != "enabled"]
    if not below:
        return [f"  <{key}{enabled}>{escape(own)}</{key}>"]
    own_line = [f"    {escape(own)}"] if own else []
    return [f"  <{key}{enabled}>", *own_line, *below, f"  </{key}>"]
