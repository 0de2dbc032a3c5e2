"""OpenAI Responses: native calls, hosted items, and how a response or its stream ended."""

import json
from typing import Any

import pytest

from holdfast.codecs.openai_responses import ResponsesCodec
from holdfast.model.message import Opaque, Reasoning, ToolCall, ToolResult, opaque, seal
from holdfast.model.reply import Edit
from holdfast.model.window import Options
from tests.codecs.openai_windows import (
    MODEL,
    PICTURE,
    PLAIN,
    THINKER,
    after,
    block,
    response,
    sse,
    stream,
    window,
)

CODEC = ResponsesCodec()


def sent(*blocks: Any) -> list[dict[str, Any]]:
    return CODEC.encode(window(*blocks), THINKER, Options())["input"]


NATIVE: list[tuple[dict[str, Any], ToolResult, dict[str, Any]]] = [
    (
        {"type": "shell_call", "id": "sh_1", "action": {"commands": ["ls"]}, "status": "completed"},
        ToolResult("c", "a.txt", error=True),
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [
                {"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}
            ],
        },
    ),
    (
        {"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "a"}},
        ToolResult("c", "gone"),
        {
            "type": "apply_patch_call_output",
            "call_id": "c",
            "status": "completed",
            "output": "gone",
        },
    ),
    (
        {"type": "computer_call", "id": "cu_1", "action": {"type": "screenshot"}},
        ToolResult("c", "", media=(PICTURE,)),
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {
                "type": "computer_screenshot",
                "image_url": "data:image/png;base64,iVBORw==",
            },
        },
    ),
]


@pytest.mark.parametrize(("item", "result", "output"), NATIVE)
def test_a_native_call_and_its_answer_go_natively(
    item: dict[str, Any], result: ToolResult, output: dict[str, Any]
) -> None:
    reply = CODEC.decode(json.dumps(response([item | {"call_id": "c"}])).encode())
    blocks = (block("user", "a"), block("assistant", *reply.message.parts), block("tool", result))
    codec = ResponsesCodec(ids=True)
    made = codec.encode(window(*blocks), PLAIN, Options())["input"]
    assert made[1:] == [item | {"call_id": "c"}, output]


def test_a_native_call_without_a_native_answer_goes_as_a_function() -> None:
    told = {"type": "computer_call", "call_id": "c", "action": {"type": "screenshot"}}
    reply = CODEC.decode(json.dumps(response([told])).encode())
    made = sent(
        block("assistant", *reply.message.parts), block("tool", ToolResult("c", "no screen"))
    )
    assert made == [
        {
            "type": "function_call",
            "call_id": "c",
            "name": "computer",
            "arguments": '{"type":"screenshot"}',
        },
        {"type": "function_call_output", "call_id": "c", "output": "no screen"},
    ]


def test_a_call_that_the_server_answered_itself_is_kept_whole() -> None:
    output = [
        {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c", "output": []},
    ]
    reply = CODEC.decode(json.dumps(response(output)).encode())
    assert [part.type for part in reply.message.parts if isinstance(part, Opaque)] == [
        *("shell_call", "shell_call_output"),
    ]
    assert reply.stop == "end"
    assert sent(block("user", "a"), block("assistant", *reply.message.parts))[1:] == output


def test_a_server_pair_goes_whole_or_not_at_all() -> None:
    call = opaque("openai", "shell_call", b'{"type":"shell_call","call_id":"c","action":{}}')
    answer = b'{"type":"shell_call_output","call_id":"c","output":[]}'
    lost = opaque("openai", "shell_call_output", answer, "another-model")
    pair = block("assistant", "a", call, opaque("openai", "shell_call_output", answer))
    assert len(sent(pair)) == 3
    for broken in (block("assistant", "a", call), block("assistant", "a", call, lost)):
        assert sent(broken) == sent(block("assistant", "a"))


@pytest.mark.parametrize(
    "item",
    [
        {"type": "function_call", "call_id": "c", "name": "read", "arguments": None},
        {"type": "function_call", "call_id": "c", "name": 3, "arguments": {"a": 1}},
        {"type": "custom_tool_call", "call_id": "c", "name": "apply"},
        {"type": "function_call", "name": "read", "arguments": "{}"},
        {"type": "computer_call", "call_id": "c"},
    ],
)
def test_a_garbled_call_never_spoils_the_requests_behind_it(item: dict[str, Any]) -> None:
    reply = CODEC.decode(json.dumps(response([item])).encode())
    request = CODEC.encode(after(reply.message), THINKER, Options())
    assert CODEC.violations(request, THINKER) == []


@pytest.mark.seed("004", 90, 92)
@pytest.mark.seed("001", 38)
def test_a_client_keeps_its_snapshots_to_itself() -> None:
    ghost = opaque("openai", "ghost_snapshot", b'{"type":"ghost_snapshot","id":"g"}')
    other = opaque("openai", "other", b'{"type":"other"}')
    assert sent(block("user", "a", ghost, other)) == sent(block("user", "a"))


@pytest.mark.seed("004", 91)
def test_a_compacted_conversation_is_read_and_goes_on_from_there() -> None:
    output = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"},
    ]
    told = {"id": "resp_1", "object": "response.compaction", "output": output}
    reply = CODEC.decode(json.dumps(told).encode())
    assert reply.stop == "compaction"
    assert reply.edits == (Edit(type="compaction"),)
    assert sent(block("assistant", *reply.message.parts), block("user", "b"))[:2] == output


