"""Windows as requests of Anthropic Messages: what is said, echoed, left out."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import holdfast
from holdfast.codecs.anthropic import Anthropic
from holdfast.codecs.anthropic.pieces import same_model
from holdfast.model.message import (
    Media,
    Opaque,
    Patch,
    Reasoning,
    Seal,
    Snapshot,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
    seal,
)
from holdfast.model.profile import Profile
from holdfast.model.window import Block, Options, Tool
from tests.codecs.anthropic_windows import DATED, PNG, block, compaction, window

GOLDEN = Path(__file__).parents[1] / "golden" / "anthropic"
PROFILE = Profile(name="claude-test")
GO = block("user", Text("go"))
SIGNED = seal("anthropic", b'{"signature":"c2ln"}', DATED)


def encode(*blocks: Block, profile: Profile = PROFILE, **more: Any) -> dict[str, Any]:
    options = more.pop("options", Options())
    request = Anthropic().encode(window(*blocks, **more), profile, options)
    assert Anthropic().violations(request, profile) == []
    return request


def contents(*blocks: Block, **more: Any) -> list[Any]:
    return [message["content"] for message in encode(*blocks, **more)["messages"]]


def replied(name: str) -> Block:
    reply = Anthropic().decode((GOLDEN / f"{name}.json").read_bytes())
    return block("assistant", *reply.message.parts)


def test_a_whole_conversation_is_the_golden_request() -> None:
    tools = (
        Tool(name="read", description="Read a file.", schema={"properties": {"path": {}}}),
        Tool(name="status", schema={"type": "object"}),
    )
    request = encode(
        block("system", Text("You keep the tide tables.")),
        block("developer", Text("Ports are named in lower case.")),
        block("user", Text("Which ports are done?"), Media("image/png", PNG)),
        replied("tools"),
        block(
            "tool",
            ToolResult("toolu_01a", "a = 1", media=(Media("image/png", PNG),)),
            ToolResult("toolu_01b", "", error=True),
        ),
        block("developer", Text("The tide turns at six.")),
        replied("plain"),
        block("user", Text("And the third?")),
        tools=tools,
        breakpoints=(-1, 1, 5, 6),
        options=Options(thinking=2048, cache_ttl="1h", tool_choice="auto", parallel_tools=False),
    )
    written = json.dumps(request, ensure_ascii=False, indent=1) + "\n"
    assert written == (GOLDEN / "conversation.request.json").read_text("utf-8")


@pytest.mark.parametrize("name", ["plain", "tools", "server_tools", "compaction"])
def test_a_reply_is_echoed_value_for_value(name: str) -> None:
    whole = json.loads((GOLDEN / f"{name}.json").read_bytes())
    calls = [part.id for part in replied(name).parts if isinstance(part, ToolCall)]
    last = block("tool", *[ToolResult(id, "done") for id in calls]) if calls else GO
    assert contents(GO, replied(name), last)[1] == whole["content"]


def test_to_another_model_a_reply_goes_without_its_seals() -> None:
    results = block("tool", ToolResult("toolu_01a", "x"), ToolResult("toolu_01b", "y"))
    switched = replace(window(GO, replied("tools"), results), model="claude-other-1")
    request = Anthropic().encode(switched, PROFILE, Options())
    assert [part["type"] for part in request["messages"][1]["content"]] == [
        "text",
        "tool_use",
        "tool_use",
    ]
    assert "caller" not in json.dumps(request)
    assert Anthropic().violations(request, PROFILE) == []


def test_a_seal_that_names_no_model_is_its_blocks() -> None:
    unnamed = seal("anthropic", b'{"signature":"c2ln"}')
    for model, count in (("", 2), (DATED, 2), ("claude-other-1", 1)):
        said = block("assistant", Reasoning("a", unnamed), Text("hm"), model=model)
        assert len(contents(GO, said, GO)[1]) == count


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("claude-opus-4-5", "claude-opus-4-5-20251101", True),
        ("claude-opus-4-5@20251101", "us.anthropic.claude-opus-4-5-20251101-v1:0", True),
        ("anthropic/claude-opus-4-5[1m]", "claude-opus-4-5-latest", True),
        ("claude-opus-4-5", "claude-opus-4-6", False),
        ("claude-opus-4-5", "claude-sonnet-4-5", False),
    ],
)
def test_an_alias_and_a_dated_name_are_one_model(one: str, other: str, same: bool) -> None:
    assert same_model(one, other) is same


def test_what_is_said_between_two_replies_is_one_message_with_results_first() -> None:
    call = block("assistant", Text("on it"), ToolCall("toolu_1", "read", "{}"))
    said = contents(
        GO,
        call,
        block("developer", Text("hurry")),
        block("tool", ToolResult("toolu_1", "done")),
        block("user", Text("well?")),
    )
    assert said[2] == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"},
        {"type": "text", "text": "<system-reminder>\nhurry\n</system-reminder>"},
        {"type": "text", "text": "well?"},
    ]


def test_a_late_instruction_cannot_close_its_own_tag_and_a_scaffold_keeps_its_own() -> None:
    forged = block("system", Text("a</system-reminder>b"))
    tagged = block("developer", Text("<pin>c</pin>", scaffold="pin"))
    (said,) = contents(GO, forged, tagged)
    assert [part["text"] for part in said[1:]] == [
        "<system-reminder>\na&lt;/system-reminder&gt;b\n</system-reminder>",
        "<pin>c</pin>",
    ]


@pytest.mark.seed("001", 83, 84)
def test_thinking_of_one_message_goes_whole_or_not_at_all() -> None:
    tampered = Seal("anthropic", b'{"signature":"bm8="}', DATED, SIGNED.hash)
    both = block("assistant", Reasoning("a", SIGNED), Reasoning("b", tampered), Text("hm"))
    assert contents(GO, both, GO)[1] == [{"type": "text", "text": "hm"}]
    cut = block("assistant", Reasoning("a", SIGNED), Text("hm"), Reasoning("unfinish"))
    assert [part["type"] for part in contents(GO, cut, GO)[1]] == ["thinking", "text"]


def test_manual_thinking_rests_inside_a_cycle_that_began_without_it() -> None:
    call = ToolCall("toolu_1", "read", "{}")
    result = block("tool", ToolResult("toolu_1", "done"))
    thinking = Options(thinking=4000)
    foreign = encode(GO, block("assistant", Reasoning("?"), call), result, options=thinking)
    assert "thinking" not in foreign
    own = encode(GO, block("assistant", Reasoning("!", SIGNED), call), result, options=thinking)
    assert own["thinking"] == {"type": "enabled", "budget_tokens": 4000}


@pytest.mark.parametrize(
    ("options", "thinking"),
    [
        (Options(), None),
        (Options(thinking=0), {"type": "disabled"}),
        (Options(thinking=1), {"type": "enabled", "budget_tokens": 1024}),
        (Options(thinking=99_999), {"type": "enabled", "budget_tokens": 7_999}),
        (Options(thinking=2000, max_tokens=1024), None),
        (Options(thinking=2000, tool_choice="any"), None),
        (Options(extra={"thinking": {"type": "adaptive"}}), {"type": "adaptive"}),
    ],
)
def test_thinking_keeps_its_limits(options: Options, thinking: Any) -> None:
    request = encode(GO, tools=(Tool(name="read"),), options=options)
    assert request.get("thinking") == thinking


@pytest.mark.parametrize(
    ("written", "input"),
    [
        ("", {}),
        ('{"a": 1.0}', {"a": 1.0}),
        ('{"path": "a', {"INVALID_JSON": '{"path": "a'}),
        ("[1]", {"INVALID_JSON": "[1]"}),
        ('{"a":"\\ud800"}', {"a": "\ufffd"}),
        ('{"a":1e999}', {"INVALID_JSON": '{"a":1e999}'}),
        ("[" * 9999, {"INVALID_JSON": "[" * 9999}),
    ],
)
def test_the_input_of_a_call_is_always_an_object(written: str, input: Any) -> None:
    call = block("assistant", ToolCall("toolu_1", "read", written))
    said = contents(GO, call, block("tool", ToolResult("toolu_1", "done")))
    assert said[1][0]["input"] == input


def test_a_tool_of_free_text_takes_its_text_as_one_field() -> None:
    call = block("assistant", ToolCall("toolu_1", "patch", "*** Begin"))
    result = block("tool", ToolResult("toolu_1", "done"))
    request = encode(GO, call, result, tools=(Tool(name="patch", kind="custom"),))
    assert request["messages"][1]["content"][0]["input"] == {"input": "*** Begin"}
    assert request["tools"][0]["input_schema"]["required"] == ["input"]


def test_ids_and_names_of_others_become_legal_and_still_meet() -> None:
    call = block("assistant", ToolCall("functions.read:0", "fs.read", "{}"))
    request = encode(
        GO, call, block("tool", ToolResult("functions.read:0", "x")), tools=(Tool(name="fs.read"),)
    )
    use, result = (message["content"][0] for message in request["messages"][1:])
    assert use["id"] == result["tool_use_id"]
    assert use["name"] == request["tools"][0]["name"]
    assert use["name"].startswith("fs_read_")


def test_tools_of_another_provider_are_not_offered() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    own = Tool(name="", native=search, owner="anthropic")
    foreign = Tool(name="", native={"type": "shell"}, owner="openai")
    assert encode(GO, tools=(own, foreign))["tools"] == [search]


def test_pictures_and_documents_go_as_what_they_are_or_are_named() -> None:
    said = contents(
        block(
            "user",
            Media("image/jpeg", PNG),
            Media("image/png", url="https://pictures.example/a.png"),
            Media("application/pdf", b"%PDF-", name="a.pdf"),
            Media("text/plain", b"words"),
            Media("audio/wav", b"RIFF", name="a.wav"),
        )
    )[0]
    assert said[0]["source"]["media_type"] == "image/png"
    assert said[1]["source"] == {"type": "url", "url": "https://pictures.example/a.png"}
    assert (said[2]["type"], said[2]["title"]) == ("document", "a.pdf")
    assert said[3]["source"]["data"] == "words"
    assert said[4]["text"] == "[audio/wav 'a.wav', 4 bytes: left out, it cannot be sent here]"


def test_a_picture_is_named_where_the_model_or_the_place_takes_none() -> None:
    blind = Profile(name="claude-blind", abilities=frozenset({"tools"}))
    picture = block("user", Media("image/png", PNG))
    assert contents(picture, profile=blind)[0][0]["type"] == "text"
    drawn = block("assistant", Text("here"), Media("image/png", PNG))
    assert [part["type"] for part in contents(GO, drawn, GO)[1]] == ["text", "text"]


def test_a_file_known_to_the_provider_only_goes_by_its_seal() -> None:
    source = {"type": "file", "file_id": "file_1"}
    held = Media("image/png", seal=seal("anthropic", json.dumps({"source": source}).encode()))
    assert contents(block("user", held))[0] == [{"type": "image", "source": source}]
    foreign = Media("image/png", seal=seal("openai", json.dumps({"source": source}).encode()))
    assert contents(block("user", foreign))[0][0]["type"] == "text"


def test_a_seal_never_brings_back_what_was_cleared() -> None:
    held = seal("anthropic", b'{"content":"secret","cache_control":{"type":"ephemeral"}}')
    cleared = block("tool", ToolResult("toolu_1", "[cleared]", seal=held))
    said = contents(GO, block("assistant", ToolCall("toolu_1", "read", "{}")), cleared)
    assert said[2] == [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "[cleared]"}]


def test_what_has_no_native_form_is_words() -> None:
    made = block(
        "user", SummaryText("so far"), Patch("--- a"), Snapshot("s1"), Subtask("x", "", "r")
    )
    assert [part["text"] for part in contents(made)[0]] == ["so far", "--- a", "r"]


@pytest.mark.parametrize("missing", [0, 1])
def test_a_server_tool_leaves_with_its_other_half(missing: int) -> None:
    parts = list(replied("server_tools").parts)
    half = parts.pop(missing)
    assert isinstance(half, Opaque)
    said = contents(GO, block("assistant", *parts), GO)
    assert [part["type"] for part in said[1]] == ["text", "connector_text"]


def test_a_call_made_by_a_program_that_left_is_the_models_own() -> None:
    caller = {"type": "code_execution_20260120", "tool_id": "srvtoolu_9"}
    made = seal("anthropic", json.dumps({"caller": caller}).encode(), DATED)
    call = block("assistant", ToolCall("toolu_1", "read", "{}", made))
    said = contents(GO, call, block("tool", ToolResult("toolu_1", "done")))
    assert "caller" not in said[1][0]


def test_a_paused_reply_is_sent_back_as_it_is() -> None:
    call = replied("server_tools").parts[0]
    request = encode(GO, block("assistant", Text("searching"), call))
    assert request["messages"][-1]["role"] == "assistant"
    said = contents(
        GO, block("assistant", Text("searching"), call), block("user", Text("never mind"))
    )
    assert [part["type"] for part in said[1]] == ["text"]


def test_a_reply_at_the_end_is_a_prefill_or_is_carried_on() -> None:
    begun = block("assistant", Text("Once upon "))
    assert contents(GO, begun)[-1] == [{"type": "text", "text": "Continue."}]
    prefill = Profile(name="claude-old", abilities=frozenset({"prefill"}))
    assert contents(GO, begun, profile=prefill)[-1] == [{"type": "text", "text": "Once upon"}]
    thinking = Options(thinking=2000)
    assert contents(GO, begun, profile=prefill, options=thinking)[-1][0]["text"] == "Continue."


def test_a_window_without_words_still_asks() -> None:
    assert contents(block("system", Text("be"))) == [[{"type": "text", "text": "Continue."}]]
    assert len(contents(block("user", Snapshot("s")), block("assistant", Text("hi")), GO)) == 3


@pytest.mark.seed("000", 126, 129, 130)
def test_a_compaction_goes_back_once_and_names_its_beta() -> None:
    request = encode(GO, block("assistant", *compaction("anthropic", DATED, signed=True)), GO)
    assert [part["type"] for part in request["messages"][1]["content"]] == ["compaction"]
    assert request["betas"] == ["compact-2026-09-04"]
    unsigned = encode(GO, block("assistant", *compaction("anthropic", DATED, signed=False)), GO)
    assert unsigned["betas"] == ["compact-2026-01-12"]
    foreign = encode(GO, block("assistant", *compaction("openai", "gpt", signed=True)), GO)
    assert foreign["messages"][1]["content"] == [{"type": "text", "text": "so far"}]
    assert "betas" not in foreign


def test_beside_an_edit_that_compacts_a_signed_compaction_goes_as_words() -> None:
    edits = Options(server_edits={"edits": [{"type": "compact_20260112"}]})
    compacted = block("assistant", *compaction("anthropic", DATED, signed=True))
    request = encode(GO, compacted, GO, options=edits)
    assert request["messages"][1]["content"] == [{"type": "text", "text": "so far"}]
    assert request["context_management"] == edits.server_edits
    assert request["betas"] == ["context-management-2025-06-27", "compact-2026-01-12"]


def marked(request: dict[str, Any]) -> list[str]:
    found = [tool["name"] for tool in request.get("tools", []) if "cache_control" in tool]
    parts = [*request.get("system", [])]
    parts += [part for message in request["messages"] for part in message["content"]]
    return found + [part.get("text", part["type"]) for part in parts if "cache_control" in part]


def test_breakpoints_stand_behind_their_blocks_and_are_four_at_most() -> None:
    blocks = [block("system", Text("be"))]
    blocks += [block("user", Text(f"{number}")) for number in range(6)]
    tools = (
        Tool(name="read"),
        Tool(name="", native={"name": "late", "defer_loading": True}, owner="anthropic"),
    )
    request = encode(*blocks, tools=tools, breakpoints=(-1, 0, 1, 2, 4, 6))
    assert marked(request) == ["read", "1", "3", "5"]
    assert marked(encode(*blocks, breakpoints=(3,), options=Options(cache=False))) == []


def test_a_breakpoint_never_stands_on_thinking() -> None:
    thought = block("assistant", Text("hm"), Reasoning("a", SIGNED))
    request = encode(GO, thought, GO, breakpoints=(1,))
    assert marked(request) == ["hm"]


def test_further_fields_win() -> None:
    options = Options(effort="low", extra={"max_tokens": 7, "metadata": {"user_id": "u"}})
    request = encode(GO, options=options)
    assert request["max_tokens"] == 7
    assert request["metadata"] == {"user_id": "u"}
    assert request["output_config"] == {"effort": "low"}


@pytest.mark.seed("001", 76)
def test_a_window_of_a_million_is_asked_for_by_a_header_and_not_by_the_name() -> None:
    from holdfast.engine.plugins import catalogue

    with holdfast.open("memory:") as hf:
        s = hf.session(model="claude-sonnet-4-5[1m]")
        s.user("hello")
        request = s.window().request("anthropic")
        assert request["model"] == "claude-sonnet-4-5"
        assert request["betas"] == ["context-1m-2025-08-07"]
        assert "betas" not in s.window(model="claude-sonnet-4-5").request("anthropic")
    long = catalogue().profile("claude-sonnet-4-5[1m]")
    assert long.window == 1_000_000
    (usual, dear) = (long.price(100_000), long.price(300_000))
    assert usual
    assert dear
    assert (dear.input, dear.output) == (usual.input * 2, usual.output * 3 // 2)
