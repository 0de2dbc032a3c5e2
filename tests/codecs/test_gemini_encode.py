"""Gemini requests: valid for any repaired window, stable, and the same on both routes."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.codecs.gemini import Gemini, path, rest
from holdfast.model.message import Media, Reasoning, Text, ToolCall, ToolResult, seal
from holdfast.model.profile import Profile
from holdfast.model.window import Block, Options, Tool, Window
from tests.codecs.gemini_windows import BUDGET, OURS, windows

GOLDEN = Path(__file__).parents[1] / "golden" / "gemini"
CODEC = Gemini()
PROFILE = Profile(name=OURS)


def block(role: Any, *parts: Any, model: str = "") -> Block:
    return Block(section="history", role=role, parts=parts, model=model)


def window(*blocks: Block, model: str = OURS, tools: tuple[Tool, ...] = ()) -> Window:
    return Window(model=model, blocks=blocks, budget=BUDGET, tools=tools)


def encode(*blocks: Block, model: str = OURS, **options: Any) -> dict[str, Any]:
    tools = options.pop("tools", ())
    return CODEC.encode(window(*blocks, model=model, tools=tools), PROFILE, Options(**options))


def signed(signature: str, model: str = OURS) -> Any:
    return seal("google", json.dumps({"thoughtSignature": signature}).encode(), model)


def test_a_whole_window_gives_the_recorded_request() -> None:
    blocks = (
        block("system", Text("You are careful.")),
        block("developer", Text("Prefer small changes.")),
        block("user", Text("What is on the picture?"), Media("image/png", b"\x89PNG")),
        block(
            "assistant",
            Reasoning("Let me look.", seal("google", b'{"thought":true}', OURS)),
            Text("Looking."),
            ToolCall("fc-1", "read_file", '{"path": "a.py"}', signed("AAEC")),
            ToolCall("fc-2", "shell", "ls -la"),
            model=OURS,
        ),
        block(
            "tool",
            ToolResult("fc-2", "no such command", error=True),
            ToolResult("fc-1", "print(1)", media=(Media("image/png", b"\x89PNG"),)),
        ),
        block("system", Text("The user opened b.py.")),
        block("user", Text("Go on."), Media("application/zip", b"PK", name="src.zip")),
    )
    tools = (
        Tool(name="read_file", description="Reads.", schema={"type": "object", "properties": {}}),
        Tool(name="shell", kind="custom"),
        Tool(name="search", native={"google_search": {}}, owner="google"),
        Tool(name="web", native={"type": "web_search_20250305"}, owner="anthropic"),
    )
    request = encode(*blocks, tools=tools, effort="low", tool_choice="read_file")
    expected = json.loads((GOLDEN / "request.json").read_text("utf-8"))
    assert request == expected["sdk"]
    assert rest(request) == expected["rest"]


@given(windows())
def test_any_repaired_window_gives_a_request_without_violations(given: Window) -> None:
    request = CODEC.encode(given, PROFILE, Options(effort="high"))
    assert CODEC.violations(request, PROFILE) == []
    json.dumps(request)


@settings(max_examples=50)
@given(windows())
def test_what_is_said_later_changes_nothing_that_was_sent_before(given: Window) -> None:
    """The parts of a window's beginning are a prefix of the parts of the whole, at any length."""
    whole = _flat(given)
    spoken = [index for index, each in enumerate(given.blocks) if each.role == "user"]
    for length in range(spoken[0] + 1, len(given.blocks)):
        if given.blocks[length].role != "tool":
            begun = _flat(replace(given, blocks=given.blocks[:length]))
            assert whole[: len(begun)] == begun


def _flat(given: Window) -> list[str]:
    request = CODEC.encode(given, PROFILE, Options())
    head = json.dumps(request["config"])
    parts = [(turn["role"], part) for turn in request["contents"] for part in turn["parts"]]
    return [head, *(json.dumps(part) for part in parts)]


