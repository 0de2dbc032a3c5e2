"""A hundred tools in a small window: most wait, are found, called, and stay, in every format."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.core.tokens.count import weigh_tools
from holdfast.engine.plugins import provider
from holdfast.errors import InvalidRequest
from holdfast.model.message import Message, ToolCall
from holdfast.model.window import Tool
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer

FORMATS = {
    "anthropic": ("anthropic", "claude-sonnet-4-6"),
    "openai-responses": ("openai", "gpt-4o"),
    "openai-chat": ("openai", "gpt-4o"),
    "gemini": ("google", "gemini-2.5-pro"),
}

OWN = [Tool(name="read_file", description="Reads.", schema={"type": "object", "properties": {}})]


def many(number: int = 100, size: int = 400) -> list[Tool]:
    """Tools that take far more than a tenth of any window here."""
    text = {"type": "string", "description": "what it is about " * size}
    schema = {"type": "object", "properties": {"value": text}, "required": ["value"]}
    return [Tool(name=f"tool_{n}", description=f"Does {n}.", schema=schema) for n in range(number)]


def sent(body: Any) -> list[str]:
    """The names of the tools of a request, in any format."""
    tools = body["tools"]
    if "functionDeclarations" in tools[0]:
        tools = tools[0]["functionDeclarations"]
    return [one.get("function", one)["name"] for one in tools]


def calls(entry: Any) -> tuple[ToolCall, ...]:
    assert isinstance(entry.body, Message)
    return entry.body.calls


@pytest.mark.seed("001", 110)
@pytest.mark.seed("004", 214)
@pytest.mark.parametrize("format", FORMATS)
def test_a_tool_is_found_called_and_stays(tmp_path: Path, format: str) -> None:
    name, model = FORMATS[format]
    answers = iter(
        [
            answer(Ask("tool_search", {"query": "select:tool_77"})),
            answer(Ask("tool_77", {"value": "x"})),
            answer("done"),
            answer("and on"),
        ]
    )
    given: dict[str, Any] = {"system": "Help.", "tools": OWN, "deferrable_tools": many(size=4_000)}
    with (
        StrictServer(lambda asked: next(answers)) as server,
        holdfast.open(tmp_path / "log.db") as hf,
        closing(provider(name, format, key="sk-test", url=server.url(name))) as to,
    ):
        s = hf.session(model=model)
        s.user("use seventy-seven")
        (search,) = calls(s.send(to, **given))
        assert search.name == "tool_search"
        first = server.asked[-1].body
        assert sent(first)[:2] == ["read_file", "tool_search"]
        assert "tool_77" not in sent(first)
        assert "<available-deferred-tools>" in str(first)
        assert "tool_77\\ntool_78" in str(first)
        found = s.run_context_tool(search)
        assert found is not None
        assert not found.error
        assert found.output.startswith('Found: ["tool_77"]')
        s.append(holdfast_tool(found))
        (call,) = calls(s.send(to, **given))
        assert sent(server.asked[-1].body) == [*sent(first), "tool_77"]
        assert s.run_context_tool(call) is None, "it is the caller's"
        s.tool_result(call.id, "seven", name=call.name)
        s.send(to, **given)
        s.user("go on")
        s.send(to, **given)
        assert sent(server.asked[-1].body) == [*sent(first), "tool_77"]
        assert not [one.rule for one in server.asked if one.rule]


def holdfast_tool(result: Any) -> Message:
    return Message("tool", (result,))


def test_a_search_is_answered_after_a_restart_too(tmp_path: Path) -> None:
    answers = iter([answer(Ask("tool_search", {"query": "select:tool_30"})), answer("fine")])
    given: dict[str, Any] = {"deferrable_tools": many()}
    with (
        StrictServer(lambda asked: next(answers)) as server,
        closing(provider("openai", "openai-chat", key="k", url=server.url("openai"))) as to,
    ):
        with holdfast.open(tmp_path / "log.db") as hf:
            s = hf.session(model="gpt-4o")
            s.user("hello")
            (search,) = calls(s.send(to, **given))
        with holdfast.open(tmp_path / "log.db") as hf:
            s = hf.session(s.id)
            found = s.run_context_tool(search)
            assert found is not None
            s.append(holdfast_tool(found))
            window = s.window(**given)
            assert window.window.tools[-1].name == "tool_30"


def test_what_fits_is_sent_as_it_is_and_a_budget_is_kept(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="gpt-4o")
        s.user("hello")
        few = s.window(tools=OWN, deferrable_tools=many(5, 10))
        assert [one.name for one in few.window.tools] == [
            "read_file", *(f"tool_{n}" for n in range(5)),
        ]  # fmt: skip
        assert "available-deferred-tools" not in str(few.request("openai-chat"))
        lot = s.window(tools=OWN, deferrable_tools=many())
        assert 1 < len(lot.window.tools) < 100
        assert weigh_tools(lot.window.tools) <= 12_800
        assert lot.sections["tools"] <= 12_800 * 1.5
        assert s.run_context_tool(ToolCall("1", "recall_nothing", "{}")) is None
        assert len(s.window(tools=OWN, deferrable_tools=many(60, 150)).window.tools) < 61
        every = s.window(tools=OWN, deferrable_tools=many(60, 150), policy="opencode")
        assert len(every.window.tools) == 61, "this policy lets no tool wait"


def test_a_tool_of_that_name_is_refused_and_one_without_ours_is_the_callers(tmp_path: Path) -> None:
    own = Tool(name="tool_search", schema={"type": "object", "properties": {}})
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="gpt-4o")
        s.user("hello")
        with pytest.raises(InvalidRequest, match="give yours another name"):
            s.window(tools=[own], deferrable_tools=many())
        s.window(tools=[own], deferrable_tools=many(2, 2))
        assert s.run_context_tool(ToolCall("1", "tool_search", '{"query": "x"}')) is None
