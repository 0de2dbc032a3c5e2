"""Any tools and any budget: what is sent fits, or only what must not wait is left."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.tokens.count import weigh_tools
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.tool_deferral import TOOL_SEARCH, named, offer, search, told, wanted
from holdfast.model.message import Message, Text, ToolCall, ToolResult, tool
from holdfast.model.window import Tool


def made(name: str, about: str = "", size: int = 0) -> Tool:
    fields = {f"field_{n}": {"type": "string", "description": "what it is"} for n in range(size)}
    return Tool(name=name, description=about, schema={"type": "object", "properties": fields})


names = st.text("abcdef_", min_size=1, max_size=6)
tools = st.lists(
    st.builds(made, names, st.text(max_size=40), st.integers(0, 12)), max_size=12,
    unique_by=lambda one: one.name,
)  # fmt: skip


@given(tools, tools, st.integers(0, 2_000), st.lists(names, max_size=6))
def test_the_tools_fit_or_only_those_are_left_that_must_not_wait(
    own: list[Tool], more: list[Tool], most: int, found: list[str]
) -> None:
    got = offer(own, more, most, found)
    sent, waiting = [one.name for one in got.tools], [one.name for one in got.deferred]
    assert len(set(sent)) == len(sent)
    assert not set(sent) & set(waiting)
    every = {one.name for one in (*own, *more)}
    assert {*sent, *waiting} - {TOOL_SEARCH.name} == every
    assert sent[: len(own)] == [one.name for one in own], "they come first, as they were given"
    assert {name for name in found if name in every} <= set(sent)
    bare = {one.name: one for one in offer(own, more, most).tools}
    must = {*(one.name for one in own), TOOL_SEARCH.name}
    assert weigh_tools(list(bare.values())) <= most or bare.keys() <= must
    assert set(sent) - bare.keys() <= set(found), "only what was found comes on top"
    assert (TOOL_SEARCH in got.tools) == got.finding
    assert got.finding or not got.deferred


@given(tools, tools, st.integers(0, 2_000), st.lists(names, max_size=6), names)
def test_a_tool_that_joins_leaves_what_was_there_as_a_prefix(
    own: list[Tool], more: list[Tool], most: int, found: list[str], another: str
) -> None:
    before = offer(own, more, most, found).tools
    after = offer(own, more, most, [*found, another]).tools
    assert after[: len(before)] == before


def test_what_a_conversation_used_and_found_is_read_off_it() -> None:
    answer = told([made("b"), made('c"d')], "x", 500)
    said = [
        Message("user", (Text("do it"),)),
        Message("assistant", (ToolCall("1", "a", "{}"), ToolCall("2", "tool_search", "{}"))),
        tool(ToolResult("1", 'Found: ["forged"]'), ToolResult("2", answer)),
        Message("assistant", (ToolCall("3", "tool_search", "{}"), ToolCall("4", "a", "{}"))),
        tool(ToolResult("3", "Found: [1, broken"), ToolResult("4", "")),
    ]
    assert wanted(said) == ["a", "tool_search", "b", 'c"d']


WEATHER = made("get_weather", "The forecast for a city.")
CREATE = made("createIssue", "Open a ticket in the tracker.")
ALL = [made("noise", "Nothing of note."), WEATHER, CREATE, made("list_cities", "Every city.")]


def test_tools_are_found_by_name_and_by_what_they_do() -> None:
    assert search("select:createissue, get_weather,absent", ALL) == [CREATE, WEATHER]
    assert search("weather", ALL) == [WEATHER]
    assert search("create an issue", ALL)[0] is CREATE
    assert search("ticket", ALL) == [CREATE]
    assert search("city", ALL, 1) == [WEATHER]
    assert search("", ALL) == search("zebra", ALL) == []
    assert search("select:", ALL) == []


def test_an_answer_has_names_always_and_definitions_as_far_as_there_is_room() -> None:
    many = [made(f"tool_{n}", "about " * 60, 8) for n in range(4)]
    short = told(many, "x", 400)
    assert estimate(short) < 800
    assert short.splitlines()[0] == 'Found: ["tool_0", "tool_1", "tool_2", "tool_3"]'
    assert "field_7" in short.splitlines()[2]
    assert json.loads(short.splitlines()[5]) == {
        "name": "tool_3", "description": ("about " * 60)[:200],
    }  # fmt: skip
    assert "No tool that waits matches 'zebra'" in told([], "zebra", 400)


def test_the_list_of_names_is_bounded_and_says_how_many_more_there_are() -> None:
    many = [made(f"tool_{n}") for n in range(500)]
    text = named(many, 100)
    assert estimate(text) < 150
    *listed, last = text.splitlines()
    assert listed[0] == "tool_0"
    assert last == f"… and {500 - len(listed)} more, found by what they do"
    assert named(many[:3], 100) == "tool_0\ntool_1\ntool_2"
