"""Only an exact answer allows anything: no sentence is taken for a yes by how it begins."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.agent.permissions.rules import Judge, Permissions
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.cli.chat.screen import Screen
from holdfast.model.message import ToolCall
from holdfast.testing.strict.script import Ask, answer
from tests.cli.running import with_a_person
from tests.cli.talking import Begin, talking

CALL = ToolCall("1", "shell", '{"command": "ls"}')
GIVEN = {"y": "yes", "yes": "yes", "n": "no", "no": "no", "a": "always", "always": "always"}

SENTENCES = ("you must not", "yikes, no!", "actually no, don't", "ye", "yess", "y n", "no y", "",
             "\u212a", "ｙ", "y\x00", "always?", "all", "v")  # fmt: skip

LINES = st.text(st.characters(exclude_characters="\n\r")) | st.sampled_from(
    [word + rest for word in GIVEN for rest in ("", " ", "!", "\u2003", "\u200b", "s")]
)


def typed(lines: str) -> str:
    """What becomes of a call where somebody types this and then leaves."""
    before, sys.stdin = sys.stdin, io.StringIO(lines)
    screen = Screen()
    try:
        return screen.may(CALL, Toolbox("/"))
    finally:
        sys.stdin = before
        screen.rest()


@given(LINES)
@example("you must not")
@example("yikes, no!")
@example("actually no, don't")
def test_any_text_that_is_no_exact_answer_allows_nothing(line: str) -> None:
    meant = GIVEN.get(line.strip(" \t").lower()) if line.isascii() else None
    assert typed(line) == (meant or "no")
    assert typed(f"{line}\nno\n") == (meant or "no")


@pytest.mark.parametrize("line", SENTENCES)
def test_what_is_no_answer_is_asked_again(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(f"{line}\ny\n") == "yes"
    seen = capsys.readouterr().out
    assert seen.count("allow shell ls? y / n / a = always here, then Enter") == 2
    assert "that is no answer: type y, n or a, then Enter" in seen


@given(st.none() | st.booleans() | st.text() | st.sampled_from(SENTENCES))
def test_an_asker_that_answers_anything_else_allows_nothing(told: Any) -> None:
    remembered: list[str] = []
    judge = Judge(Permissions(), lambda _: told, remembered.append)
    assert judge.allows(CALL) == (told in ("yes", "always"))
    assert bool(remembered) == (told == "always")


@pytest.mark.parametrize("line", ["you must not", "yikes", "yes please"])
def test_a_question_of_a_command_takes_no_sentence_either(own_store: Path, line: str) -> None:
    import holdfast

    with holdfast.open(own_store) as hf:
        id = hf.session(model="gpt-5").user("hello").session
    done = with_a_person("erase", id, answer=f"{line}\nn\n".encode())
    assert "[y/N], then Enter" in done.stderr
    with holdfast.open(own_store) as hf:
        assert [one.id for one in hf.sessions()] == [id]


WANTED = {
    "write it": answer(Ask("write", {"path": "made.txt", "content": "x"})),
    "tool_result": answer("That is all."),
}


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    def script(asked: Any) -> Any:
        said = str(asked.body["messages"][-1]["content"])
        return next((told for words, told in WANTED.items() if words in said), answer("Well."))

    with talking(tmp_path, script) as begun:
        yield begun


def test_half_an_answer_before_ctrl_c_is_no_part_of_what_follows(begin: Begin) -> None:
    talk = begin()
    talk.type("write it")
    talk.wait("allow write made.txt? y / n / a = always here, then Enter")
    talk.type("yes, but not now")
    talk.wait("that is no answer: type y, n or a, then Enter")
    talk.letters("always")
    talk.press("C-c")
    talk.wait("interrupted; nothing was lost")
    talk.type("write it")
    talk.wait("\n> write it", 2)
    talk.wait("allow write made.txt?", 3)
    talk.press("Enter")
    talk.wait("that is no answer", 2)
    assert not (talk.work / "made.txt").exists()
    talk.type("n")
    talk.wait("not allowed")
    assert not (talk.work / "made.txt").exists()