@given(windows())
def test_the_same_window_gives_the_same_bytes(given: Window) -> None:
    first, second = (CODEC.encode(given, PROFILE, Options()) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


@given(windows(), st.sampled_from(["anthropic", "openai"]))
def test_what_others_sealed_is_never_shown(given: Window, owner: str) -> None:
    sent = json.dumps(CODEC.encode(given, PROFILE, Options()))
    assert '"signature"' not in sent
    foreign = [
        part.text
        for each in given.blocks
        for part in each.parts
        if isinstance(part, Reasoning) and (part.seal is None or part.seal.owner == owner)
    ]
    thoughts = [
        part
        for turn in CODEC.encode(given, PROFILE, Options())["contents"]
        for part in turn["parts"]
        if part.get("thought")
    ]
    assert len(thoughts) <= sum(
        isinstance(part, Reasoning) for each in given.blocks for part in each.parts
    ) - len(foreign)


def test_a_spoiled_seal_is_left_out() -> None:
    spoiled = replace(signed("AAEC"), data=b'{"thoughtSignature":"AAED"}')
    request = encode(block("user", Text("a")), block("assistant", Text("b", seal=spoiled)))
    assert request["contents"][1]["parts"] == [{"text": "b"}]


@pytest.mark.parametrize(
    ("made", "goes_to", "kept"),
    [
        (OURS, OURS, True),
        ("gemini-3-pro-preview-11-2025", OURS, True),
        (OURS, "models/gemini-3-pro-preview", True),
        ("", OURS, True),
        ("gemini-3-pro", OURS, False),
        ("gemini-2.5-flash", "gemini-2.5-flash-lite", False),
        ("gemini-2.5-flash-001", "gemini-2.5-flash", True),
    ],
)
def test_a_signature_goes_to_its_own_model_only(made: str, goes_to: str, kept: bool) -> None:
    said = block("assistant", Text("b", seal=signed("AAEC", made)))
    part = encode(block("user", Text("a")), said, model=goes_to)["contents"][1]["parts"][0]
    assert ("thought_signature" in part) == kept


def test_the_block_s_own_model_counts_where_the_name_that_came_back_is_another() -> None:
    sealed = signed("AAEC", "gemini-3-flash-preview-09-2026")
    said = block("assistant", Text("b", seal=sealed), model="gemini-flash-latest")
    request = encode(block("user", Text("a")), said, model="gemini-flash-latest")
    assert request["contents"][1]["parts"][0]["thought_signature"] == "AAEC"


def test_only_the_first_of_parallel_calls_from_elsewhere_gets_the_stand_in() -> None:
    calls = (ToolCall("toolu_1", "read", "{}"), ToolCall("toolu_2", "read", "{}"))
    results = (ToolResult("toolu_1", "x"), ToolResult("toolu_2", "y"))
    blocks = (block("user", Text("a")), block("assistant", *calls), block("tool", *results))
    first, second = encode(*blocks)["contents"][1]["parts"]
    assert first["thought_signature"] == "skip_thought_signature_validator"
    assert "thought_signature" not in second
    old = encode(*blocks, model="gemini-2.5-flash")["contents"][1]["parts"]
    assert all("thought_signature" not in part for part in old)


def test_media_of_a_tool_goes_inside_its_answer_from_gemini_3_on_and_behind_it_before() -> None:
    picture = Media("image/png", b"x")
    blocks = (
        block("user", Text("a")),
        block("assistant", ToolCall("c1", "see", "{}")),
        block("tool", ToolResult("c1", "seen", media=(picture,))),
    )
    inside = encode(*blocks)["contents"][2]["parts"][0]["function_response"]
    assert inside["parts"] == [{"inline_data": {"mime_type": "image/png", "data": "eA=="}}]
    _, _, answer, behind = encode(*blocks, model="gemini-2.5-flash")["contents"]
    assert "parts" not in answer["parts"][0]["function_response"]
    assert behind == {"role": "user", "parts": inside["parts"]}


def test_cached_content_stands_in_for_system_and_tools() -> None:
    request = encode(
        block("system", Text("s")),
        block("user", Text("a")),
        tools=(Tool(name="t"),),
        tool_choice="any",
        extra={"cached_content": "cachedContents/1", "temperature": 0.5},
    )
    assert request["config"] == {
        "max_output_tokens": 4096,
        "cached_content": "cachedContents/1",
        "temperature": 0.5,
    }
    assert rest(request)["cachedContent"] == "cachedContents/1"


@pytest.mark.parametrize(
    ("model", "options", "thinking"),
    [
        (OURS, {"effort": "low"}, {"thinking_level": "LOW", "include_thoughts": True}),
        (OURS, {"thinking": 512}, {"thinking_budget": 512, "include_thoughts": True}),
        (
            OURS,
            {"thinking": 512, "effort": "high"},
            {"thinking_level": "HIGH", "include_thoughts": True},
        ),
        (
            "gemini-2.5-pro",
            {"effort": "high"},
            {"thinking_budget": 24576, "include_thoughts": True},
        ),
        ("gemini-2.5-flash", {"thinking": 0}, {"thinking_budget": 0}),
        (OURS, {}, None),
    ],
)
def test_thinking_is_a_level_or_a_budget_never_both(
    model: str, options: dict[str, Any], thinking: dict[str, Any] | None
) -> None:
    config = encode(block("user", Text("a")), model=model, **options)["config"]
    assert config.get("thinking_config") == thinking


@pytest.mark.parametrize(
    ("input", "args"),
    [
        ("", {}),
        ('{"a": 1}', {"a": 1}),
        ("[1, 2]", {"input": [1, 2]}),
        ('{"cut": "sho', {"input": '{"cut": "sho'}),
        ("plain words", {"input": "plain words"}),
        ('{"n": "\\ud800"}', {"input": '{"n": "\\ud800"}'}),
        ("[" * 5000 + "]" * 5000, {"input": "[" * 5000 + "]" * 5000}),
        ("[" * 501 + "]" * 501, {"input": "[" * 501 + "]" * 501}),
        ('{"in a string": "' + "[" * 501 + '"}', {"in a string": "[" * 501}),
    ],
)
def test_input_that_is_no_object_is_wrapped_in_one(input: str, args: dict[str, Any]) -> None:
    call = encode(block("user", Text("a")), block("assistant", ToolCall("c", "t", input)))
    assert call["contents"][1]["parts"][0]["function_call"]["args"] == args


def test_a_turn_of_thoughts_alone_is_left_out() -> None:
    thought = Reasoning("hm", seal("google", b'{"thought":true}', OURS))
    request = encode(
        block("user", Text("a")), block("assistant", thought), block("user", Text("b"))
    )
    assert [turn["role"] for turn in request["contents"]] == ["user", "user"]


def test_the_path_names_model_and_method() -> None:
    assert path({"model": "gemini-3-flash"}) == "models/gemini-3-flash:generateContent"
    streamed = path({"model": "tunedModels/mine"}, stream=True)
    assert streamed == "tunedModels/mine:streamGenerateContent?alt=sse"
