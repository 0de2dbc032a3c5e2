"""Nothing is out of reach: what left the window comes back word for word, within a budget."""

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.client import Session
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.log import Clear, PartRef
from holdfast.model.message import ToolCall, ToolResult, assistant, tool

OUTPUT = "".join(f"line {n} of the log\n" for n in range(2_000))


@pytest.fixture
def s(tmp_path: Path) -> Any:
    with holdfast.open(tmp_path / "log.db") as hf:
        made = hf.session(model="gpt-4o")
        made.user("what does the log say?")
        made.append(assistant("looking", ToolCall("c1", "Bash", '{"command":"cat app.log"}')))
        made.tool_result("c1", OUTPUT, name="Bash")
        made.append(assistant("nothing of note"))
        yield made


def cleared(s: Session) -> str:
    """The handle that a cleared result leaves behind, as a model sees it."""
    s.append(Clear(parts=(PartRef(3, 0),)))
    s.user("go on")
    shown = str(s.window().request("openai-chat"))
    assert "line 1999" not in shown
    assert "cleared: Bash cat app.log" in shown
    return shown[shown.index("prt_") :].split("]")[0]


def test_a_cleared_result_leaves_a_handle_that_brings_it_back(s: Session) -> None:
    found = s.recall(cleared(s), tokens=100_000)
    assert (found.text, found.next) == (OUTPUT, 0)


def test_what_is_long_comes_in_pieces_that_make_the_whole(s: Session) -> None:
    handle, offset, pieces = cleared(s), 0, list[str]()
    while True:
        found = s.recall(handle, offset=offset, tokens=2_000)
        pieces.append(found.text)
        offset = found.next
        if not offset:
            break
    assert "".join(pieces) == OUTPUT
    assert len(pieces) > 3


def test_a_page_names_what_is_on_the_next(s: Session) -> None:
    lines = [f"plain line {n}" for n in range(3_000)]
    lines[10], lines[1_500] = "open src/first_page.py", "open src/later_page.py and parseHttpUrl"
    s.tool_result("c1", "\n".join(lines), name="Bash")
    call = ToolCall("r1", "recall", '{"handle": "#5"}')
    told = s.run_context_tool(call)
    assert told is not None
    page, _, tail = told.output.rpartition("\n[…")
    assert "first_page.py" in page
    assert "first_page.py" not in tail
    for name in ("src/later_page.py", "parseHttpUrl"):
        assert name not in page
        assert name in tail


def test_a_model_asks_with_a_tool_call(s: Session) -> None:
    handle = cleared(s)
    told = s.run_context_tool(ToolCall("r1", "recall", f'{{"handle": "{handle}"}}'))
    assert told is not None
    assert told.call == "r1"
    assert told.output.startswith("line 0")
    assert f"recall {handle} offset" in told.output  # it says how to go on
    hits = s.run_context_tool(ToolCall("r2", "search_history", '{"query": "note"}'))
    assert hits is not None
    assert "prt_" in hits.output
    assert s.run_context_tool(ToolCall("x", "Bash", "{}")) is None


@pytest.mark.parametrize("said", ['{"handle": "prt_nothing.0"}', "{}", "not json", '{"handle":7}'])
def test_a_wrong_call_is_answered_with_what_is_wrong(s: Session, said: str) -> None:
    told = s.run_context_tool(ToolCall("r", "recall", said))
    assert isinstance(told, ToolResult)
    assert told.error
    assert told.output


def test_entries_and_stretches_are_named_by_number(s: Session) -> None:
    assert "what does the log say?" in s.recall("#1").text
    both = s.recall("#1-#2").text
    assert "what does the log say?" in both
    assert "cat app.log" in both
    with pytest.raises(NotFound):
        s.recall("#99")
    with pytest.raises(InvalidRequest):
        s.recall("??")


@pytest.mark.parametrize("format", ["anthropic", "openai-responses", "openai-chat", "gemini"])
def test_the_tools_in_every_wire_format(s: Session, format: str) -> None:
    shaped = holdfast.recall_tools(format)
    assert [one.get("name") or one["function"]["name"] for one in shaped] == [
        "recall", "search_history",
    ]  # fmt: skip
    s.user("go on")
    ours = s.window(tools=holdfast.recall_tools()).request(format)
    assert "search_history" in str(ours)
    if format != "gemini":
        assert s.window(tools=shaped).request(format)["tools"] == ours["tools"]


def test_no_such_format() -> None:
    with pytest.raises(InvalidRequest, match="wire format"):
        holdfast.recall_tools("morse")


def test_a_search_does_not_find_searches(s: Session) -> None:
    for turn in range(12):
        call = ToolCall(f"s{turn}", "search_history", '{"query": "77"}')
        told = s.run_context_tool(call)
        assert told is not None
        assert "(#3)" in told.output
        s.append(assistant("looking", call))
        s.append(tool(told))


class At:
    """A clock that is set."""

    def __init__(self, time: int) -> None:
        self.time = time

    def now(self) -> int:
        return self.time


def test_a_question_names_days_by_the_clock_that_is_given() -> None:
    day = 86_400_000
    clock = At(1_760_000_000_000)
    with holdfast.open("memory:") as hf:
        hf.engine.clock = clock
        s = hf.session()
        for n in range(9):
            s.user(f"the walrus slept on beach number {n}")
            clock.time += day
        question = "where was our walrus when it slept two days ago"
        assert hf.search(question)[0].seq == 8
        assert "#8" in s.search_history(question).splitlines()[0]
        assert hf.search(question.replace("two", "five"))[0].seq == 5
