"""Each rule of Anthropic Messages finds the request that breaks it, and only that one."""

import base64
import copy
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.codecs.anthropic import Anthropic
from holdfast.model.profile import Profile

PROFILE = Profile(name="claude-test")
CONTROL = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}


def png(width: int, height: int, size: int = 0) -> dict[str, Any]:
    data = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    data = base64.b64encode(data.ljust(size, b"\0")).decode()
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": data},
    }


def text(words: str = "words", **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def call(id: str = "toolu_1") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "read", "input": {}}


def result(id: str = "toolu_1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "done", **more}


def search(id: str = "srvtoolu_1") -> dict[str, Any]:
    return {"type": "server_tool_use", "id": id, "name": "web_search", "input": {}}


def found(id: str = "srvtoolu_1") -> dict[str, Any]:
    return {"type": "web_search_tool_result", "tool_use_id": id, "content": []}


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def request(*turns: Any, **more: Any) -> dict[str, Any]:
    """Messages that alternate, the user's first; a turn is text or blocks."""
    messages = [
        {"role": "assistant" if place % 2 else "user", "content": turn}
        for place, turn in enumerate(turns)
    ]
    return {"model": "claude-test", "max_tokens": 4096, "messages": messages, **more}


def after(first: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    return {**rest, "messages": [first, *rest["messages"]]}


THINKING = {"type": "enabled", "budget_tokens": 1024}

# A rule; a request that breaks it and no other; the same mended; words the provider would use.
CASES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    (
        "A1",
        request("go", [call("a"), call("b")], [result("a")]),
        request("go", [call("a"), call("b")], [result("a"), result("b")]),
        "without `tool_result` blocks immediately after: b",
    ),
    (
        "A2",
        request("go", [call("a")], [result("a"), result("z")]),
        request("go", [call("a")], [result("a")]),
        "unexpected `tool_use_id` found in `tool_result` blocks: z",
    ),
    (
        "A3",
        request("go", [call()], [text(), result()]),
        request("go", [call()], [result(), text()]),
        "must come first",
    ),
    (
        "A4",
        request("go", [search(), text()], "and then?"),
        request("go", [search(), found(), text()], "and then?"),
        "was found without a corresponding `web_search_tool_result` block",
    ),
    (
        "A4",
        request("go", [found(), text()], "and then?"),
        request("go", [text()], "and then?"),
        "unexpected `tool_use_id` found in `web_search_tool_result` blocks",
    ),
    (
        "A5",
        request("go", [call("a")], [result("a")], [call("a")], [result("a")]),
        request("go", [call("a")], [result("a")], [call("b")], [result("b")]),
        "ids must be unique",
    ),
    (
        "A5",
        request("go", [call("functions.read:0")], [result("functions.read:0")]),
        request("go", [call("functions_read_0")], [result("functions_read_0")]),
        "String should match pattern",
    ),
    (
        "A6",
        request("go", [call()], [result()], thinking=THINKING),
        request("go", [THOUGHT, call()], [result()], thinking=THINKING),
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    ),
    (
        "A7",
        request("go", [{**THOUGHT, "signature": ""}, text()], "more"),
        request("go", [THOUGHT, text()], "more"),
        "Invalid `signature` in `thinking` block",
    ),
    (
        "A8",
        request([text(" \n")]),
        request([text(" x\n")]),
        "must contain non-whitespace text",
    ),
    ("A8", request(""), request("go"), "all messages must have non-empty content"),
    (
        "A8",
        request("go", [call()], [{**result(), "content": "", "is_error": True}]),
        request("go", [call()], [{**result(), "content": "no", "is_error": True}]),
        "content cannot be empty if `is_error` is true",
    ),
    (
        "A9",
        request("go", "Once upon"),
        request("go", "Once upon", "go on"),
        "does not support assistant message prefill",
    ),
    (
        "A10",
        request(
            [text(cache_control=CONTROL)] * 2,
            system=[text(cache_control=CONTROL)] * 2,
            tools=[{"name": "t", "input_schema": {"type": "object"}, "cache_control": CONTROL}],
        ),
        request([text(cache_control=CONTROL)] * 2, system=[text(cache_control=CONTROL)] * 2),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    (
        "A11",
        request([text(cache_control=LONG)], system=[text(cache_control=CONTROL)]),
        request([text(cache_control=CONTROL)], system=[text(cache_control=LONG)]),
        "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
    ),
    (
        "A11",
        request("go", [{**THOUGHT, "cache_control": CONTROL}, text()], "more"),
        request("go", [THOUGHT, text(cache_control=CONTROL)], "more"),
        "Extra inputs are not permitted",
    ),
    (
        "A12",
        request([png(10, 8001)]),
        request([png(10, 8000)]),
        "exceed max allowed size: 8000 pixels",
    ),
    (
        "A12",
        request("go", [call()], [result(content=[png(2001, 9)] + [png(9, 9)] * 20)]),
        request("go", [call()], [result(content=[png(2001, 9)] + [png(9, 9)] * 19)]),
        "for many-image requests: 2000 pixels",
    ),
    (
        "A12",
        request([png(9, 9, size=4_000_000)]),
        request([png(9, 9, size=3_900_000)]),
        "image exceeds 5 MB maximum: 5333336 bytes > 5242880 bytes",
    ),
    (
        "A12",
        request([text("x" * (32 << 20))]),
        request([text("x" * (31 << 20))]),
        "Request exceeds the maximum size",
    ),
    (
        "A13",
        after({"role": "assistant", "content": "hi"}, request("go")),
        request("go"),
        'first message must use the "user" role',
    ),
    (
        "A13",
        after({"role": "system", "content": "be"}, request("go")),
        request("go", system="be"),
        'Unexpected role "system"',
    ),
    (
        "A13",
        request("go", thinking={"type": "enabled", "budget_tokens": 4096}),
        request("go", thinking={"type": "enabled", "budget_tokens": 4095}),
        "`max_tokens` must be greater than `thinking.budget_tokens`",
    ),
    (
        "A13",
        request("go", thinking={"type": "enabled", "budget_tokens": 1023}),
        request("go", thinking={"type": "adaptive"}),
        "greater than or equal to 1024",
    ),
    (
        "A13",
        request("go", thinking=THINKING, tool_choice={"type": "any"}),
        request("go", thinking=THINKING, tool_choice={"type": "auto"}),
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    ("A13", request(), request("go"), "at least one message is required"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "broken", "mended", "words"), CASES)
def test_a_broken_request_violates_exactly_its_rule(
    rule: str, broken: dict[str, Any], mended: dict[str, Any], words: str
) -> None:
    violations = Anthropic().violations(broken, PROFILE)
    assert {violation.rule for violation in violations} == {rule}
    assert words in violations[0].message
    assert Anthropic().violations(mended, PROFILE) == []


def test_every_rule_has_a_case() -> None:
    assert {case[0] for case in CASES} == {f"A{number}" for number in range(1, 14)}


def test_a_prefill_is_allowed_where_the_model_takes_one() -> None:
    profile = Profile(name="claude-old", abilities=frozenset({"prefill"}))
    assert Anthropic().violations(request("go", "Once upon"), profile) == []


@pytest.mark.parametrize("last", [search(), found(), {"type": "compaction", "content": "so far"}])
def test_a_paused_reply_may_stand_last(last: dict[str, Any]) -> None:
    before = [search()] if last["type"].endswith("result") else []
    assert Anthropic().violations(request("go", [text(), *before, last]), PROFILE) == []


def test_a_program_may_call_our_tools_before_its_own_result_comes() -> None:
    caller = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}
    program = {**search(), "name": "code_execution"}
    output = {**found(), "type": "code_execution_tool_result"}
    running = request("go", [program, {**call(), "caller": caller}], [result()])
    assert Anthropic().violations(running, PROFILE) == []
    ended = copy.deepcopy(running["messages"])
    ended += request("", [output, text()], "next")["messages"][1:]
    assert Anthropic().violations({**running, "messages": ended}, PROFILE) == []
    without = [*running["messages"], *request("", [text()], "next")["messages"][1:]]
    broken = Anthropic().violations({**running, "messages": without}, PROFILE)
    assert [violation.rule for violation in broken] == ["A4"]


def test_a_system_message_is_allowed_where_the_model_takes_one() -> None:
    profile = Profile(name="claude-new", abilities=frozenset({"system_messages"}))
    amid = request("go", "yes", "and")
    amid["messages"].append({"role": "system", "content": "be brief"})
    assert Anthropic().violations(amid, profile) == []
    assert {one.rule for one in Anthropic().violations(amid, PROFILE)} == {"A13"}


@pytest.mark.parametrize(
    ("lives", "broken"),
    [
        ("l", []), ("s", []), ("ll", []), ("ss", []), ("ls", []), ("sl", [1]), ("lsl", [2]),
        ("llss", []), ("lssl", [3]), ("sls", [1]), ("sll", [1, 2]),
    ],
)  # fmt: skip
def test_a_longer_lived_breakpoint_never_comes_behind_a_shorter_one(
    lives: str, broken: list[int]
) -> None:
    blocks = [text(cache_control=LONG if life == "l" else CONTROL) for life in lives]
    found = Anthropic().violations(request(blocks), PROFILE)
    assert [one.where for one in found] == [f"messages.0.content.{place}" for place in broken]


def test_a_later_step_of_a_tool_cycle_needs_no_thinking_of_its_own() -> None:
    steps = request(
        "go", [THOUGHT, call("a")], [result("a")], [call("b")], [result("b")], thinking=THINKING
    )
    assert Anthropic().violations(steps, PROFILE) == []


def test_a_compaction_may_come_first() -> None:
    block = {"type": "compaction", "content": "so far", "signature": "c2ln"}
    whole = after({"role": "assistant", "content": [block]}, request("go"))
    assert Anthropic().violations(whole, PROFILE) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "id", "source", "data", "cache_control", "text"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)  # fmt: skip


@given(
    st.dictionaries(
        st.sampled_from(["messages", "system", "tools", "thinking", "max_tokens", "tool_choice"]),
        JSON,
    )
)
def test_no_shape_of_a_request_raises(shape: dict[str, Any]) -> None:
    Anthropic().violations(shape, PROFILE)