@pytest.mark.parametrize(
    ("more", "stop"),
    [
        ({}, "end"),
        ({"status": None}, "aborted"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "refused"),
        ({"status": "failed", "error": {"code": "server_error", "message": "no"}}, "error"),
        ({"status": "failed"}, "error"),
        ({"status": "cancelled"}, "aborted"),
    ],
)
def test_why_a_response_ended(more: dict[str, Any], stop: str) -> None:
    told = response([]) | more
    if told["status"] is None:
        told["status"] = "queued"
    assert CODEC.decode(json.dumps(told).encode()).stop == stop


def test_a_refusal_is_read_as_one_and_goes_back_as_one() -> None:
    content = [{"type": "refusal", "refusal": "No."}]
    item = {"type": "message", "role": "assistant", "content": content}
    reply = CODEC.decode(json.dumps(response([item])).encode())
    assert reply.stop == "refused"
    assert reply.message.text == "No."
    assert sent(block("user", "a"), block("assistant", *reply.message.parts))[1] == item


def test_an_error_body_and_an_error_event_say_what_was_wrong() -> None:
    body = b'{"error": {"code": "invalid_encrypted_content", "message": "not verified"}}'
    assert CODEC.decode(body).error == "invalid_encrypted_content: not verified"
    decoder = CODEC.decoder()
    decoder.feed(sse({"type": "error", "code": "rate_limit_exceeded", "message": "slow down"}))
    reply = decoder.close()
    assert (reply.stop, reply.error) == ("error", "rate_limit_exceeded: slow down")


def test_a_failed_stream_keeps_what_was_said() -> None:
    item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "a"}],
    }
    told = response([item], status="failed", error={"code": "server_error", "message": "no"})
    decoder = CODEC.decoder()
    decoder.feed(stream(told))
    reply = decoder.close()
    assert (reply.stop, reply.error, reply.message.text) == ("error", "server_error: no", "a")


def test_a_stream_cut_in_a_call_keeps_its_input_as_far_as_it_came() -> None:
    call = {
        "type": "function_call", "id": "fc_1", "call_id": "c", "name": "read",
        "arguments": '{"path": "a"}',
    }  # fmt: skip
    data = stream(response([call]))
    decoder = CODEC.decoder()
    decoder.feed(data[: data.index(b"event: response.output_item.done")])
    reply = decoder.close()
    assert reply.stop == "aborted"
    assert reply.message.parts == (ToolCall("c", "read", '{"path": "a"}'),)


def test_a_character_cut_between_two_pieces_is_whole_again() -> None:
    halves = [
        {"type": "response.output_text.delta", "output_index": 0, "delta": d}
        for d in "\ud83d\ude00"
    ]
    decoder = CODEC.decoder()
    decoder.feed(sse(*halves))
    assert decoder.close().message.text == "😀"


def test_a_chat_part_of_the_same_provider_is_no_item() -> None:
    extra = opaque("openai", "chat.message", b'{"audio":{"id":"a"}}', MODEL)
    thought = Reasoning("hm", seal("openai", b'{"chat":{"reasoning":"hm"}}', MODEL))
    assert sent(block("assistant", thought, "a", extra)) == sent(block("assistant", "a"))
