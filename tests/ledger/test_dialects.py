"""Each agent's tools are read as that agent writes them."""

import json
from hashlib import sha256

import pytest

from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.facts.files import replaced
from holdfast.model.ledger import File
from holdfast.model.message import Message, assistant, user
from tests.ledger.saying import asked, done, imported, said, used

ADDED = "*** Begin Patch\n*** Add File: a/new.py\n+x\n*** Update File: a/old.py\n"
ADDED += "*** Move to: b/old.py\n@@\n-x\n+y\n*** Delete File: a/gone.py\n*** End Patch"
SUCCESS = '{"output":"Success.","metadata":{"exit_code":0,"duration_seconds":0.1}}'

FILES = [
    ("Read", {"file_path": "/a.py"}, "     1→x\n     2→y", "none"),
    (
        "Write",
        {"file_path": "/a.py", "content": "x"},
        "File created successfully at: /a.py",
        "created",
    ),
    (
        "Write",
        {"file_path": "/a.py", "content": "x"},
        "The file /a.py has been updated.",
        "changed",
    ),
    ("Edit", {"file_path": "/a.py"}, "The file /a.py has been updated.", "changed"),
    ("MultiEdit", {"file_path": "/a.py"}, "Applied 3 edits to /a.py", "changed"),
    ("NotebookEdit", {"notebook_path": "/a.py"}, "Updated cell 3", "changed"),
    ("read_file", {"absolute_path": "/a.py"}, "x", "none"),
    ("read_file", {"file_path": "/a.py"}, "x", "none"),
    (
        "write_file",
        {"file_path": "/a.py", "content": "x"},
        "Successfully created and wrote to new file: /a.py.",
        "created",
    ),
    (
        "write_file",
        {"file_path": "/a.py", "content": "x"},
        "Successfully overwrote file: /a.py.",
        "changed",
    ),
    (
        "replace",
        {"file_path": "/a.py"},
        "Successfully modified file: /a.py (1 replacements).",
        "changed",
    ),
    ("read", {"filePath": "/a.py"}, "<path>/a.py</path>", "none"),
    ("write", {"filePath": "/a.py", "content": "x"}, "Wrote file successfully.", "written"),
    ("edit", {"filePath": "/a.py"}, "Edit applied successfully.", "changed"),
    ("delete", {"path": "/a.py"}, "Deleted.", "deleted"),
    ("view_image", {"path": "/a.py"}, "attached", "none"),
    (
        "apply_patch",
        {"patchText": "*** Begin Patch\n*** Add File: /a.py\n+x"},
        "Success.",
        "created",
    ),
]


@pytest.mark.parametrize(("name", "fields", "output", "change"), FILES)
def test_a_tool_for_files_is_read(
    name: str, fields: dict[str, str], output: str, change: str
) -> None:
    file = ledger(said(asked("go"), *used(name, fields, output))).files["/a.py"]
    assert file.change == change
    assert (file.read == 3) == (change == "none")


def changes(*bodies: Message) -> dict[str, str]:
    return {one.path: one.change for one in ledger(said(asked("go"), *bodies)).files.values()}


def test_a_patch_adds_updates_moves_and_deletes() -> None:
    wanted = {
        "a/new.py": "created",
        "a/old.py": "deleted",
        "b/old.py": "created",
        "a/gone.py": "deleted",
    }
    assert changes(*used("apply_patch", ADDED, SUCCESS)) == wanted
    heredoc = f"apply_patch <<'EOF'\n{ADDED}\nEOF"
    assert changes(*used("shell", {"command": ["bash", "-lc", heredoc]}, SUCCESS)) == wanted
    script = f"const p = {json.dumps(ADDED)};\ntext(await tools.apply_patch(p));"
    assert changes(*used("exec", script, "Script completed\nOutput:\n{}")) == wanted


def test_what_failed_changed_nothing() -> None:
    bad = '{"output":"no such line","metadata":{"exit_code":1}}'
    assert changes(*used("apply_patch", ADDED, bad)) == {}
    assert changes(*used("apply_patch", ADDED, "apply_patch verification failed: x")) == {}
    assert changes(*used("Edit", {"file_path": "/a.py"}, "<tool_use_error>no</>", error=True)) == {}
    refused = "The user doesn't want to proceed with this tool use."
    assert changes(*used("Write", {"file_path": "/a.py", "content": ""}, refused)) == {}


