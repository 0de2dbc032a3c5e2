"""What the ledger makes of every kind of call, answer and message: tests/golden/facts.txt.

The same log must tell the same facts, in this version and the next. Each block is a call as some
agent writes it, with what it answered, and the facts that follow; below it, what each field of its
input changes. A change that is meant is taken over with

    python -m tests.ledger.test_facts_table

and its difference read before it is committed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.render import render
from holdfast.model.ledger import Ledger
from holdfast.model.log import Entry, Redo, Rewind, Undo
from holdfast.model.message import Patch, Subtask, ToolCall, ToolResult, assistant, tool, user
from holdfast.testing.factories import NOON, entry
from tests.changing import compare

GOLDEN = Path(__file__).parents[1] / "golden" / "facts.txt"


def test_every_call_tells_the_facts_that_are_written_down() -> None:
    compare(GOLDEN, described(), "tests.ledger.test_facts_table")


def described() -> str:
    return "\n".join([*_calls(), *_endings(), *_sessions()]) + "\n"


# Calls, as the agents write them.

DIFF = "*** Begin Patch\n*** Add File: n.py\n+a\n+b\n*** Update File: o.py\n*** Move to: p.py\n@@\n-x\n+y\n*** Delete File: q.py\n*** End Patch\n"  # noqa: E501
TODOS = [
    {"content": "Mend it", "status": "completed", "id": "1"},
    {"content": "Try it", "status": "in_progress", "id": "2", "activeForm": "Trying it"},
    {"content": "Ship it", "status": "pending", "priority": "high"},
    {"content": "Forget it", "status": "cancelled"},
]
PLAN = [{"step": "Look", "status": "done"}, {"step": "Build", "status": "active"},
        {"title": "Rest", "status": "todo"}]  # fmt: skip
CALLS: list[tuple[str, Any, str]] = [
    ("Read", {"file_path": "/p/a.py"}, "1\tx = 1\n2\ty = 2\n"),
    ("Read", {"file_path": "/p/a.py", "offset": 10, "limit": 5}, "    10\u2192x\n"),
    ("NotebookRead", {"notebook_path": "/p/n.ipynb"}, "cells"),
    ("read_file", {"absolute_path": "/p/g.py", "start_line": 2, "end_line": 9}, "text"),
    ("view", {"path": "/p/v.py", "view_range": [1, 20]}, "text"),
    ("view_image", {"path": "shot.png"}, "an image"),
    ("read", {"filePath": "/p/o.ts"}, "<file>\n00001| a\n</file>"),
    ("Write", {"file_path": "w.py", "content": "a\nb\nc\n"}, "File created successfully at: w.py"),
    ("write_file", {"file_path": "w.py", "content": "a"}, "Successfully created file."),
    ("write", {"path": "w.py", "content": "a\nb"}, "wrote w.py (2 lines)"),
    ("Edit", {"file_path": "e.py", "old_string": "a\nb", "new_string": "a\nc\nd"}, "updated"),
    ("MultiEdit", {"file_path": "e.py", "edits": [{"old_string": "a", "new_string": "b"},
        {"old_string": "c\nd", "new_string": ""}, 7]}, "Applied 2 edits"),
    ("NotebookEdit", {"notebook_path": "n.ipynb", "new_source": "x\ny"}, "Updated cell 1"),
    ("edit", {"filePath": "o.ts", "oldString": "a", "newString": "b"}, "ok"),
    ("edit", {"path": "pi.ts", "oldText": "a\nb", "newText": "b"}, "ok"),
    ("edit", {"path": "c.ts", "old_str": "a", "new_str": "b\nc"}, "File c.ts updated"),
    ("edit", {"path": "s.ts", "old": "a", "new": "b\nc"}, "ok"),
    ("replace", {"file_path": "g.py", "old_string": "a", "new_string": ""}, "modified"),
    ("delete", {"path": "gone.py"}, "deleted"),
    ("move", {"from": "a.py", "to": "b.py"}, "moved"),
    ("apply_patch", {"input": DIFF}, "Success. Updated the following files:\nA n.py\nM p.py\nD q.py"),  # noqa: E501
    ("apply_patch", DIFF, "Done!"),
    ("patch", {"patchText": DIFF}, "ok"),
    ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{DIFF}EOF\n"]}, "Done!"),
    ("Bash", {"command": "make test", "description": "Run it"}, "3 passed"),
    ("Bash", {"command": "sed -i s/a/b/ x.py && rm y.py && mv a.md b.md"}, ""),
    ("Bash", {"command": "cat a.py; head -3 b.py | grep x > out.txt"}, "text"),
    ("Bash", {"command": "cd /srv && git commit -m 'Mend the roof'"}, "[main 1a2b3c4] Mend the roof"),  # noqa: E501
    ("PowerShell", {"command": "ls"}, "a"),
    ("shell", {"command": ["bash", "-lc", "pytest -q"], "workdir": "/p"}, '{"output": "1 failed", "metadata": {"exit_code": 1}}'),  # noqa: E501
    ("exec_command", {"cmd": "npm test"}, "Chunk ID: 1\nWall time: 1 s\nProcess exited with code 2\nOutput:\nbad"),  # noqa: E501
    ("shell_command", {"command": "ls"}, "Exit code: 0\nWall time: 0.1 seconds\nOutput:\na"),
    ("local_shell_call", {"command": ["ls", "-l"]}, "a"),
    ("run_shell_command", {"command": "make"}, "Command: make\nOutput: no\nExit Code: 2"),
    ("bash", {"command": "make"}, "bad\n[exit status 2]"),
    ("exec", {"script": "ls"}, "a"),
    ("Grep", {"pattern": "x", "path": "src"}, "src/a.py"),
    ("Glob", {"pattern": "*.py"}, "a.py"),
    ("LS", {"path": "/p"}, "a"),
    ("grep", {"pattern": "x"}, "none"),
    ("list_directory", {"path": "/p"}, "a"),
    ("search_file_content", {"pattern": "x"}, "a"),
    ("TodoWrite", {"todos": TODOS}, "Todos have been modified"),
    ("write_todos", {"todos": TODOS[:2]}, "ok"),
    ("todowrite", {"todos": json.dumps(TODOS)}, "ok"),
    ("todo", {"steps": ["one", "two"]}, "ok"),
    ("update_plan", {"plan": PLAN, "explanation": "now"}, "Plan updated"),
    ("TaskCreate", {"subject": "Mend", "description": "all of it"}, "Task #4 created successfully: Mend"),  # noqa: E501
    ("TaskUpdate", {"taskId": "4", "status": "completed"}, "Updated task #4"),
    ("Task", {"description": "Look around", "prompt": "Look!", "subagent_type": "x"}, "All is well."),  # noqa: E501
    ("Agent", {"prompt": "Look!"}, "Async agent launched successfully.\nagentId: a1b2"),
    ("spawn_agent", {"message": "Look!"}, '{"agent_id": "a7"}'),
    ("AskUserQuestion", {"questions": [{"question": "Which?"}]}, "The second."),
    ("ExitPlanMode", {"plan": "1. Look\n2. Mend"}, "User has approved your plan."),
    ("mcp__tracker__close", {"id": 7, "note": "done"}, "closed"),
    ("Bash", '{"command": "make te', "cut"),
    ("Read", "", "nothing"),
]  # fmt: skip


def _calls() -> Iterator[str]:
    for name, input, output in CALLS:
        whole = _facts(_done(name, input, output))
        yield f"{name} {json.dumps(input)} -> {json.dumps(output)}"
        yield from (f"  {line}" for line in whole)
        for field in input if isinstance(input, dict) else ():
            for word, made in _with(input, field):
                found = _facts(_done(name, made, output))
                yield f"  {word} {field}{'' if found != whole else ': the same'}"
                yield from (f"    - {line}" for line in whole if line not in found)
                yield from (f"    + {line}" for line in found if line not in whole)


def _with(input: dict[str, Any], field: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "without", {name: one for name, one in input.items() if name != field}
    strange = 7 if isinstance(input[field], str) else "other"
    yield "with another", {**input, field: strange}


def _done(name: str, input: Any, output: str, *, error: bool = False) -> list[Entry]:
    told = input if isinstance(input, str) else json.dumps(input)
    return [
        entry(1, assistant(ToolCall("c", name, told))),
        entry(2, tool(ToolResult("c", output, error, name)), created=NOON + 1_000),
    ]


# How a call may end.

OUTPUTS = (
    "", "ok", "Error: Exit code 3\nbad", "Exit code 3\nbad", "Exit code: 3\nWall time: 1 s\nbad",
    '{"output": "x", "metadata": {"exit_code": 5}}', '{"output": "x", "metadata": {"exit_code": 0}}',  # noqa: E501
    "x\nCommand exited with code 4", "[exit status 6]", "x\n[exit status 0]",
    "failed in sandbox None with exit code: 1, no", "Process exited with code 9\nOutput:\nx",
    "Command running in background with ID: b1", "Process running with session ID 3",
    "[Request interrupted by user]", "The user doesn't want to proceed with this tool use.",
    "Command: x\nOutput: y\nExit Code: 1", "Exit Code: 1", "command timed out after 10 s",
    "<tool_use_error>File has not been read yet.</tool_use_error>", "Traceback (most recent call last)",  # noqa: E501
)  # fmt: skip


def _endings() -> Iterator[str]:
    for name, input in (("Bash", {"command": "make"}), ("shell", {"command": ["make"]}),
                        ("Edit", {"file_path": "e", "old_string": "a", "new_string": "b"}),
                        ("run_shell_command", {"command": "make"})):  # fmt: skip
        for output in OUTPUTS:
            for error in (False, True):
                yield f"{name}{', marked as an error' if error else ''} -> {json.dumps(output)}"
                yield from (f"  {line}" for line in _facts(_done(name, input, output, error=error)))


# Whole sessions.


def _log(*bodies: Any) -> list[Entry]:
    return [entry(seq, body, created=NOON + seq * 60_000) for seq, body in enumerate(bodies, 1)]


RUN = json.dumps({"command": "make test"})
SESSIONS: dict[str, list[Entry]] = {
    "asked, and answered": _log(user("Mend the roof of src/roof.py."), assistant("Done.")),
    "asked, corrected, asked": _log(
        user("Use tabs in src/a.py."), assistant("I used spaces."),
        user("No, that's wrong: I said tabs. Never use spaces."), assistant("Now tabs."),
        user("Thanks. Now add a test, but don't touch the migrations."),
    ),
    "failed, then mended": _log(
        user("Make the tests pass."), assistant(ToolCall("1", "Bash", RUN)),
        tool(ToolResult("1", "Exit code 1\nFAILED tests/test_a.py::test_b", True, "Bash")),
        assistant("I see.", ToolCall("2", "Edit", '{"file_path": "a.py", "old_string": "x", "new_string": "y"}')),  # noqa: E501
        tool(ToolResult("2", "updated", name="Edit")),
        assistant(ToolCall("3", "Bash", RUN)), tool(ToolResult("3", "1 passed", name="Bash")),
        assistant("All tests pass now."),
    ),
    "nothing answered yet": _log(
        user("Look."), assistant(ToolCall("1", "Bash", RUN), ToolCall("2", "Read", '{"file_path": "a"}')),  # noqa: E501
        tool(ToolResult("2", "x", name="Read")),
    ),
    "read, changed, read": _log(
        user("Look."), assistant(ToolCall("1", "Read", '{"file_path": "a.py"}')),
        tool(ToolResult("1", "x", name="Read")),
        assistant(ToolCall("2", "Write", '{"file_path": "a.py", "content": "y"}')),
        tool(ToolResult("2", "ok", name="Write")),
        assistant(ToolCall("3", "Read", '{"file_path": "a.py"}')), tool(ToolResult("3", "y", name="Read")),  # noqa: E501
        assistant(ToolCall("4", "Bash", '{"command": "rm a.py"}')), tool(ToolResult("4", "", name="Bash")),  # noqa: E501
    ),
    "rewound": _log(
        user("Use red."), assistant("Red."), user("Use blue, never green."), assistant("Blue."),
        Rewind(to=2), user("Use black."), assistant("Black."),
    ),
    "rewound, undone, redone": _log(
        user("Use red."), assistant("Red."), user("Use blue."), Rewind(to=2), Undo(marker=4),
        user("And now?"), Redo(marker=5),
    ),
    "patches and subtasks": _log(
        user("Build."), assistant(Patch("--- a/x\n+++ b/x\n@@\n-1\n+2\n", ("x",))),
        assistant(Subtask("s1", "Look at it.", "It is fine.")),
        assistant("x.py\n<<<<<<< SEARCH\na\n=======\nb\nc\n>>>>>>> REPLACE\n"),
    ),
    "plans follow one another": _log(
        user("Plan."), assistant(ToolCall("1", "TodoWrite", json.dumps({"todos": TODOS}))),
        tool(ToolResult("1", "ok", name="TodoWrite")),
        assistant(ToolCall("2", "TaskCreate", '{"subject": "More"}')),
        tool(ToolResult("2", "Task #9 created successfully: More", name="TaskCreate")),
        assistant(ToolCall("3", "TaskUpdate", '{"taskId": "9", "status": "in_progress"}')),
        tool(ToolResult("3", "Updated task #9", name="TaskUpdate")),
    ),
    "names": _log(
        user("See https://example.org/a?b=1, commit 1a2b3c4d5e6f, port 8081, ABC-123 and `foo_bar()`."),  # noqa: E501
        assistant("Commit 1a2b3c4d5e6f changes foo_bar in src/app/main.py:12; ABC-123 is open."),
        user("Then 192.168.0.7:5432 and 550e8400-e29b-41d4-a716-446655440000."),
    ),
    "decided": _log(
        user("Which database?"), assistant("Decision: we use SQLite, because it is one file."),
        user("Agreed. We decided to keep it simple."),
    ),
}  # fmt: skip


def _sessions() -> Iterator[str]:
    for title, entries in SESSIONS.items():
        known = ledger(entries)
        yield f"{title}:"
        yield from (f"  {line}" for line in _lines(known))
        for budget in (4_000, 120, 60):
            yield f"  in {budget} tokens:"
            yield from (f"  | {line}" for line in render(known, budget).splitlines())


# Facts as lines.


def _facts(entries: list[Entry]) -> list[str]:
    return _lines(ledger(entries))


def _lines(known: Ledger) -> list[str]:
    """One line for each fact."""
    lines: list[str] = []
    for name, value in msgspec.to_builtins(known, builtin_types=(bytes,)).items():
        each = value if isinstance(value, list | tuple) else [value]
        lines += [f"{name} {json.dumps(one, default=repr)}" for one in each]
    return [line for line in lines if not line.startswith(("seq ", "weight "))]


def main() -> None:
    """Write down what the ledger makes of them now."""
    GOLDEN.write_text(described(), "utf-8")


if __name__ == "__main__":
    main()
