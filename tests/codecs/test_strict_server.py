"""The strict server refuses each broken rule in the provider's words, and plays the rest."""

import http.client
import json
from copy import deepcopy
from typing import Any
from urllib.parse import urlsplit

import pytest

from holdfast.codecs.gemini import Gemini
from holdfast.errors import InvalidRequest
from holdfast.testing import StrictServer
from holdfast.testing.strict import Ask, Asked, Think, answer, in_order
from tests.codecs import strict_requests
from tests.codecs.sdks import sdk
from tests.codecs.strict_requests import SPOKEN, Broken

PATHS = {
    "anthropic": "/v1/messages",
    "openai-responses": "/v1/responses",
    "openai-chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/gemini-3-pro-preview:generateContent",
}
KEYS = {
    "anthropic": {"x-api-key": "k", "anthropic-version": "2023-06-01"},
    "openai-responses": {"authorization": "Bearer k"},
    "openai-chat": {"authorization": "Bearer k"},
    "gemini": {"x-goog-api-key": "k"},
}


def post(
    server: StrictServer, path: str, body: Any, headers: dict[str, str]
) -> tuple[int, dict[str, Any]]:
    place = urlsplit(server.url())
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=10)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request("POST", path, data, {"content-type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def words(format: str, body: dict[str, Any]) -> str:
    return body["error"]["message"]


def ask(server: StrictServer, format: str, body: Any) -> tuple[int, dict[str, Any]]:
    return post(server, PATHS[format], body, KEYS[format])


@pytest.mark.parametrize(
    "case", strict_requests.every(), ids=lambda case: f"{case.rule}-{case.message[:24]}"
)
def test_each_rule_refuses_the_broken_request_and_accepts_the_mended_one(case: Broken) -> None:
    with StrictServer() as server:
        status, body = ask(server, case.format, case.good)
        assert status == 200, body
        broken = deepcopy(case.good)
        case.harm(broken)
        status, body = ask(server, case.format, broken)
        assert status in (400, 404)
        assert case.message in words(case.format, body)
        assert server.refused[-1].rule == case.rule


def test_every_documented_rule_has_a_broken_request() -> None:
    wanted = {f"A{n}" for n in range(1, 14)} | {f"O{n}" for n in range(1, 8)}
    wanted |= {f"G{n}" for n in range(1, 7)}
    found = {case.rule for case in strict_requests.every()}
    assert wanted - found == {"O4"}  # needs something the server issued: below


def test_errors_have_the_shape_of_their_provider() -> None:
    with StrictServer() as server:
        shapes = {format: ask(server, format, {})[1] for format in PATHS}
    assert shapes["anthropic"]["type"] == "error"
    assert shapes["anthropic"]["error"]["type"] == "invalid_request_error"
    assert shapes["openai-chat"]["error"].keys() == {"message", "type", "param", "code"}
    assert shapes["gemini"]["error"]["status"] == "INVALID_ARGUMENT"
    assert shapes["gemini"]["error"]["code"] == 400


@pytest.mark.parametrize("format", PATHS)
def test_without_a_key_no_door_opens(format: str) -> None:
    with StrictServer() as server:
        status, body = post(server, PATHS[format], {}, {})
        assert status == (403 if format == "gemini" else 401)
        assert words(format, body)
        assert server.asked == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"[" * 9_000, b"\xff"])
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with StrictServer() as server:
        for format in PATHS:
            assert ask(server, format, body)[0] == 400


@pytest.mark.parametrize(
    "body",
    [
        {"messages": 3, "input": 3, "contents": 3, "max_tokens": "x"},
        {"messages": [None], "input": [None], "contents": [{"parts": [None, {"text": 1}]}]},
        {"messages": [{"role": [], "content": [{"type": {}}]}], "max_tokens": 1},
    ],
)
def test_wrong_types_are_answered_not_crashed_on(body: dict[str, Any]) -> None:
    with StrictServer() as server:
        for format in PATHS:
            assert ask(server, format, body)[0] in (200, 400)


# --- what it issued itself --------------------------------------------------------------------