BLOCK = "shop/cart.py\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n"
FRESH = "shop/new.py\n<<<<<<< SEARCH\n=======\nb\n>>>>>>> REPLACE\n"


@pytest.mark.parametrize("fence", ["```python", "   ```python", "\t```"])
def test_the_file_of_a_block_stands_before_its_fence_indented_or_not(fence: str) -> None:
    block = f"shop/cart.py\n{fence}\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    assert [touch.path for touch in replaced(block)] == ["shop/cart.py"]


def test_blocks_of_search_and_replace_are_changes() -> None:
    answer = assistant("I change it:\n\n" + BLOCK + "\nand\n\n" + FRESH)
    assert changes(answer) == {"shop/cart.py": "changed", "shop/new.py": "created"}


def test_prose_before_a_block_is_no_path() -> None:
    assert (
        changes(assistant("Here it is then:\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE")) == {}
    )


SHELL = [
    ("rm -f old.txt", {"old.txt": "deleted"}),
    ("git rm a.py b.py", {"a.py": "deleted", "b.py": "deleted"}),
    ("mkdir -p x && mv a.py x/b.py", {"a.py": "deleted", "x/b.py": "written"}),
    ("cp a.py b.py", {"b.py": "written"}),
    ("touch a.py", {"a.py": "written"}),
    ("rm *.pyc", {}),
    ("rm $FILE", {}),
    ("rm a.py || true", {}),
    ("rm a.py; echo gone", {}),
    ("mv a.py x/", {}),
    ("echo x > a.py", {}),
    ("find . -name a.py | xargs rm", {}),
]


@pytest.mark.parametrize(("line", "wanted"), SHELL)
def test_only_what_a_command_says_plainly_is_read_off_it(line: str, wanted: dict[str, str]) -> None:
    known = ledger(said(asked("go"), *used("Bash", {"command": line})))
    assert {one.path: one.change for one in known.files.values()} == wanted
    assert all(one.inferred == "shell-verb" for one in known.files.values())


def test_a_command_that_failed_removes_nothing() -> None:
    known = ledger(
        said(asked("go"), *used("Bash", {"command": "rm a"}, "Exit code 1\nno", error=True))
    )
    assert known.files == {}


STATUSES = [
    ("Bash", "fine", False, None, "succeeded"),
    ("Bash", "Exit code 2\nno such file", True, 2, "failed"),
    ("Bash", "no such file", True, None, "failed"),
    ("Bash", "Exit code: 3\n", False, None, "succeeded"),
    ("Bash", "Command running in background with ID: b1", False, None, "running"),
    ("Bash", "The user doesn't want to proceed with this tool use.", True, None, "refused"),
    ("shell", '{"output":"x","metadata":{"exit_code":0}}', False, 0, "succeeded"),
    ("shell", '{"output":"x","metadata":{"exit_code":127}}', False, 127, "failed"),
    ("shell", '{"output":"x","metadata":{}}', False, None, "unknown"),
    ("shell_command", "Exit code: 1\nWall time: 2 seconds\nOutput:\nx", False, 1, "failed"),
    ("shell_command", "x\nExit code: 1\nWall time: 2 seconds\n", False, None, "unknown"),
    ("exec_command", "Chunk ID: a\nWall time: 1 s\nProcess exited with code 0\nOutput:\n", False, 0,
     "succeeded"),
    ("exec_command", "Wall time: 1 s\nProcess running with session ID 7\n", False, None, "running"),
    ("shell", "failed in sandbox Linux with execution error: denied, exit code: 101, stdout: x",
     False, 101, "failed"),
    ("run_shell_command", "Command: ls\nOutput: x\nExit Code: 0\nSignal: 0", False, 0, "succeeded"),
    ("run_shell_command", "Command: ls\nOutput: Exit Code: 0\nError: y\nExit Code: 2", False, 2,
     "failed"),
    ("run_shell_command", "Exit Code: 0 of something", False, None, "unknown"),
    ("bash", "x", False, None, "unknown"),
    ("bash", '{"output":"x","metadata":{"exit":2}}', False, 2, "failed"),
    ("bash", "x\n\nCommand exited with code 4", True, 4, "failed"),
    ("bash", "x", True, None, "failed"),
    ("shell", "x\n[exit status 0]", False, 0, "succeeded"),
    ("shell", "x[exit status 2]", False, 2, "failed"),
    ("shell", "[exit status 0]\nx", False, None, "unknown"),
    ("bash", "x\n[exit status 0]", False, None, "unknown"),
    ("shell", "The user did not allow shell. Do it another way.", True, None, "refused"),
    ("shell", "[interrupted]", True, None, "interrupted"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "output", "error", "status", "outcome"), STATUSES)
