"""The desk at which an extraction works: what it may do, in which order, and what it is told."""

from __future__ import annotations

import json

import pytest

from holdfast.core.knowledge.extraction import ROUNDS, Desk, prompt
from holdfast.model.message import ToolCall

PLACE = "/home/me/memory"
TEXTS = {"user_role.md": "a staff engineer\n", "feedback_style.md": "tabs, never blanks\n"}


def call(name: str, **fields: str) -> ToolCall:
    return ToolCall("c", name, json.dumps(fields))


def ask(desk: Desk, name: str, **fields: str) -> tuple[str, bool]:
    (found,) = desk.answer([call(name, **fields)])
    return found


@pytest.fixture
def desk() -> Desk:
    return Desk(PLACE, TEXTS)


@pytest.mark.seed("004", 126)
@pytest.mark.parametrize("name", ["web_fetch", "todo", "subtask", "apply_patch", "mcp__x", "Task",
                                  "recall", "delete", "move", "remember"])  # fmt: skip
def test_every_other_tool_is_denied_when_it_is_called(desk: Desk, name: str) -> None:
    told, failed = ask(desk, name, path=f"{PLACE}/user_role.md")
    assert failed
    assert "denied" in told


@pytest.mark.seed("004", 126)
@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", "/home/me/memory/../x.md", "a/b.md",
                                  "x.txt", ".x.md", "/home/me/memories/x.md"])  # fmt: skip
def test_nothing_outside_the_directory_is_read_or_written(desk: Desk, path: str) -> None:
    for name in ("read", "write", "edit"):
        assert ask(desk, name, path=path, content="x", old="a", new="b")[1], name
    assert desk.written == {}


@pytest.mark.seed("004", 126)
@pytest.mark.parametrize("line", ["rm user_role.md", "cat user_role.md; rm x", "cat a | sh",
                                  "echo x > user_role.md", "cat $(rm x)", "mv a b", "touch x.md",
                                  "find . -delete", "find . -exec rm x +", "sed -i s/a/b/ x",
                                  "cat `rm x`", "tee x", "cat /etc/passwd",
                                  "cat 'unclosed"])  # fmt: skip
def test_a_shell_that_does_more_than_look_is_denied(desk: Desk, line: str) -> None:
    assert ask(desk, "shell", command=line)[1]
    assert desk.written == {}


def test_a_shell_that_looks_is_answered(desk: Desk) -> None:
    assert ask(desk, "Bash", command="cat user_role.md") == ("a staff engineer\n", False)
    assert "user_role.md" in ask(desk, "shell", command=f"ls {PLACE}")[0]
    assert ask(desk, "shell", command="head -n 1 feedback_style.md")[0] == "tabs, never blanks"
    assert ask(desk, "shell", command="find . -name 'user_*'")[0] == "user_role.md"
    assert ask(desk, "shell", command="grep tabs .")[0] == "feedback_style.md:1:tabs, never blanks"
    assert ask(desk, "grep", pattern="STAFF")[0].startswith("user_role.md:1:")
    assert ask(desk, "glob", pattern="user_*.md")[0] == "user_role.md"


@pytest.mark.seed("004", 127, 128)
def test_reads_come_first_and_nothing_is_read_after_a_write(desk: Desk) -> None:
    assert not ask(desk, "read", path=f"{PLACE}/user_role.md")[1]
    assert not ask(desk, "write", path="user_x.md", content="x")[1]
    for name, fields in (("read", {"path": "user_role.md"}), ("grep", {"pattern": "x"}),
                         ("shell", {"command": "ls"})):  # fmt: skip
        told, failed = ask(desk, name, **fields)
        assert failed
        assert "first" in told
    assert not ask(desk, "write", path="user_y.md", content="y")[1]


def test_an_edit_needs_the_note_to_have_been_read(desk: Desk) -> None:
    change = {"path": "user_role.md", "old": "staff", "new": "principal"}
    assert "was not read" in ask(desk, "edit", **change)[0]
    ask(desk, "read", path="user_role.md")
    like = {"file_path": "user_role.md", "old_string": "staff", "new_string": "principal"}
    assert ask(desk, "Edit", **like) == ("changed user_role.md", False)
    assert desk.written == {"user_role.md": "a principal engineer\n"}


def test_the_index_follows_by_itself(desk: Desk) -> None:
    told, failed = ask(desk, "write", path="MEMORY.md", content="- [x](x.md) — obey me")
    assert not failed
    assert "by itself" in told
    assert desk.written == {}


@pytest.mark.seed("004", 106, 110, 119, 133, 138)
def test_the_question_says_what_is_new_what_is_there_and_what_is_not_kept() -> None:
    told = prompt(7, PLACE, "- [user] user_role.md (…): a staff engineer")
    assert "last ~7 messages" in told
    assert PLACE in told
    assert "- [user] user_role.md" in told
    assert "update an existing note rather than creating a duplicate" in told
    for word in ("user", "feedback", "project", "reference"):
        assert f"<name>{word}</name>" in told
    for words in ("git history", "fix recipes", "surprising", "passing state", "AGENTS.md"):
        assert words in told
    assert "(none yet)" in prompt(1, PLACE, "")
    assert ROUNDS <= 5
