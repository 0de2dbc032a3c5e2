"""The end of a session is shown without reading what comes before it."""

import re

import pytest

import holdfast
from holdfast.cli.ui.entry_view import beginning
from holdfast.model import log
from holdfast.model.message import Message, ToolCall, ToolResult
from holdfast.model.span import Span
from holdfast.stores.sql.log import SqlLog
from tests.cli.running import run, values

LETTERS = 800
"""What is promised, in numbers: these tests stand at its edges."""


@pytest.fixture
def long() -> str:
    """A session of 300 messages, with a marker among every ten."""
    with holdfast.open() as hf:
        s = hf.session()
        for ten in range(30):
            s.append_all([holdfast.user(f"message {ten * 10 + n}") for n in range(10)])
            s.append(log.Checkpoint(label="here"))
        return s.id


def screen(*words: str) -> str:
    return run(*words, FORCE_COLOR="1", NO_COLOR="1").stdout


def shown(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"message (\d+) *\n", text)]


def test_a_screen_shows_the_end_of_a_long_session_and_a_pipe_all(long: str) -> None:
    told = screen("show", long)
    assert shown(told) == list(range(250, 300))
    assert "… 250 earlier entries; --last 0 shows all" in told
    assert "shown: 50 messages" in told
    assert shown(screen("show", long, "--last", "0")) == list(range(300))
    assert shown(run("show", long).stdout) == list(range(300))
    assert len(values("show", long)) == 300


@pytest.mark.parametrize("many", [1, 9, 10, 11, 299, 300, 5000])
def test_the_newest_are_chosen_of_what_would_be_shown(many: int, long: str) -> None:
    everything = values("show", long)
    assert values("show", long, "--last", str(many)) == everything[-many:]
    whole = values("show", long, "--all")
    assert values("show", long, "--all", "--last", str(many)) == whole[-many:]
    before = values("show", long, "--at", "200")
    assert values("show", long, "--at", "200", "--last", str(many)) == before[-many:]


@pytest.mark.parametrize("many", [1, 2, 3, 4, 5, 9])
def test_a_summary_is_one_of_them_where_it_stands(many: int) -> None:
    with holdfast.open() as hf:
        s = hf.session()
        s.append_all([holdfast.user(f"message {n}") for n in range(6)])
        s.append(log.Summary(covers=(Span(2, 4),), text="in short"))
        s.user("message 6")
    everything = [one["seq"] for one in values("show", "last")]
    assert everything == [1, 7, 5, 6, 8]
    assert [one["seq"] for one in values("show", "last", "--last", str(many))] == everything[-many:]
    told = run("show", "last", "--last", str(many)).stdout
    left = len(everything) - many
    assert ("earlier entr" in told) == (left > 0)
    assert f"… {left} earlier" in told or left <= 0


def test_what_comes_before_is_not_read(long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    plain = SqlLog.read

    async def watched(self, session, spans, **more):  # type: ignore[no-untyped-def]
        found = await plain(self, session, spans, **more)
        read.extend(entry.seq for entry in found)
        return found

    monkeypatch.setattr(SqlLog, "read", watched)
    assert len(shown(screen("show", long, "--at", "300"))) == 50
    assert len(read) <= 60
    read.clear()
    assert run("show", long, "--all", "--last", "7").exit_code == 0
    assert len(read) == 7


def test_a_cut_saves_a_line_at_least() -> None:
    almost = "x" * (LETTERS + 6)
    assert beginning(almost, 76) == (almost, "")
    assert beginning("x" * (LETTERS + 400), 76) == ("x" * LETTERS, "… 400 more characters")
    eleven = "\n".join(f"line {n}" for n in range(11))
    assert beginning(eleven, 76) == (eleven, "")
    assert beginning(f"{eleven}\nmore", 76)[1] == "… 2 more lines"


@pytest.mark.parametrize("before", [0, 40, 200])
def test_an_answer_names_the_tool_whose_call_lies_before_the_page(before: int) -> None:
    with holdfast.open() as hf:
        s = hf.session()
        s.append(
            holdfast.assistant(ToolCall("call_1", "read_log", "{}"),
                               ToolCall("call_2", "grep", "{}"))
        )  # fmt: skip
        for number in range(before):
            s.append(log.Checkpoint(label=f"{number}"))
        s.append(Message("tool", (ToolResult("call_1", "500 at 12:01"),)))
        s.append(Message("tool", (ToolResult("call_2", "nothing"),)))
    for words in (("--last", "1"), ("--last", "2"), ("--at", str(before + 3), "--around", "0")):
        told = run("show", s.id, *words).stdout
        assert "← grep" in told
        assert "call_2" not in told