def test_a_status_is_told_or_unknown(
    name: str, output: str, error: bool, status: int | None, outcome: str
) -> None:
    bodies = used(name, {"command": "ls"}, output, error=error)
    (command,) = ledger(said(asked("go"), *bodies)).commands
    assert (command.line, command.exit, command.outcome) == ("ls", status, outcome)


def test_a_command_is_kept_as_it_was_given() -> None:
    known = ledger(
        said(
            *used("shell", {"command": ["bash", "-lc", "echo 'a  b'"]}),
            *used("shell", {"command": ["ls", "-l", "a b"]}),
            *used("local_shell", {"action": {"command": ["ls", "x"]}}),
        )
    )
    assert [one.line for one in known.commands] == ["echo 'a  b'", "ls -l 'a b'", "ls x"]


def test_a_written_file_is_known_by_its_content() -> None:
    content = "eins\nzwei\n"
    fields = {"file_path": "/a.txt", "content": content}
    file = ledger(said(asked("go"), *used("Write", fields, "File created successfully"))).files[
        "/a.txt"
    ]
    data = content.encode()
    assert (file.lines, file.size) == (2, len(data))
    assert file.hash == sha256(data).hexdigest()
    edited = used("Edit", {"file_path": "/a.txt"}, "The file /a.txt has been updated.")
    known = ledger(said(*used("Write", fields, "File created successfully"), *edited))
    assert known.files["/a.txt"] == File(path="/a.txt", change="created", seq=4)


def test_a_whole_listing_tells_the_lines_and_a_part_does_not() -> None:
    listing = "     1→a\n     2→b\n     3→c"
    whole = ledger(said(*used("Read", {"file_path": "/a"}, listing))).files["/a"]
    part = ledger(said(*used("Read", {"file_path": "/a", "limit": 3}, listing))).files["/a"]
    assert (whole.lines, part.lines) == (3, None)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("TodoWrite", {"todos": [{"content": "a", "status": "completed"}, {"content": "b"}]}),
        ("todowrite", {"todos": [{"content": "a", "status": "completed"}, {"content": "b"}]}),
        ("update_plan", {"plan": [{"step": "a", "status": "completed"}, {"step": "b"}]}),
        (
            "write_todos",
            {"todos": [{"description": "a", "status": "completed"}, {"description": "b"}]},
        ),
    ],
)
def test_a_plan_is_the_last_one_written(name: str, fields: dict[str, object]) -> None:
    plan = ledger(said(*used(name, fields, "ok"))).plans[-1]
    assert [(one.text, one.progress) for one in plan.steps] == [
        ("a", "completed"),
        ("b", "unknown"),
    ]


def test_tasks_are_created_and_updated_one_by_one() -> None:
    known = ledger(
        said(
            *used("TaskCreate", {"subject": "a"}, "Task #1 created successfully: a"),
            *used("TaskCreate", {"subject": "b"}, "Task #2 created successfully: b"),
            *used("TaskUpdate", {"taskId": "1", "status": "in_progress"}, "Updated task #1 status"),
        )
    )
    steps = known.plans[-1].steps
    assert [(one.id, one.progress) for one in steps] == [("1", "in_progress"), ("2", "pending")]


