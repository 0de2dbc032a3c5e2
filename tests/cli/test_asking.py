"""What somebody is asked to allow is to be seen, all of it, as it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.agent.tools.toolbox import Toolbox
from holdfast.cli.chat.approval import diff, question
from holdfast.model.message import ToolCall
from holdfast.testing.strict.script import Ask, answer
from tests.cli.talking import talking


def asked(tool: str, **fields: Any) -> tuple[str, str, bool]:
    above, words, always = question(ToolCall("1", tool, json.dumps(fields)), 80)
    assert all(len(line) <= 80 for line in above)
    return "".join(line.removeprefix("  │ ") for line in above), words, always


def test_short_words_stand_in_the_question() -> None:
    assert asked("shell", command="ls -la") == (
        "", "  allow shell ls -la? y / n / a = always here, then Enter ", True,
    )  # fmt: skip
    assert asked("write", path="setup.py", command="docs/readme.md", content="x")[1] == (
        "  allow write setup.py? y / n / a = always here, then Enter "
    )


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q " + "-k 'login or logout' " * 9 + "; touch PWNED",
        "ls -la" + " " * 200 + "; touch PWNED",
        "x" * 3_000 + "; touch PWNED",
        "日本" * 100 + "; touch PWNED",
    ],
)
def test_long_commands_are_shown_whole(command: str) -> None:
    above, words = question(ToolCall("1", "shell", json.dumps({"command": command})), 80)[:2]
    assert "".join(line.removeprefix("  │ ") for line in above) == command
    assert words == "  allow this shell? y / n / a = always here, then Enter "


def test_lines_are_lines_and_escapes_do_nothing() -> None:
    told = question(ToolCall("1", "shell", json.dumps({"command": "ls\n\x1b[2Jrm x\r"})), 80)
    assert told.above == ("  │ ls", "  │ ␛[2Jrm x␍")
    assert question(ToolCall("1", "write", '{"path": "a\\nb"}'), 80).above == ("  │ a", "  │ b")


def test_of_very_many_lines_it_is_said_how_many_are_not_shown() -> None:
    command = "\n".join(f"echo {n}" for n in range(1_000))
    above, words, always = question(ToolCall("1", "shell", json.dumps({"command": command})), 80)
    assert (above[0], above[-1]) == ("  │ echo 0", "  │ echo 999")
    assert "[… 960 lines, 7,600 characters not shown" in above[20]
    assert words == "  allow this shell? y / n / v = view all, then Enter "
    assert not always
    told = question(ToolCall("1", "shell", json.dumps({"command": command})), 80, everything=True)
    assert (len(told.above), told.always) == (1_000, True)


def changed(tmp_path: Path, before: str, after: str, **named: Any) -> tuple[list[str], bool]:
    """The rows of the diff of a write, and whether they are all."""
    (tmp_path / "a.txt").write_bytes(before.encode())
    call = ToolCall("1", "write", json.dumps({"path": "a.txt", "content": after}))
    rows, whole = diff(call, Toolbox(str(tmp_path)), 80, **named)
    return [row for row, _ in rows], whole


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        ("a\nb\n", "a\r\nb\n", ["  -a", "  +a␍", "   b", "  only the ends of lines change"]),
        ("a\n", "a", ["  -a", "  +a", "  \\ no newline at the end",
                     "  only the ends of lines change"]),
        ("ab\n", "a\x0cb\n", ["  -ab", "  +a␌b"]),
        ("a\nb\n", "a\x0cb\n", ["  -a", "  -b", "  +a␌b", "  only the ends of lines change"]),
        ("a\nb\n", "a\u2028b\n", ["  -a", "  -b", "  +a<U+2028>b",
                                   "  only the ends of lines change"]),
        ("\ta\n", " a\n", ["  -    a", "  + a", "  only blanks and the ends of lines change"]),
        ("", "x" * 100 + "\n", [f"  +{'x' * 77}", f"  ┊{'x' * 23}"]),
    ],
)  # fmt: skip
def test_every_change_is_to_be_seen(
    tmp_path: Path, before: str, after: str, rows: list[str]
) -> None:
    found, whole = changed(tmp_path, before, after)
    assert found[1:] == rows
    assert whole


@pytest.mark.parametrize("many", [61, 3_000])
def test_a_diff_that_is_not_whole_is_said_to_be_so(tmp_path: Path, many: int) -> None:
    lines = "".join(f"line {n}\n" for n in range(many))
    rows, whole = changed(tmp_path, "", lines)
    assert not whole
    assert len(rows) == 41
    assert "lines of the diff not shown" in rows[20]
    assert rows[-1] == f"  +line {many - 1}"
    rows, whole = changed(tmp_path, "", lines, everything=True)
    assert whole
    assert f"  +line {many // 2}" in rows
    call = ToolCall("1", "write", '{"path": "a.txt", "content": "x"}')
    assert question(call, 80, seen=False)[1:] == (
        "  allow write a.txt? y / n / v = view all, then Enter ", False,
    )  # fmt: skip


def test_a_change_that_fails_is_told_to_fail(tmp_path: Path) -> None:
    call = ToolCall("1", "edit", '{"path": "a.txt", "old": "x", "new": "y"}')
    rows = diff(call, Toolbox(str(tmp_path)), 80).rows
    assert [row for row, _ in rows] == ["  as things are this fails, and changes nothing"]


def test_a_tool_without_fields_of_its_own_is_shown_with_all_it_says() -> None:
    assert '"prompt": "and this"' in asked("subtask", description="d", prompt="and this")[0]


def test_in_the_chat(tmp_path: Path) -> None:
    lines = "\n".join(f"echo {n}" for n in range(99))
    answers = iter([
        answer(Ask("shell", {"command": "echo " + "word " * 30 + "\ntouch PWNED"})),
        answer(Ask("shell", {"command": lines})),
        answer(Ask("write", {"path": "setup.py", "content": "x", "command": "docs/a.md"})),
        answer(Ask("write", {"path": "no content"})),
        answer(Ask("write", {"path": "../out", "content": "x"})),
        answer(Ask("write", {"path": "long", "content": lines})),
        answer("finished"),
    ])  # fmt: skip
    with talking(tmp_path, lambda asked: next(answers)) as begin:
        talk = begin()
        talk.type("go")
        seen = talk.wait("allow this shell? y / n / a = always here")
        assert "  │ touch PWNED" in seen
        talk.type("n")
        seen = talk.wait("allow this shell?", 2)
        assert "59 lines, 413 characters not shown" in seen
        assert seen.count("always here") == 1
        talk.type("a")
        talk.wait("that is no answer: type y, n or v, then Enter")
        talk.type("n")
        seen = talk.wait("allow write setup.py? y / n")
        assert "docs/a.md" not in seen
        assert seen.count("not allowed") == 2
        talk.type("n")
        seen = talk.wait("allow write long? y / n / v = view all")
        assert seen.count("? y / n") == 5
        assert "+echo 50" not in seen
        talk.type("v")
        seen = talk.wait("allow write long? y / n / a = always here")
        assert "+echo 50" in seen
        talk.type("n")
        talk.wait("finished")
