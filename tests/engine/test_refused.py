"""No session stays stuck: what a provider refused is sent differently from then on."""

import json
import urllib.error
import urllib.request
from itertools import pairwise
from typing import Any

import pytest

from holdfast.engine.client import Session
from holdfast.errors import OverBudget
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


def stuck(s: Session) -> None:
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
        marker = s.learn_refusal(said, provider="anthropic")
        assert marker is not None
        assert isinstance(marker.body, Repair)
        assert post(server, s.window().request("anthropic", max_tokens=100)) == ""
        again = hf.session(s.id)  # the repair is in the log, not in this handle
        assert post(server, again.window().request("anthropic", max_tokens=100)) == ""


def test_what_nobody_knows_a_remedy_for_is_left_to_the_caller() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        s.user("hi")
        assert s.learn_refusal("Overloaded") is None
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
        assert s.learn_refusal(message) is not None
        s.user("and now?")
        made = s.window()
        written = json.dumps(made.request(format))
        assert "look" in written
        assert "and now?" in written
        assert "ok" in written


@pytest.mark.seed("001", 78)
def test_an_overflow_teaches_the_session_the_models_window() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="local")
        s.user("hi")
        s.learn_refusal("This model's maximum context length is 8192 tokens.")
        assert s.window().window.budget.window == 8_192
        assert hf.session(s.id).window().window.budget.window == 8_192  # as after a restart
        assert s.fork().window().window.budget.window == 8_192
        assert s.window(model="other").window.budget.window == 200_000
        assert hf.session(model="local").preview().window.budget.window == 200_000
        assert hf.catalogue.profile("local").window == 200_000  # it is for all sessions


def test_the_limit_is_that_of_the_model_that_was_asked() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="local")
        s.user("hi")
        s.window(model="other").request("anthropic")
        s.learn_refusal("This model's maximum context length is 8192 tokens.")
        assert s.window(model="other").window.budget.window == 8_192
        assert s.window(model="local").window.budget.window == 200_000


@pytest.mark.seed("001", 5)
@pytest.mark.parametrize(
    "message", ["prompt is too long", "prompt is too long: 213456 tokens > 200000 maximum"]
)
@pytest.mark.parametrize("sends", [True, False])
def test_after_every_overflow_less_is_sent_until_nothing_is_left(message: str, sends: bool) -> None:
    with opened(200_000) as hf:
        s = hf.session(model="local")
        for turn in range(40):
            s.user(f"{turn}: " + "word " * 100)
            s.append(Message("assistant", (Text("fine"),)))
        s.user("and now?")
        sizes: list[int] = []
        while not sizes or s.learn_refusal(message):
            made = s.window()
            if sends:
                made.request("anthropic")
            sizes.append(made.tokens)
        assert 3 < len(sizes) < 30
        assert all(after < before for before, after in pairwise(sizes))


@pytest.mark.seed("001", 147)
def test_what_cannot_be_made_shorter_is_said_not_to_fit() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="local")
        s.user("word " * 4_000)
        s.window().request("anthropic")
        s.learn_refusal("prompt is too long")
        with pytest.raises(OverBudget, match="what was just asked"):
            s.window()
        assert not s.learn_refusal("prompt is too long")  # nothing was sent since


def test_refusing_without_sending_ends() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="local")
        s.user("hi")
        assert s.learn_refusal("prompt is too long")
        assert not s.learn_refusal("prompt is too long")


def pictured(s: Session) -> None:
    s.append(Message("user", (Text("look"), Media("image/png", PNG))))
    stuck(s)


def actions(s: Session) -> list[str]:
    return [entry.body.action for entry in s.entries() if isinstance(entry.body, Repair)]


@pytest.mark.parametrize("sends", [True, False])
def test_a_remedy_that_did_not_help_is_followed_by_the_next(sends: bool) -> None:
    with opened(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        pictured(s)
        while s.learn_refusal("Invalid `signature` in `thinking` block"):
            if sends:
                s.window().request("anthropic")
        assert actions(s) == ["unseal", "without pictures", "calls as text"]


def test_a_remedy_that_would_change_nothing_is_left_out() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        stuck(s)
        s.window().request("anthropic")
        while s.learn_refusal("Invalid `signature` in `thinking` block"):
            s.window().request("anthropic")
        assert actions(s) == ["unseal", "calls as text"]


def test_after_a_reply_remedies_begin_anew() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        stuck(s)
        assert s.learn_refusal("Invalid `signature` in `thinking` block")
        s.window()
        s.append(Message("assistant", (Text("Here."),)), provider="anthropic")
        stuck(s)
        s.window()
        assert s.learn_refusal("Invalid `signature` in `thinking` block")
        assert actions(s) == ["unseal", "unseal"]