def test_a_subtask_runs_until_it_is_told_otherwise() -> None:
    launched = "Async agent launched successfully.\nagentId: abc1 (internal)"
    begun = said(*used("Task", {"description": "look around"}, launched))
    assert [(one.outcome, one.name) for one in ledger(begun).subtasks] == [("running", "abc1")]
    notice = "<task-notification>\n<task-id>abc1</task-id>\n<status>completed</status>"
    notice += "</task-notification>"
    over = imported(*used("Task", {"description": "look around"}, launched), user(notice))
    assert [one.outcome for one in ledger(over).subtasks] == ["succeeded"]
    came = ledger(said(*used("task", {"description": "look around"}, "Here is what I found.")))
    assert [(one.outcome, one.inferred) for one in came.subtasks] == [("succeeded", "came-back")]


def test_answers_and_marked_lines_are_decisions() -> None:
    answers = 'User has answered your questions: "Which one?"="The second". Go on.'
    known = ledger(
        said(asked("go"), *used("AskUserQuestion", {}, answers), done("Decision: use tabs"))
    )
    assert [(one.text, one.inferred) for one in known.decisions] == [
        ("Which one? → The second", "question-answered"),
        ("use tabs", "marked-as-decision"),
    ]


def test_a_problem_is_resolved_when_the_same_thing_goes_well() -> None:
    known = ledger(
        said(
            *used("Bash", {"command": "make"}, "Exit code 2\nno rule", error=True),
            *used(
                "Read", {"file_path": "/x"}, "<tool_use_error>File does not exist.</>", error=True
            ),
            *used("Bash", {"command": "make"}, "ok"),
        )
    )
    told = [(one.subject, one.text, one.resolved, one.inferred) for one in known.problems]
    assert told == [
        ("make", "no rule", 6, "same-command-succeeded"),
        ("/x", "<tool_use_error>File does not exist.</>", 0, ""),
    ]


def test_a_call_left_without_a_result_leaves_its_file_unknown() -> None:
    edit, _ = used("Edit", {"file_path": "/a.py"})
    run, _ = used("Bash", {"command": "make"})
    known = ledger(said(asked("go"), edit, run, asked("stop")))
    assert known.files["/a.py"].change == "unknown"
    assert [(one.outcome, one.exit) for one in known.commands] == [("interrupted", None)]


def test_input_that_is_no_object_tells_nothing() -> None:
    for given in ("", "null", "[1]", "{", '"x"', '{"file_path": 3, "command": {}}', "[" * 9999):
        for name in ("Read", "Write", "Edit", "Bash", "shell", "TodoWrite", "Task", "apply_patch"):
            known = ledger(said(*used(name, given, "ok")))
            assert not known.files
            assert not known.commands


def test_a_moved_file_is_gone_from_one_place_and_there_in_the_other() -> None:
    assert changes(*used("move", {"from": "a.py", "to": "b.py"}, "ok")) == {
        "a.py": "deleted",
        "b.py": "written",
    }
    assert changes(*used("move", {"from": "a.py"}, "ok")) == {}


def test_a_file_that_was_known_and_is_written_again_is_changed() -> None:
    write = {"filePath": "a.py", "content": "x"}
    again = {"filePath": "a.py", "content": "y"}
    assert changes(*used("write", write, "ok"), *used("write", again, "ok")) == {"a.py": "changed"}


def test_metadata_that_is_none_tells_no_status() -> None:
    for output in ('{"metadata": 3}', '{"metadata": {"exit_code": "x"}}', '{"metadata"'):
        (command,) = ledger(said(*used("shell", {"command": "ls"}, output))).commands
        assert (command.exit, command.outcome) == (None, "unknown")


def test_a_step_that_nobody_knows_makes_no_progress() -> None:
    assert ledger(said(*used("TaskUpdate", {"taskId": "9", "status": "done"}, "ok"))).plans == ()


def test_a_plan_that_was_turned_down_is_no_decision() -> None:
    refused = "The user doesn't want to proceed with this tool use."
    assert ledger(said(*used("ExitPlanMode", {"plan": "all anew"}, refused))).decisions == ()
    taken = ledger(
        said(*used("ExitPlanMode", {"plan": "all anew"}, "User has approved your plan."))
    )
    assert [one.text for one in taken.decisions] == ["all anew"]
