"""Lines added and removed, and the answer of a tool that says so."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.tools.toolbox import Toolbox
from holdfast.core.ledger.facts.effort import Lines, changed, told_in

LONG = 2_000
"""What is promised, in numbers: these tests stand at its edges."""

TEXT = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12).map("\n".join)


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("", "a\nb\n", Lines(2, 0)),
        ("a\nb\n", "", Lines(0, 2)),
        ("a\nb\nc\n", "a\nx\nc\n", Lines(1, 1)),
        ("a\nb\nc\n", "a\nb\nx\nc\ny\n", Lines(2, 0)),
        ("a\nb\n", "b\na\n", Lines(1, 1)),
        ("a\na\n", "a\n", Lines(0, 1)),
    ],
)
def test_only_what_differs_is_counted(before: str, after: str, lines: Lines) -> None:
    assert changed(before, after) == lines


@given(TEXT, TEXT)
def test_lines_come_out_even(before: str, after: str) -> None:
    lines = changed(before, after)
    assert lines.added - lines.removed == len(after.splitlines()) - len(before.splitlines())
    assert 0 <= lines.removed <= len(before.splitlines())
    assert changed(before, before) == Lines()


def test_long_texts_are_matched_without_their_order() -> None:
    before = "\n".join(f"line {n}" for n in range(3 * LONG))
    after = "\n".join(f"line {n}" for n in reversed(range(3 * LONG)))
    assert changed(before, f"{after}\none more") == Lines(1, 0)


def test_the_tools_say_what_they_changed(tmp_path: Path) -> None:
    box = Toolbox(str(tmp_path))
    made = box.run("write", {"path": "a.txt", "content": "one\ntwo\nthree\n"})
    edited = box.run("edit", {"path": "a.txt", "old": "two", "new": "2\n2½"})
    replaced = box.run("write", {"path": "a.txt", "content": "one\n"})
    assert [told_in(said) for said in (made, edited, replaced)] == [
        Lines(3, 0),
        Lines(2, 1),
        Lines(0, 3),
    ]


@pytest.mark.parametrize("said", ["", "+3 -1", "(+3 -1 lines) and more", "exit status 0"])
def test_an_answer_that_says_nothing_of_lines(said: str) -> None:
    assert told_in(said) == Lines()
