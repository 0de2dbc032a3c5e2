"""No session stays stuck: what a provider refused is sent differently from then on."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from holdfast.engine.doors import BlockingSession
from holdfast.model.log import Repair
from holdfast.model.message import Media, Message, Reasoning, Text, ToolCall, ToolResult, seal
from holdfast.testing import StrictServer
from holdfast.testing.strict import answer
from tests.properties.histories import PNG, opened


def post(server: StrictServer, request: dict[str, Any]) -> str:
    """The error the server answers with; empty when it accepts."""
    headers = {"x-api-key": "any", "anthropic-version": "2023-06-01"}
    url = server.url("anthropic") + "/v1/messages"
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, json.dumps(request).encode(), headers)
        ) as answered:
            json.load(answered)
    except urllib.error.HTTPError as refused:
        with refused:
            return json.load(refused)["error"]["message"]
    return ""


def stuck(s: BlockingSession) -> None:
    """A history whose thinking was signed by somebody the server does not know."""
    s.user("look")
    thought = Reasoning("hm", seal("anthropic", b'{"signature":"c3RhbGU="}', "claude-sonnet-4-6"))
    s.append(
        Message("assistant", (thought, ToolCall("c1", "sh", "{}"))),
        provider="anthropic",
        model="claude-sonnet-4-6",
    )
    s.append(Message("tool", (ToolResult("c1", "ok"),)))


def test_a_stale_signature_is_refused_once() -> None:
    with opened(200_000) as hf, StrictServer(lambda asked: answer("fine")) as server:
        s = hf.session(model="claude-sonnet-4-6")
        stuck(s)
        said = post(server, s.window().request("anthropic", max_tokens=100))
        assert "signature" in said
        marker = s.refused(said, provider="anthropic")
        assert marker is not None
        assert isinstance(marker.body, Repair)
        assert post(server, s.window().request("anthropic", max_tokens=100)) == ""
        again = hf.session(s.id)  # the repair is in the log, not in this handle
        assert post(server, again.window().request("anthropic", max_tokens=100)) == ""


def test_what_nobody_knows_a_remedy_for_is_left_to_the_caller() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        s.user("hi")
        assert s.refused("Overloaded") is None
        assert len(list(s.entries())) == 1


@pytest.mark.parametrize("format", ["anthropic", "openai-responses", "openai-chat", "gemini"])
@pytest.mark.parametrize(
    "message",
    [
        "unexpected `tool_use_id` found in `tool_result` blocks",
        "No tool call found for function call output with call_id c1",
        "Please ensure that the number of function response parts is equal to",
        "Invalid `signature` in `thinking` block",
        "many-image requests: 2000 pixels",
    ],
)
def test_after_any_remedy_the_request_is_valid_and_says_the_same(message: str, format: str) -> None:
    with opened(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.append(Message("user", (Text("look"), Media("image/png", PNG))))
        stuck(s)
        assert s.refused(message) is not None
        s.user("and now?")
        made = s.window()
        written = json.dumps(made.request(format))
        assert "look" in written
        assert "and now?" in written
        assert "ok" in written


def test_an_overflow_teaches_the_models_window(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(200_000) as hf:
        learned: dict[str, int] = {}
        monkeypatch.setattr(
            hf.catalogue, "learn", lambda model, window: learned.update({model: window}), False
        )
        s = hf.session(model="local")
        s.user("hi")
        s.refused("This model's maximum context length is 8192 tokens.")
        assert learned == {"local": 8192}
