"""OpenAI Responses: every kind of item and field, as the API writes them."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.codecs.openai_responses import ResponsesCodec
from holdfast.model.message import Media, Reasoning, Text, ToolCall, ToolResult, seal
from holdfast.model.profile import Profile
from holdfast.model.reply import Delta, Usage
from holdfast.model.window import Options, Tool
from tests.codecs.openai_windows import (
    MODEL,
    PICTURE,
    PLAIN,
    THINKER,
    TOOLS,
    after,
    block,
    window,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "openai-responses"
CODEC = ResponsesCodec()
REASONING = seal("openai", b'{"id":"rs_1","summary":[],"encrypted_content":"gAAA"}', MODEL)
FUNCTION = seal("openai", b'{"id":"fc_1","status":"completed"}', MODEL)


def sent(*blocks: Any, **more: Any) -> list[dict[str, Any]]:
    return CODEC.encode(window(*blocks, **more), THINKER, Options())["input"]


def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text("utf-8"))


@pytest.mark.seed("000", 30)
@pytest.mark.seed("004", 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89)
def test_a_reply_of_every_kind_of_item_is_read_and_sent_back() -> None:
    told = golden("response.json")
    reply = CODEC.decode(json.dumps(told).encode())
    kinds = [type(part).__name__ for part in reply.message.parts]
    assert kinds == [
        *("Reasoning", "Text", "Opaque", "Reasoning", "ToolCall", "ToolCall", "ToolCall"),
        *("ToolCall", "Opaque", "Opaque", "Opaque", "Opaque", "Text", "Text"),
    ]
    results = [
        ToolResult("call_read", "1 | word", media=(PICTURE,)),
        ToolResult("call_patch", "done"),
        ToolResult("call_shell", "README.md"),
        ToolResult("call_search", '[{"type": "function", "name": "found"}]'),
    ]
    blocks = (
        block("system", "You are careful."),
        block("developer", "<permissions instructions>ask</permissions instructions>"),
        block("user", "Fix the typo."),
        block("assistant", *reply.message.parts),
        block("tool", *results),
    )
    request = CODEC.encode(window(*blocks, tools=TOOLS), THINKER, Options(stream=True))
    assert request == golden("request.json")
    assert CODEC.violations(request, THINKER) == []


def test_a_recorded_stream_gives_the_same_reply_and_tells_its_pieces() -> None:
    decoder = CODEC.decoder()
    deltas = decoder.feed((GOLDEN / "stream.sse").read_bytes())
    reply = decoder.close()
    assert "".join(delta.text for delta in deltas) == "I read it first."
    assert "".join(delta.reasoning for delta in deltas) == "Look before editing."
    assert [delta for delta in deltas if delta.tool] == [Delta(tool="read", index=2)]
    assert "".join(delta.input for delta in deltas) == '{"path":"a.txt"}'
    thought, said, call = reply.message.parts
    assert isinstance(thought, Reasoning)
    assert thought.seal
    assert b"gAAAA-complete" in thought.seal.data
    assert said == Text("I read it first.", seal=said.seal if isinstance(said, Text) else None)
    assert isinstance(call, ToolCall)
    assert (call.id, call.name, call.input) == ("call_1", "read", '{"path":"a.txt"}')
    assert (reply.stop, reply.request, reply.model) == ("tools", "resp_9", "gpt-5.3-codex")
    assert reply.usage == Usage(
        input=200, cache_read=1_024, cache_write=100, output=80, reasoning=30
    )


@pytest.mark.seed("004", 34, 66)
def test_leading_system_blocks_are_the_instructions_and_later_ones_the_developers() -> None:
    request = CODEC.encode(
        window(
            block("system", "One."),
            block("developer", "Two."),
            block("system", "Three."),
            block("user", "Hi."),
            block("system", "Four."),
        ),
        THINKER,
        Options(),
    )
    assert request["instructions"] == "One.\n\nThree."
    assert [(item["role"], item["content"][0]["text"]) for item in request["input"]] == [
        ("developer", "Two."),
        ("user", "Hi."),
        ("developer", "Four."),
    ]


@pytest.mark.seed("004", 72)
@pytest.mark.seed("004", 65, 67, 69, 70, 71, 73)
def test_fields_of_the_request_come_from_the_options() -> None:
    extra = {
        "service_tier": "flex",
        "text": {"verbosity": "low", "format": {"type": "text"}},
        "reasoning": {"effort": "low", "summary": "auto"},
    }
    options = Options(
        max_tokens=5,
        stream=True,
        effort="high",
        tool_choice="apply",
        parallel_tools=False,
        cache_key="k" * 65,
        server_edits={"edits": [{"type": "compaction", "compact_threshold": 9}, {"type": "x"}]},
        extra=extra,
    )
    request = CODEC.encode(window(block("user", "Hi."), tools=TOOLS), THINKER, options)
    assert list(request) == [
        *("model", "input", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "store"),
        *("stream", "include", "prompt_cache_key", "max_output_tokens", "context_management"),
        *("service_tier", "text"),
    ]
    assert request["tool_choice"] == {"type": "custom", "name": "apply"}
    assert request["store"] is False
    assert request["include"] == ["reasoning.encrypted_content"]
    assert request["reasoning"] == extra["reasoning"]
    assert request["max_output_tokens"] == 16
    assert len(request["prompt_cache_key"]) == 64
    assert request["context_management"] == [{"type": "compaction", "compact_threshold": 9}]


@pytest.mark.seed("004", 74)
def test_a_model_known_not_to_think_is_not_asked_for_encrypted_reasoning() -> None:
    request = CODEC.encode(window(block("user", "Hi.")), PLAIN, Options())
    assert "include" not in request
    assert "include" in CODEC.encode(window(block("user", "Hi.")), Profile(name="x"), Options())


@pytest.mark.seed("004", 68)
def test_tools_are_written_for_the_api_and_native_ones_for_their_owner_only() -> None:
    tools = (
        *TOOLS,
        Tool(name="web", kind="web_search", native={"type": "web_search"}, owner="openai"),
        Tool(
            name="bash", kind="bash_20250124", native={"type": "bash_20250124"}, owner="anthropic"
        ),
    )
    made = CODEC.encode(window(block("user", "Hi."), tools=tools), THINKER, Options())["tools"]
    assert made == [
        {
            "type": "function",
            "name": "read",
            "description": "Read a file.",
            "parameters": {"type": "object"},
            "strict": False,
        },
        {"type": "custom", "name": "apply", "description": "Apply a patch."},
        {"type": "web_search"},
    ]


@pytest.mark.seed("004", 96)
def test_a_picture_keeps_its_detail_and_other_media_go_natively_or_in_words() -> None:
    detailed = Media(
        type="image/png", url="https://e.org/a.png", seal=seal("openai", b'{"detail":"low"}')
    )
    paper = Media(type="application/pdf", data=b"%PDF", name="a.pdf")
    sound = Media(type="audio/wav", data=b"RIFF", name="a.wav")
    content = sent(block("user", "See:", detailed, PICTURE, paper, sound))[0]["content"]
    assert content[1] == {
        "type": "input_image", "image_url": "https://e.org/a.png", "detail": "low",
    }  # fmt: skip
    assert content[2]["image_url"].startswith("data:image/png;base64,")
    assert content[2]["detail"] == "auto"
    assert content[3] == {
        "type": "input_file",
        "filename": "a.pdf",
        "file_data": "data:application/pdf;base64,JVBERg==",
    }
    assert content[4]["text"] == "[audio/wav a.wav left out: it cannot be sent to this model]"


def test_a_model_that_sees_nothing_is_told_what_was_left_out() -> None:
    blind = Profile(name="x", abilities=frozenset({"tools"}))
    made = CODEC.encode(window(block("user", PICTURE)), blind, Options())["input"]
    assert made[0]["content"][0]["text"].startswith("[image/png shot.png left out")


@pytest.mark.seed("004", 94)
def test_phase_and_end_turn_go_back_on_the_message_they_came_with() -> None:
    said = Text("Done.", seal=seal("openai", b'{"phase":"final_answer","end_turn":true}', MODEL))
    assert sent(block("user", "Hi."), block("assistant", said))[1] == {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Done."}],
        "phase": "final_answer",
        "end_turn": True,
    }


def test_a_dated_reply_is_the_model_that_was_asked_by_its_alias() -> None:
    thought = Reasoning("hm", seal("openai", REASONING.data, f"{MODEL}-2026-01-15"))
    other = Reasoning("hm", seal("openai", REASONING.data, "gpt-4.9"))
    assert sent(block("assistant", thought, "a"))[0]["type"] == "reasoning"
    assert sent(block("assistant", other, "a"))[0]["type"] == "message"


@pytest.mark.parametrize(
    "thought",
    [
        Reasoning("hm"),
        Reasoning("hm", seal("anthropic", REASONING.data, MODEL)),
        Reasoning("hm", seal("openai", b'{"id":"rs_1","summary":[]}', MODEL)),
        Reasoning("hm", seal("openai", b"not json", MODEL)),
    ],
)
def test_reasoning_that_its_maker_could_not_verify_is_left_out_whole(thought: Reasoning) -> None:
    assert [item["type"] for item in sent(block("assistant", thought, "a"))] == ["message"]


def test_reasoning_that_led_to_nothing_is_left_out() -> None:
    thought = Reasoning("hm", REASONING)
    assert sent(block("user", "a"), block("assistant", "b", thought), block("user", "c")) == sent(
        block("user", "a"), block("assistant", "b"), block("user", "c")
    )


def test_reasoning_in_a_block_of_its_own_stays_with_the_call_behind_it() -> None:
    call = ToolCall("call_1", "read", "{}")
    made = sent(
        block("user", "a"),
        block("assistant", Reasoning("hm", REASONING)),
        block("assistant", call),
        block("tool", ToolResult("call_1", "b")),
    )
    assert [item["type"] for item in made[1:]] == [
        *("reasoning", "function_call", "function_call_output"),
    ]


def test_ids_go_only_where_items_are_stored_and_nothing_of_the_reply_is_missing() -> None:
    stored = Options(extra={"store": True})
    call = ToolCall("call_1", "read", "{}", FUNCTION)
    thought = Reasoning("hm", REASONING)
    end = block("tool", ToolResult("call_1", "b"))

    def ids(*parts: Any, options: Options = stored) -> list[Any]:
        blocks = (block("user", "a"), block("assistant", *parts), end)
        made = CODEC.encode(window(*blocks), THINKER, options)["input"]
        return [item.get("id") for item in made[1:-1]]

    assert ids(thought, call) == ["rs_1", "fc_1"]
    assert ids(thought, call, options=Options()) == [None, None]
    assert ids(call) == [None]  # its reasoning may be gone
    assert ids(Reasoning("hm"), call) == [None]  # its reasoning is gone
    assert ids(thought, "not its own", call) == [None, None, None]
    always = ResponsesCodec(ids=True)
    made = always.encode(window(block("assistant", thought, call), end), THINKER, Options())
    assert [item.get("id") for item in made["input"][:2]] == ["rs_1", "fc_1"]


def test_a_custom_call_is_known_by_its_seal_or_by_its_tool() -> None:
    made_here = ToolCall("c1", "patch", "*** Begin", seal("openai", b'{"type":"custom_tool_call"}'))
    by_tool = ToolCall("c2", "apply", "free")
    foreign = ToolCall("c3", "patch", "free")
    results = [ToolResult(call, "ok") for call in ("c1", "c2", "c3")]
    made = sent(
        block("assistant", made_here, by_tool, foreign), block("tool", *results), tools=TOOLS
    )
    assert [item["type"] for item in made] == [
        *("custom_tool_call", "custom_tool_call", "function_call"),
        *("custom_tool_call_output", "custom_tool_call_output", "function_call_output"),
    ]
    assert made[0]["input"] == "*** Begin"
    assert made[2]["arguments"] == '{"input":"free"}'


@pytest.mark.seed("004", 95)
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('{"a":  1}', '{"a":  1}'),
        ("", "{}"),
        ('{"cut": "sho', '{"input":"{\\"cut\\": \\"sho"}'),
        ("[1]", '{"input":"[1]"}'),
    ],
)
def test_arguments_go_as_they_were_written_where_they_are_an_object(
    given: str, expected: str
) -> None:
    made = sent(
        block("assistant", ToolCall("c", "read", given)), block("tool", ToolResult("c", "x"))
    )
    assert made[0]["arguments"] == expected


@pytest.mark.seed("004", 93)
def test_a_request_goes_on_after_a_reply_without_a_violation() -> None:
    reply = CODEC.decode(json.dumps(golden("response.json")).encode())
    request = CODEC.encode(after(reply.message, tools=TOOLS), THINKER, Options())
    assert CODEC.violations(request, THINKER) == []


@pytest.mark.parametrize(
    ("told", "tier"), [("priority", "priority"), ("flex", "flex"), ("default", ""), (None, "")]
)
def test_how_a_response_was_served_is_read(told: str | None, tier: str) -> None:
    usage = {"input_tokens": 7, "output_tokens": 3}
    response = {"status": "completed", "output": [], "usage": usage, "service_tier": told}
    assert CODEC.decode(json.dumps(response).encode()).usage.tier == tier
