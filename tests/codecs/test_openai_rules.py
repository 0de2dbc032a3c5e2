"""Each rule of the OpenAI formats: one request that breaks exactly it, and the same one mended."""

from typing import Any

import pytest

from holdfast.codecs.openai_chat import ChatCodec
from holdfast.codecs.openai_chat import rules as chat_rules
from holdfast.codecs.openai_responses import ResponsesCodec
from holdfast.codecs.openai_responses import rules as responses_rules
from holdfast.ports import Codec
from tests.codecs.openai_windows import PLAIN, THINKER

Request = dict[str, Any]

USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}
CALL = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
ANSWER = {"type": "function_call_output", "call_id": "c", "output": "b"}
CUSTOM = {"type": "custom_tool_call", "call_id": "c", "name": "apply", "input": "x"}
SHELL = {"type": "local_shell_call", "call_id": "c", "action": {}, "status": "completed"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
COMPACTION = {"type": "compaction", "encrypted_content": "gAAA"}


def asks(*items: Request, **more: Any) -> Request:
    return {"model": "m", "input": list(items), "store": False, **more}


RESPONSES: list[tuple[str, Request, Request, str]] = [
    (
        "O1",
        asks(USER, CALL),
        asks(USER, CALL, ANSWER),
        "No tool output found for function call c.",
    ),
    (
        "O1",
        asks(USER, SHELL),
        asks(USER, SHELL, {"type": "local_shell_call_output", "id": "c", "output": "b"}),
        "No tool output found for local shell call c.",
    ),
    (
        "O2",
        asks(USER, ANSWER),
        asks(USER, ANSWER, previous_response_id="resp_1"),
        "No tool call found for function call output with call_id c.",
    ),
    (
        "O3",
        asks(THOUGHT, USER),
        asks(THOUGHT, THOUGHT, SAID, USER),
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ),
    (
        "O3",
        asks(USER, CALL, ANSWER, THOUGHT),
        asks(USER, THOUGHT, CALL, ANSWER),
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ),
    (
        "O4",
        asks(USER, CALL | {"id": "fc_1"}, ANSWER),
        asks(USER, THOUGHT, CALL | {"id": "fc_1"}, ANSWER),
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item.",
    ),
    (
        "O5",
        asks(THOUGHT | {"encrypted_content": None}, SAID),
        asks(THOUGHT | {"encrypted_content": None}, SAID, store=True),
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
    ),
    (
        "O5",
        asks(THOUGHT | {"encrypted_content": ""}, SAID),
        asks(THOUGHT, SAID),
        "The encrypted content for item rs_1 could not be verified.",
    ),
    (
        "O6",
        asks(COMPACTION, ANSWER, previous_response_id="resp_1"),
        asks(ANSWER, COMPACTION, USER, previous_response_id="resp_1"),
        "No tool call found for function call output with call_id c.",
    ),
]

PERSON = {"role": "user", "content": "Hi."}
ASKING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
TOLD = {"role": "tool", "tool_call_id": "c", "content": "b"}


def chats(*messages: Request) -> Request:
    return {"model": "m", "messages": list(messages)}


CHAT: list[tuple[str, Request, Request, str]] = [
    (
        "O7",
        chats(PERSON, {"role": "assistant", "content": None}),
        chats(PERSON, {"role": "assistant", "content": "a"}),
        "Assistant message must contain either 'content' or 'tool_calls'",
    ),
    (
        "O7",
        chats(PERSON, ASKING, PERSON),
        chats(PERSON, ASKING, TOLD, PERSON),
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: c",
    ),
    (
        "O7",
        chats(PERSON, ASKING),
        chats(PERSON, ASKING, TOLD),
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: c",
    ),
    (
        "O7",
        chats(PERSON, TOLD),
        chats(PERSON, ASKING, TOLD),
        "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
    ),
]


@pytest.mark.parametrize(
    ("codec", "rule", "broken", "mended", "words"),
    [
        *((ResponsesCodec(), *case) for case in RESPONSES),
        *((ChatCodec(), *case) for case in CHAT),
    ],
)
def test_a_broken_request_is_caught_by_its_rule_alone(
    codec: Codec, rule: str, broken: Request, mended: Request, words: str
) -> None:
    found = codec.violations(broken, THINKER)
    assert [(violation.rule, violation.message) for violation in found] == [(rule, words)]
    assert codec.violations(mended, THINKER) == []


def test_every_rule_is_named_and_told() -> None:
    for rule in (*responses_rules.RULES, *chat_rules.RULES):
        assert rule.__doc__
        name = rule.__name__.partition("_")[0].upper()
        assert rule.__doc__.startswith(f"{name}: ")
    assert {case[0] for case in (*RESPONSES, *CHAT)} == {f"O{number}" for number in range(1, 8)}


def test_a_call_with_an_id_needs_no_reasoning_of_a_model_that_does_not_think() -> None:
    request = asks(USER, CALL | {"id": "fc_1"}, ANSWER)
    assert ResponsesCodec().violations(request, PLAIN) == []


def test_an_output_must_be_of_its_calls_kind() -> None:
    request = asks(USER, CUSTOM, ANSWER)
    assert [v.rule for v in ResponsesCodec().violations(request, THINKER)] == ["O1", "O2"]


def test_an_output_ahead_of_its_call_answers_nothing() -> None:
    request = asks(USER, ANSWER, CALL)
    assert [v.rule for v in ResponsesCodec().violations(request, THINKER)] == ["O1", "O2"]


def test_what_a_server_searched_itself_needs_no_answer_of_ours() -> None:
    call = {"type": "tool_search_call", "execution": "server", "call_id": "c", "arguments": {}}
    output = {"type": "tool_search_output", "execution": "server", "call_id": "c", "tools": []}
    assert ResponsesCodec().violations(asks(USER, THOUGHT, call, output, SAID), THINKER) == []


def test_a_plain_text_as_input_breaks_nothing() -> None:
    assert ResponsesCodec().violations({"model": "m", "input": "Hi."}, THINKER) == []
