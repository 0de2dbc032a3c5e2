"""OpenAI Chat Completions, and the ways of the servers that speak it."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.codecs.openai_chat import ChatCodec
from holdfast.model.message import (
    Media,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    opaque,
    seal,
)
from holdfast.model.reply import Delta, Reply, Usage
from holdfast.model.window import Options, Tool
from tests.codecs.openai_windows import (
    MODEL,
    PICTURE,
    THINKER,
    TOOLS,
    UNKNOWN,
    after,
    block,
    chunks,
    completion,
    window,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "openai-chat"
OPENAI, LOCAL = ChatCodec(), ChatCodec("llama.cpp")


def sent(codec: ChatCodec, *blocks: Any, **more: Any) -> list[dict[str, Any]]:
    return codec.encode(window(*blocks, **more), THINKER, Options())["messages"]


def streamed(codec: ChatCodec, *told: Any) -> Reply:
    decoder = codec.decoder()
    lines = [one if isinstance(one, str) else json.dumps(one) for one in told]
    decoder.feed("".join(f"data: {line}\n\n" for line in lines).encode())
    return decoder.close()


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "chatcmpl-1", "model": MODEL, "choices": [choice]}


def calling(index: int | None, given: str = "", id: str = "", name: str = "") -> dict[str, Any]:
    function = {"arguments": given} | ({"name": name} if name else {})
    call: dict[str, Any] = {"function": function} | ({"id": id} if id else {})
    return call if index is None else call | {"index": index}


def test_a_conversation_is_written_as_openai_wants_it() -> None:
    blocks = (
        block("system", "You are careful."),
        block("developer", "Ask first."),
        block("user", "What is this?", PICTURE),
        block(
            "assistant",
            "Let me see.",
            ToolCall("c1", "read", '{"path": "a"}'),
            ToolCall("c2", "apply", "*** Begin"),
        ),
        block("tool", ToolResult("c1", "1 | a", media=(PICTURE,)), ToolResult("c2", "done")),
        block("developer", "Be brief."),
        block("user", "Well?"),
    )
    options = Options(stream=True, effort="low", tool_choice="read", cache_key="s")
    request = OPENAI.encode(window(*blocks, tools=TOOLS), THINKER, options)
    assert request == json.loads((GOLDEN / "request.json").read_text("utf-8"))
    assert OPENAI.violations(request, THINKER) == []


def test_a_recorded_stream_is_read() -> None:
    decoder = OPENAI.decoder()
    deltas = decoder.feed((GOLDEN / "stream.sse").read_bytes())
    reply = decoder.close()
    assert "".join(delta.text for delta in deltas) == reply.message.text == "Let me look."
    assert [delta for delta in deltas if delta.tool] == [
        *(Delta(tool="read", index=0), Delta(tool="list", index=1)),
    ]
    assert reply.message.calls == (
        *(ToolCall("call_a", "read", '{"path":"a"}'), ToolCall("call_b", "list", "{}")),
    )
    assert (reply.stop, reply.request) == ("tools", "chatcmpl-7")
    assert reply.usage == Usage(input=22, cache_read=1_024, output=40, reasoning=16)


def test_other_servers_get_what_they_understand() -> None:
    blocks = (
        block("system", "One."),
        block("developer", "Two."),
        block("user", "Hi."),
        block("assistant", ToolCall("c", "apply", "free")),
        block("tool", ToolResult("c", "ok")),
        block("developer", "Three."),
        block("developer", Text("<tagged/>", scaffold="skill")),
    )
    request = LOCAL.encode(window(*blocks, tools=TOOLS), THINKER, Options(cache_key="s"))
    messages = request["messages"]
    assert messages[0] == {"role": "system", "content": "One.\n\nTwo."}
    assert messages[2]["content"] == ""
    assert messages[2]["tool_calls"][0]["function"]["arguments"] == '{"input":"free"}'
    assert messages[4]["content"] == "<system-reminder>\nThree.\n</system-reminder>"
    assert messages[5] == {"role": "user", "content": "<tagged/>"}
    assert request["tools"][1]["type"] == "function"
    assert request["tools"][1]["function"]["parameters"]["required"] == ["input"]
    assert request["max_tokens"] == 4_096
    assert "prompt_cache_key" not in request


def test_the_field_for_the_length_of_a_reply_is_the_providers() -> None:
    asked = window(block("user", "Hi."))
    limits = [ChatCodec(), ChatCodec("vllm"), ChatCodec("azure", limit="max_completion_tokens")]
    made = [codec.encode(asked, UNKNOWN, Options(max_tokens=7)) for codec in limits]
    assert made[0]["max_completion_tokens"] == made[1]["max_tokens"] == 7
    assert made[2]["max_completion_tokens"] == 7


def test_tools_and_choices_are_written_for_the_format() -> None:
    native = {"type": "custom", "custom": {"name": "grep", "format": {"type": "text"}}}
    tools = (
        *TOOLS,
        Tool(name="grep", kind="custom", native=native, owner="openai"),
        Tool(name="web", kind="web_search", native={"type": "web_search"}, owner="openai"),
    )
    options = Options(tool_choice="apply", parallel_tools=False)
    request = OPENAI.encode(window(block("user", "Hi."), tools=tools), THINKER, options)
    assert [tool["type"] for tool in request["tools"]] == ["function", "custom", "custom"]
    assert request["tools"][2] == native
    assert request["tool_choice"] == {"type": "custom", "custom": {"name": "apply"}}
    assert request["parallel_tool_calls"] is False
    assert "tool_choice" not in OPENAI.encode(window(block("user", "Hi.")), THINKER, options)


def test_media_go_natively_or_in_words() -> None:
    near = Media(type="image/png", url="https://e.org/a", seal=seal("openai", b'{"detail":"low"}'))
    paper = Media(type="application/pdf", data=b"%PDF", name="a.pdf")
    content = sent(OPENAI, block("user", near, paper))[0]["content"]
    assert content[0]["image_url"] == {"url": "https://e.org/a", "detail": "low"}
    assert content[1]["file"]["filename"] == "a.pdf"
    assert sent(LOCAL, block("user", paper))[0]["content"].startswith("[application/pdf a.pdf left")


def test_the_assistant_is_silent_where_nothing_of_it_can_be_said() -> None:
    thought = block("assistant", Reasoning("hm"), opaque("anthropic", "x", b"{}"))
    assert sent(OPENAI, block("user", "a"), thought, block("user", "b")) == sent(
        OPENAI, block("user", "a"), block("user", "b")
    )


def test_open_reasoning_goes_back_to_its_maker_and_to_no_other() -> None:
    body = completion({"role": "assistant", "content": "a", "reasoning_content": "hm"})
    reply = ChatCodec("deepseek").decode(json.dumps(body).encode())
    asked = after(reply.message)
    mine = ChatCodec("deepseek").encode(asked, UNKNOWN, Options())["messages"][1]
    assert mine == {"role": "assistant", "content": "a", "reasoning_content": "hm"}
    assert LOCAL.encode(asked, UNKNOWN, Options())["messages"][1] == {
        "role": "assistant", "content": "a",
    }  # fmt: skip


def test_fields_we_do_not_model_ride_along() -> None:
    message = {
        "role": "assistant",
        "content": "a",
        "annotations": [],
        "audio": {"id": "audio_1"},
        "function_call": None,
    }
    reply = OPENAI.decode(json.dumps(completion(message)).encode())
    assert [part.type for part in reply.message.parts if isinstance(part, Opaque)] == [
        "chat.message"
    ]
    made = OPENAI.encode(after(reply.message), UNKNOWN, Options())["messages"][1]
    assert made == {"role": "assistant", "content": "a", "audio": {"id": "audio_1"}}


def test_a_custom_call_is_read_and_goes_back_as_one() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    body = completion({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")
    reply = OPENAI.decode(json.dumps(body).encode())
    assert reply.message.calls[0].input == "*** Begin"
    asked = after(reply.message)
    assert OPENAI.encode(asked, UNKNOWN, Options())["messages"][1]["tool_calls"] == [call]


def test_a_refusal_is_read_as_one_and_goes_back_as_one() -> None:
    body = completion({"role": "assistant", "content": None, "refusal": "No."})
    reply = OPENAI.decode(json.dumps(body).encode())
    assert (reply.stop, reply.message.text) == ("refused", "No.")
    assert OPENAI.encode(after(reply.message), UNKNOWN, Options())["messages"][1] == {
        "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        *(("stop", "end"), ("length", "length"), ("content_filter", "refused"), ("eos", "end")),
        *((None, "end"), ("error", "error")),
    ],
)
def test_why_a_completion_ended(finish: Any, stop: str) -> None:
    body = completion({"role": "assistant", "content": "a"}, finish)
    assert OPENAI.decode(json.dumps(body).encode()).stop == stop


def test_errors_say_what_was_wrong() -> None:
    body = b'{"error": {"message": "no such model", "type": "invalid_request_error"}}'
    assert OPENAI.decode(body).error == "invalid_request_error: no such model"
    assert OPENAI.decode(b'{"choices": []}').error == "the response has no choices"
    assert OPENAI.decode(b"oops").error == "the response is not a JSON object"
    reply = streamed(OPENAI, chunk(content="a"), {"error": {"message": "out of memory"}})
    assert (reply.stop, reply.error, reply.message.text) == ("error", "out of memory", "a")


# The ways of other servers.


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    reply = streamed(
        LOCAL,
        chunk(tool_calls=[calling(None, '{"a":1}', "c1", "read")]),
        chunk(tool_calls=[calling(None, '{"b":2}', "c2", "read")]),
        chunk("stop"),
    )
    assert [(c.id, c.input) for c in reply.message.calls] == [("c1", '{"a":1}'), ("c2", '{"b":2}')]
    assert reply.stop == "tools"


def test_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    reply = streamed(
        LOCAL,
        chunk(tool_calls=[calling(0, "{", "c1", "read")]),
        chunk(tool_calls=[calling(0, "}", "c1")]),
        chunk(tool_calls=[calling(0, "{}", "c2", "list")]),
        chunk("tool_calls"),
    )
    assert [(c.id, c.input) for c in reply.message.calls] == [("c1", "{}"), ("c2", "{}")]


def test_gaps_between_indices_do_not_matter() -> None:
    reply = streamed(
        LOCAL,
        chunk(tool_calls=[calling(1, "{", "c1", "read"), calling(7, "{", "c2", "list")]),
        chunk(tool_calls=[calling(7, "}"), calling(1, "}")]),
        chunk("tool_calls"),
    )
    assert [(c.name, c.input) for c in reply.message.calls] == [("read", "{}"), ("list", "{}")]


def test_a_call_without_an_id_gets_one_that_stays_the_same() -> None:
    told = [
        chunk(tool_calls=[calling(None, "{}", name="read")]),
        chunk(tool_calls=[calling(None, "{}", name="read")]),
        chunk("stop"),
    ]
    first, second = (streamed(LOCAL, *told).message.calls for _ in range(2))
    assert first == second
    assert len({call.id for call in first}) == 2
    assert all(call.id.startswith("call_") for call in first)


def test_arguments_that_a_server_decoded_are_text_again() -> None:
    call = {"id": "c", "function": {"name": "read", "arguments": {"path": "a"}}}
    body = completion({"content": None, "tool_calls": [call]})
    assert LOCAL.decode(json.dumps(body).encode()).message.calls[0].input == '{"path":"a"}'
    assert (
        streamed(LOCAL, chunk("stop", tool_calls=[call])).message.calls[0].input == '{"path":"a"}'
    )


def test_reasoning_under_either_name_is_read_once() -> None:
    reply = streamed(
        LOCAL,
        chunk(reasoning="Hm", reasoning_content="Hm"),
        chunk(reasoning=".", reasoning_content="."),
        chunk("stop", content="a"),
    )
    thought = reply.message.parts[0]
    assert isinstance(thought, Reasoning)
    assert thought.text == "Hm."


def test_thinking_in_a_list_of_contents_is_reasoning() -> None:
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"text": "a"}]
    whole = LOCAL.decode(json.dumps(completion({"content": content})).encode())
    pieces = streamed(LOCAL, chunk(content=content[:1]), chunk("stop", content=content[1:]))
    assert whole.message == pieces.message
    assert whole.message.parts == (Reasoning("Hm."), Text("a"))


def test_usage_may_come_in_every_chunk_late_or_never() -> None:
    counts = [{"prompt_tokens": 10, "completion_tokens": n} for n in (1, 2)]
    every = [chunk(content="a") | {"usage": counts[0]}, chunk("stop") | {"usage": counts[1]}]
    assert streamed(LOCAL, *every).usage == Usage(input=10, output=2)
    late = [chunk("stop", content="a"), {"choices": [], "usage": counts[1]}, "[DONE]"]
    assert streamed(LOCAL, *late).usage == Usage(input=10, output=2)
    assert streamed(LOCAL, chunk("stop", content="a")).usage == Usage()


def test_tokens_are_counted_once_whatever_their_names() -> None:
    def used(**usage: Any) -> Usage:
        return LOCAL.decode(
            json.dumps(completion({"content": "a"}) | {"usage": usage}).encode()
        ).usage

    hits = used(prompt_tokens=100, prompt_cache_hit_tokens=64, completion_tokens=5)
    assert hits == Usage(input=36, cache_read=64, output=5)
    apart = used(completion_tokens=5, completion_tokens_details={"reasoning_tokens": 50})
    assert apart == Usage(output=55, reasoning=50)
    wrong = used(prompt_tokens=5, prompt_tokens_details={"cached_tokens": 9})
    assert wrong == Usage(cache_read=5)


def test_a_stream_is_whole_once_it_says_why_it_ended() -> None:
    data = chunks(completion({"role": "assistant", "content": "abc"}))
    decoder = OPENAI.decoder()
    decoder.feed(data[: data.index(b"data: [DONE]")])
    assert decoder.close().stop == "end"
    assert streamed(OPENAI, chunk(content="a"), "[DONE]").stop == "end"
    assert streamed(OPENAI, chunk(content="a")).stop == "aborted"


def test_only_the_first_choice_is_read() -> None:
    second = {"choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": "stop"}]}
    assert streamed(OPENAI, chunk(content="a"), second, chunk("stop")).message.text == "a"


def test_a_call_that_came_in_pieces_and_broke_off_keeps_them_without_a_seal() -> None:
    call = calling(0, '{"pa', "c", "read") | {"extra_content": {"x": 1}}
    reply = streamed(OPENAI, chunk(reasoning_content="hm"), chunk(tool_calls=[call]))
    assert reply.stop == "aborted"
    assert reply.message.parts == (Reasoning("hm"), ToolCall("c", "read", '{"pa'))


def test_a_reply_behind_a_reply_leaves_the_first_as_it_was_sent() -> None:
    first = (block("user", "hi"), block("assistant", "ok"))
    calls = (block("assistant", ToolCall("a", "sh", "{}")), block("tool", ToolResult("a", "done")))
    before, later = sent(OPENAI, *first), sent(OPENAI, *first, *calls)
    assert before == [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok"}]
    assert later[:2] == before
    assert [message["role"] for message in later[2:]] == ["assistant", "tool"]
