"""How the tools of each agent are read: one table, so that a new tool is one more line.

Rule 1: a tool is known by its name, letter for letter; an unknown tool tells the ledger nothing.
Rule 2: where two agents give one name to tools of their own, the line lists the fields of both.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

Deed = Literal[
    "read", "write", "edit", "delete", "move", "patch", "run", "script", "plan", "task-new",
    "task-set", "delegate", "ask", "propose", "look",
]  # fmt: skip


class Reading(Struct, frozen=True, kw_only=True):
    """What a tool does, and the fields of its input that say to what."""

    deed: Deed
    subject: tuple[str, ...] = ()
    """Fields that hold the path, the command or the title; the first one there counts."""
    content: tuple[str, ...] = ()
    """Fields that hold a whole content or a list of steps."""
    target: tuple[str, ...] = ()
    part: tuple[str, ...] = ()
    """Fields that say that only a part was read."""
    silent: bool = False
    """Whether the agent writes a status only where it is not 0."""
    flagged: bool = False
    """Whether the agent marks each failure, so that no mark means success."""


_PATH = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "file", "filename")
_LINE = ("command", "cmd", "script")
_PART = ("offset", "limit", "start_line", "end_line", "line_start", "line_end", "view_range")


def _tools(names: str, reading: Reading) -> dict[str, Reading]:
    return dict.fromkeys(names.split(), reading)


TOOLS: Final[dict[str, Reading]] = {
    # Claude Code
    **_tools("Read NotebookRead", Reading(deed="read", subject=_PATH, part=_PART, flagged=True)),
    **_tools("Write", Reading(deed="write", subject=_PATH, content=("content",), flagged=True)),
    **_tools("Edit MultiEdit NotebookEdit", Reading(deed="edit", subject=_PATH, flagged=True)),
    **_tools("Bash PowerShell", Reading(deed="run", subject=_LINE, flagged=True)),
    **_tools("Grep Glob LS", Reading(deed="look", subject=("pattern", "path"), flagged=True)),
    **_tools("TodoWrite", Reading(deed="plan", content=("todos",))),
    **_tools("TaskCreate", Reading(deed="task-new", subject=("subject", "description"))),
    **_tools("TaskUpdate", Reading(deed="task-set", subject=("taskId", "task_id", "id"))),
    **_tools("Task Agent", Reading(deed="delegate", subject=("description", "prompt"))),
    **_tools("AskUserQuestion", Reading(deed="ask")),
    **_tools("ExitPlanMode", Reading(deed="propose", content=("plan",), flagged=True)),
    # Codex
    **_tools(
        "shell shell_command exec_command local_shell local_shell_call container.exec",
        Reading(deed="run", subject=_LINE),
    ),
    **_tools("apply_patch applypatch patch", Reading(deed="patch", subject=("input", "patch",
        "patchText", "diff"))),
    **_tools("exec", Reading(deed="script", subject=_LINE)),
    **_tools("update_plan", Reading(deed="plan", content=("plan",))),
    **_tools("view_image", Reading(deed="read", subject=_PATH)),
    **_tools("spawn_agent", Reading(deed="delegate", subject=("message", "prompt", "task"))),
    # Gemini CLI
    **_tools("read_file", Reading(deed="read", subject=_PATH, part=_PART)),
    **_tools("write_file", Reading(deed="write", subject=_PATH, content=("content",))),
    **_tools("replace", Reading(deed="edit", subject=_PATH)),
    **_tools("run_shell_command", Reading(deed="run", subject=_LINE, silent=True)),
    **_tools("list_directory search_file_content grep_search", Reading(deed="look",
        subject=("pattern", *_PATH))),
    **_tools("write_todos", Reading(deed="plan", content=("todos",))),
    # Copilot CLI
    **_tools("view", Reading(deed="read", subject=_PATH, part=_PART)),
    # OpenCode, Pi, and our own
    **_tools("read", Reading(deed="read", subject=_PATH, part=_PART)),
    **_tools("write", Reading(deed="write", subject=_PATH, content=("content",))),
    **_tools("edit multiedit", Reading(deed="edit", subject=_PATH)),
    **_tools("delete", Reading(deed="delete", subject=_PATH)),
    **_tools("move", Reading(deed="move", subject=("from", *_PATH), target=("to", "target"))),
    **_tools("bash", Reading(deed="run", subject=_LINE)),
    **_tools("grep glob list", Reading(deed="look", subject=("pattern", *_PATH))),
    **_tools("todowrite todo", Reading(deed="plan", content=("todos", "steps"))),
    **_tools("task subtask", Reading(deed="delegate", subject=("description", "prompt"))),
    **_tools("question", Reading(deed="ask")),
}  # fmt: skip

PROGRESS: Final = {
    "pending": "pending",
    "todo": "pending",
    "not_started": "pending",
    "in_progress": "in_progress",
    "in-progress": "in_progress",
    "active": "in_progress",
    "completed": "completed",
    "done": "completed",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "deleted": "cancelled",
}
"""How each agent calls the progress of a step."""
