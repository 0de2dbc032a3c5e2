"""How long a reply may be is held against the window, wherever it is said."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.engine.client import Holdfast, Session
from holdfast.errors import InvalidRequest, OverBudget
from holdfast.model.message import assistant

GPT_4 = "gpt-4"  # holds 8,192 tokens and answers with as many
FORMATS = ("anthropic", "openai-chat", "openai-responses", "gemini")


@pytest.fixture
def hf() -> Iterator[Holdfast]:
    with holdfast.open("memory:") as hf:
        yield hf


def long(hf: Holdfast, model: str = GPT_4, policy: str = "holdfast") -> Session:
    """A session that fills the window of the model."""
    s = hf.session(model=model, policy=policy)
    for n in range(20):
        s.user(f"count the things of kind {n} " + "please " * 120)
        s.append(assistant(f"there are {n} things " + "of that kind " * 80))
    s.user("and now?")
    return s


def limit(request: dict[str, Any]) -> int:
    found = request.get("config") or request
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    return next(found[name] for name in names if name in found)


@pytest.mark.parametrize("format", FORMATS)
def test_a_request_for_more_than_is_left_is_refused_in_words(hf: Holdfast, format: str) -> None:
    s = hf.session(model=GPT_4)
    s.user("please " * 5_000)
    window = s.window()
    left = window.profile.window - window.count.most
    assert left < 4_096
    assert limit(window.request(format, max_tokens=left)) == left
    with pytest.raises(OverBudget, match=r"window\(max_tokens=4096\)"):
        window.request(format, max_tokens=4096)


@pytest.mark.parametrize("policy", ["holdfast", "claude-code", "codex", "opencode", "gemini-cli"])
@pytest.mark.parametrize("format", FORMATS)
def test_a_window_keeps_free_what_is_asked_for(hf: Holdfast, format: str, policy: str) -> None:
    s = long(hf, policy=policy)
    window = s.window(max_tokens=4_000)
    assert window.count.most + 4_000 <= window.profile.window
    assert limit(window.request(format)) == 4_000


def test_what_was_kept_free_is_kept_when_a_call_is_rebuilt(hf: Holdfast) -> None:
    s = long(hf, "claude-sonnet-4-6")
    reply = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6",
        "content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 60, "output_tokens": 6},
    }  # fmt: skip
    s.window(max_tokens=50_000).request("anthropic")
    s.reply(reply)
    assert s.explain().matches


@pytest.mark.parametrize("wrong", [-1, 1.5, "500", True, None, 10**12])
def test_what_is_no_length_is_refused(hf: Holdfast, wrong: Any) -> None:
    s = hf.session(model="claude-sonnet-4-6")
    s.user("hello")
    with pytest.raises((InvalidRequest, OverBudget), match="max_tokens"):
        s.window(max_tokens=wrong)


NATIVE = {
    "anthropic": [{"extra": {"max_tokens": 300}}],
    "openai-chat": [{"max_completion_tokens": 300}, {"extra": {"max_completion_tokens": 300}}],
    "openai-responses": [{"max_output_tokens": 300}],
    "gemini": [{"max_output_tokens": 300}, {"config": {"maxOutputTokens": 300, "top_k": 4}}],
}


@pytest.mark.parametrize(
    ("format", "told"), [(f, one) for f, some in NATIVE.items() for one in some]
)
def test_a_length_in_the_words_of_a_provider_is_held_against_the_window_too(
    hf: Holdfast, format: str, told: dict[str, Any]
) -> None:
    s = hf.session(model=GPT_4)
    s.user("please " * 2_000)
    window = s.window()
    assert window.request(format, **told) == window.request(
        format, max_tokens=300, **({"config": {"top_k": 4}} if "config" in told else {})
    )
    (name, value) = next(iter(told.items()))
    large = (
        {key: 10**7 if value[key] == 300 else value[key] for key in value}
        if isinstance(value, dict)
        else 10**7
    )
    with pytest.raises(OverBudget, match="10,000,000"):
        window.request(format, **{name: large})
    with pytest.raises(InvalidRequest, match="how long may the reply be"):
        window.request(format, max_tokens=200, **told)


@pytest.mark.parametrize("wrong", [-1, 1.5, "500", True, [5]])
@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
def test_what_is_no_length_is_refused_in_a_request_too(hf: Holdfast, name: str, wrong: Any) -> None:
    s = hf.session(model=GPT_4)
    s.user("hello")
    for format in FORMATS:
        with pytest.raises(InvalidRequest, match=name):
            s.window().request(format, **{name: wrong})


@settings(max_examples=30)
@given(st.integers(1, 9_000))
def test_a_request_that_is_made_has_room_for_its_reply(tokens: int) -> None:
    with holdfast.open("memory:") as hf:
        s = hf.session(model=GPT_4)
        s.user("please " * 2_000)
        window = s.window()
        try:
            made = window.request("openai-chat", max_tokens=tokens)
        except OverBudget:
            assert tokens > 4_096 or window.count.most + tokens > 8_192
        else:
            assert window.count.most + limit(made) <= 8_192