def anthropic_turn(content: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    calls = [block["id"] for block in content if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": id, "content": "x"} for id in calls]
    return {
        "model": "claude-opus-4-6",
        "max_tokens": 4096,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": [
            {"role": "user", "content": "Read both."},
            {"role": "assistant", "content": content},
            {"role": "user", "content": results},
        ],
        **fields,
    }


@pytest.mark.parametrize(
    ("change", "rule", "message"),
    [
        (lambda c: None, "", ""),
        (lambda c: c[0].update(thinking="Let me see!"), "A7", "cannot be modified"),
        (lambda c: c[0].update(signature="Enope"), "A6", "cannot be modified"),
        (lambda c: c.pop(1), "A6", "cannot be modified"),
        (lambda c: c.insert(0, c.pop(1)), "A6", "cannot be modified"),
        (lambda c: (c.pop(0), c.pop(0)), "A6", "Expected `thinking` or `redacted_thinking`"),
    ],
)
def test_anthropic_wants_its_thoughts_back_as_they_were(
    change: Any, rule: str, message: str
) -> None:
    script = answer(Think("Let me see."), Think(redacted=True), Ask("read"))
    with StrictServer(script) as server:
        _, reply = ask(
            server,
            "anthropic",
            anthropic_turn([]) | {"messages": [{"role": "user", "content": "x"}]},
        )
        content = [dict(block) for block in reply["content"]]
        change(content)
        status, body = ask(server, "anthropic", anthropic_turn(content))
        assert server.asked[-1].rule == rule
        assert message in server.asked[-1].refusal
        assert (status == 200) == (not rule), body


def test_a_thought_of_another_model_or_an_older_one_changed_is_no_valid_signature() -> None:
    with StrictServer(answer(Think("Let me see."), Ask("read"))) as server:
        first = anthropic_turn([]) | {"messages": [{"role": "user", "content": "x"}]}
        _, reply = ask(server, "anthropic", first)
        other = anthropic_turn(reply["content"], model="claude-sonnet-4-6")
        _, body = ask(server, "anthropic", other)
        assert "messages.1.content.0: Invalid `signature` in `thinking` block" in words("", body)
        older = anthropic_turn(deepcopy(reply["content"]))
        older["messages"][1]["content"][0]["thinking"] = "Other."
        older["messages"] += [
            {"role": "assistant", "content": "So."},
            {"role": "user", "content": "Y?"},
        ]
        _, body = ask(server, "anthropic", older)
        assert "Invalid `signature` in `thinking` block" in words("", body)


def test_foreign_signatures_are_taken_on_trust_only_when_asked() -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "Eelsewhere"},
        {"type": "text", "text": "x"},
    ]
    body: dict[str, Any] = anthropic_turn(content) | {"thinking": {"type": "disabled"}}
    body["messages"][2]["content"] = "And?"
    for foreign, status in ((False, 400), (True, 200)):
        with StrictServer(foreign=foreign) as server:
            assert ask(server, "anthropic", body)[0] == status


