"""Replies that an SDK has parsed: what it made of them is its own, and is not echoed."""

import json
from typing import Any

import pytest
from anthropic.types.parsed_message import ParsedMessage
from openai.types.chat import ParsedChatCompletion
from openai.types.responses import ParsedResponse
from pydantic import BaseModel

import holdfast
from holdfast.engine.calls.response import body_of


class Point(BaseModel):
    """What the caller asked to have parsed."""

    parsed: int


RESPONSE: dict[str, Any] = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.5", "tools": [],
    "tool_choice": "auto", "parallel_tool_calls": True, "status": "completed",
    "output": [
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": '{"parsed":1}', "annotations": []}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "sh", "arguments": "{}",
         "status": "completed"},
    ],
}  # fmt: skip
CHAT: dict[str, Any] = {
    "id": "c_1", "object": "chat.completion", "created": 1, "model": "gpt-5.5",
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": '{"parsed":1}',
        "tool_calls": [{"id": "c", "type": "function",
                        "function": {"name": "sh", "arguments": '{"parsed":1}'}}]}}],
}  # fmt: skip
MESSAGE: dict[str, Any] = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-6",
    "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1},
    "content": [
        {"type": "text", "text": '{"parsed":1}'},
        {"type": "tool_use", "id": "c", "name": "sh", "input": {"parsed_output": 1}},
    ],
}  # fmt: skip


def response() -> Any:
    made = ParsedResponse[Point].model_validate(RESPONSE)
    made.output[0].content[0].parsed = Point(parsed=1)  # type: ignore[union-attr]
    made.output[1].parsed_arguments = {"a": 1}  # type: ignore[union-attr]
    return made


def chat() -> Any:
    made = ParsedChatCompletion[Point].model_validate(CHAT)
    made.choices[0].message.parsed = Point(parsed=1)
    made.choices[0].message.tool_calls[0].function.parsed_arguments = {"a": 1}  # type: ignore[index]
    return made


def message() -> Any:
    made = ParsedMessage[Point].model_validate(MESSAGE)
    made.content[0].parsed_output = Point(parsed=1)  # type: ignore[union-attr]
    return made


CASES = {
    "openai-responses": ("gpt-5.5", response, RESPONSE),
    "openai-chat": ("gpt-5.5", chat, CHAT),
    "anthropic": ("claude-opus-4-6", message, MESSAGE),
}


@pytest.mark.parametrize("format", CASES)
def test_what_an_sdk_parsed_is_not_part_of_the_reply(format: str) -> None:
    _, parsed, plain = CASES[format]
    assert json.loads(body_of(parsed())) == plain


@pytest.mark.parametrize("format", CASES)
def test_nor_where_the_caller_has_dumped_it(format: str) -> None:
    _, parsed, plain = CASES[format]
    assert json.loads(body_of(parsed().model_dump(exclude_none=True, warnings=False))) == plain


@pytest.mark.parametrize("format", CASES)
def test_a_parsed_reply_is_echoed_as_the_provider_gave_it(format: str, tmp_path: Any) -> None:
    model, parsed, plain = CASES[format]
    echoes: list[str] = []
    for number, reply in enumerate((parsed(), plain)):
        with holdfast.open(tmp_path / f"{number}.db") as hf:
            s = hf.session(model=model)
            s.user("where?")
            s.reply(reply, format=format)
            s.tool_result("c", "done", name="sh")
            echoes.append(json.dumps(s.window(tools=[]).request(format), sort_keys=True))
    assert "parsed_arguments" not in echoes[0]
    assert _talk(echoes[0]) == _talk(echoes[1])


def _talk(request: str) -> Any:
    made = json.loads(request)
    return made.get("messages") or made.get("input")