def test_openai_wants_reasoning_beside_what_it_led_to_and_unchanged() -> None:
    with StrictServer(answer(Think("Hm."), Ask("read"))) as server:
        first = {
            "model": "gpt-5.2",
            "input": "Read.",
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        _, reply = ask(server, "openai-responses", first)
        reasoning, call = reply["output"]
        output = {"type": "function_call_output", "call_id": call["call_id"], "output": "x"}
        good = first | {"input": [reasoning, call, output]}
        assert ask(server, "openai-responses", good)[0] == 200
        _, body = ask(server, "openai-responses", first | {"input": [call, output]})
        assert f"was provided without its required 'reasoning' item: '{reasoning['id']}'" in words(
            "", body
        )
        assert server.asked[-1].rule == "O4"
        bare = {name: value for name, value in call.items() if name != "id"}
        assert ask(server, "openai-responses", first | {"input": [bare, output]})[0] == 200
        _, body = ask(server, "openai-responses", good | {"model": "gpt-4.1"})
        assert body["error"]["code"] == "invalid_encrypted_content"
        changed = reasoning | {"encrypted_content": reasoning["encrypted_content"] + "A"}
        _, body = ask(server, "openai-responses", good | {"input": [changed, call, output]})
        assert body["error"]["code"] == "invalid_encrypted_content"


def test_openai_carries_a_stored_response_on_and_wants_its_calls_answered() -> None:
    with StrictServer(in_order(answer(Ask("read", id="call_1")), "Done.")) as server:
        _, first = ask(server, "openai-responses", {"model": "gpt-5.2", "input": "Read."})
        following = {"model": "gpt-5.2", "previous_response_id": first["id"]}
        _, body = ask(server, "openai-responses", following | {"input": "And?"})
        assert words("", body) == "No tool output found for function call call_1."
        output = {"type": "function_call_output", "call_id": "call_1", "output": "x"}
        assert ask(server, "openai-responses", following | {"input": [output]})[0] == 200
        compacted = {"type": "compaction", "encrypted_content": "gAAAmade-up"}
        _, body = ask(server, "openai-responses", following | {"input": [compacted, output]})
        assert words("", body).startswith("No tool call found for function call output")


def test_gemini_wants_its_signatures_back_on_the_same_part_from_the_same_model() -> None:
    with StrictServer(SPOKEN) as server:
        start = {"contents": [{"role": "user", "parts": [{"text": "Read."}]}]}
        _, reply = ask(server, "gemini", start)
        turn = reply["candidates"][0]["content"]
        answers = [
            {"functionResponse": {k: v for k, v in part["functionCall"].items() if k != "args"}}
            for part in turn["parts"]
            if "functionCall" in part
        ]
        good = {"contents": [*start["contents"], turn, {"role": "user", "parts": answers}]}
        assert ask(server, "gemini", good)[0] == 200
        flash = PATHS["gemini"].replace("pro-preview", "flash")
        _, body = post(server, flash, good, KEYS["gemini"])
        assert words("", body) == "Invalid thought signature."
        signed = next(part for part in turn["parts"] if "thoughtSignature" in part)
        signed["functionCall"]["args"] = {"path": "other.py"}
        _, body = ask(server, "gemini", good)
        assert words("", body) == "Corrupted thought signature."


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_stream_is_an_array_where_events_are_not_asked_for() -> None:
    with StrictServer(SPOKEN) as server:
        path = PATHS["gemini"].replace("generateContent", "streamGenerateContent")
        _, chunks = post(server, path, strict_requests.gemini(), KEYS["gemini"])
        assert isinstance(chunks, list)
        reply = Gemini().decode(json.dumps(chunks).encode())
        assert len(reply.message.calls) == 2


@pytest.mark.parametrize("stream", [False, True])
def test_a_connection_can_be_cut(stream: bool) -> None:
    with StrictServer(answer("Hello, and so on.", cut=150)) as server:
        body = strict_requests.anthropic() | {"stream": stream}
        with pytest.raises(http.client.IncompleteRead):
            ask(server, "anthropic", body)


def test_errors_of_the_provider_can_be_played() -> None:
    script = in_order(answer(status=529, error="Overloaded", headers={"retry-after": "1"}), "Fine.")
    with StrictServer(script) as server:
        status, body = ask(server, "anthropic", strict_requests.anthropic())
        assert (status, body["error"]["type"]) == (529, "overloaded_error")
        assert ask(server, "anthropic", strict_requests.anthropic())[0] == 200


def test_an_error_can_come_inside_a_stream() -> None:
    anthropic = sdk("anthropic")
    with (
        StrictServer(answer("Hel", error="Overloaded")) as server,
        anthropic.Anthropic(api_key="k", base_url=server.url("anthropic"), max_retries=0) as client,
    ):
        request: dict[str, Any] = {
            "model": "m",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": "x"}],
        }
        streaming = client.messages.stream(**request)
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"), streaming as events:
            events.get_final_message()


def test_the_script_sees_what_was_asked() -> None:
    def script(asked: Asked) -> str:
        return f"{asked.format} {asked.model} {asked.endpoint} {asked.headers['x-goog-api-key']}"

    with StrictServer(script) as server:
        _, body = ask(server, "gemini", strict_requests.gemini())
        said = body["candidates"][0]["content"]["parts"][0]["text"]
        assert said == "gemini gemini-3-pro-preview create k"


def test_an_error_of_the_script_is_raised_where_the_block_ends() -> None:
    def script(asked: Asked) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), StrictServer(script) as server:
        assert ask(server, "anthropic", strict_requests.anthropic())[0] == 500


def test_an_unknown_provider_or_path_is_said_to_be_so() -> None:
    with StrictServer() as server:
        with pytest.raises(InvalidRequest, match="no provider 'mistral'"):
            server.url("mistral")
        assert post(server, "/v1/embeddings", {}, {})[0] == 404
