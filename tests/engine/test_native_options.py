"""Options as a provider writes them: passed through once, translated, or refused in words."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import holdfast
from holdfast.engine.client import Session
from holdfast.errors import InvalidRequest, Refused
from holdfast.testing import StrictServer
from tests.codecs.sdks import sdk

FORMATS = ("anthropic", "openai-chat", "openai-responses", "gemini")
MODELS = {
    "anthropic": "claude-sonnet-4-6",
    "openai-chat": "gpt-5",
    "openai-responses": "gpt-5",
    "gemini": "gemini-2.5-pro",
}
READ = {"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}

ALIKE: dict[str, list[Any]] = {
    "auto": ["auto", {"type": "auto"}, {"function_calling_config": {"mode": "AUTO"}}],
    "none": ["none", {"type": "none"}, {"function_calling_config": {"mode": "NONE"}}],
    "any": ["any", "required", {"type": "any"}, {"functionCallingConfig": {"mode": "ANY"}}],
    "read": [
        "read",
        {"type": "tool", "name": "read"},
        {"type": "function", "name": "read"},
        {"type": "function", "function": {"name": "read"}},
        {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["read"]}},
    ],
}
"""One choice as each provider writes it."""


@pytest.fixture
def session() -> Iterator[Session]:
    with holdfast.open("memory:") as hf:
        session = hf.session(model="claude-sonnet-4-6")
        session.user("Read it.")
        yield session


def request(session: Session, format: str, **options: Any) -> dict[str, Any]:
    return session.window(model=MODELS[format], tools=[READ]).request(format, **options)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("word", ALIKE)
def test_a_choice_of_tools_is_the_same_however_a_provider_writes_it(
    session: Session, format: str, word: str
) -> None:
    made = [request(session, format, tool_choice=one) for one in ALIKE[word]]
    assert all(one == made[0] for one in made[1:])


@pytest.mark.parametrize("format", FORMATS)
def test_thinking_is_the_same_as_a_number_and_as_anthropic_writes_it(
    session: Session, format: str
) -> None:
    told = {"type": "enabled", "budget_tokens": 2048}
    number = request(session, format, thinking=2048, stream=True)
    assert request(session, format, thinking=told, stream=True) == number
    off = request(session, format, thinking={"type": "disabled"}, stream=True)
    assert off == request(session, format, thinking=0, stream=True)


def test_what_anthropic_alone_knows_passes_through(session: Session) -> None:
    shown = {"type": "enabled", "budget_tokens": 2048, "display": "omitted"}
    assert request(session, "anthropic", thinking=shown, stream=True)["thinking"] == shown
    adaptive = {"type": "adaptive"}
    assert request(session, "anthropic", thinking=adaptive)["thinking"] == adaptive
    one = {"type": "auto", "disable_parallel_tool_use": True}
    assert request(session, "anthropic", tool_choice=one)["tool_choice"] == one


def test_what_openai_alone_knows_passes_through(session: Session) -> None:
    some = {
        "type": "allowed_tools",
        "mode": "auto",
        "tools": [{"type": "function", "name": "read"}],
    }
    assert request(session, "openai-responses", tool_choice=some)["tool_choice"] == some
    with pytest.raises(InvalidRequest, match="allowed_tools"):
        request(session, "anthropic", tool_choice=some)


def test_what_gemini_alone_knows_passes_through(session: Session) -> None:
    told = {"thinking_budget": 512, "include_thoughts": False}
    assert request(session, "gemini", thinking=told)["config"]["thinking_config"] == told
    dynamic = request(session, "gemini", thinking=-1)["config"]["thinking_config"]
    assert dynamic["thinking_budget"] == -1
    mode = {"function_calling_config": {"mode": "VALIDATED"}}
    assert request(session, "gemini", tool_choice=mode)["config"]["tool_config"] == mode


WRONG: list[dict[str, Any]] = [
    {"thinking": {"type": "wat"}},
    {"thinking": {}},
    {"thinking": {"type": "enabled"}},
    {"thinking": {"type": "enabled", "budget_tokens": "2048"}},
    {"thinking": True},
    {"thinking": "hard"},
    {"thinking": 2.5},
    {"thinking": [2048]},
    {"thinking": -2},
    {"thinking": {"type": "enabled", "budget_tokens": -5}},
    {"thinking": {"thinking_budget": "x"}},
    {"thinking": {"thinkingLevel": 9}},
    {"effort": {"a": 1}},
    {"effort": 5},
    {"tool_choice": {"type": "wat"}},
    {"tool_choice": {"function_calling_config": {"mode": "wat"}}},
    {"tool_choice": {}},
    {"tool_choice": {"type": "tool"}},
    {"tool_choice": {"type": "function", "function": {}}},
    {"tool_choice": 7},
    {"tool_choice": ["read"]},
    {"tool_choice": "wat"},
    {"tool_choice": {"type": "auto", "disable_parallel_tool_use": "yes"}},
    {"tool_choice": {"function_calling_config": {"mode": "ANY", "allowed_function_names": "read"}}},
    {"stream": "yes"},
    {"parallel_tools": "no"},
    {"cache_ttl": "2h"},
    {"server_edits": [{"type": "compact_20260112"}]},
    {"extra": 5},
    {"config": 5},
    {"extra": {"config": None}},
]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("options", WRONG, ids=str)
def test_what_no_provider_takes_is_refused_in_words(
    session: Session, format: str, options: dict[str, Any]
) -> None:
    (name,) = options
    with pytest.raises(InvalidRequest, match=name):
        request(session, format, **options)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.floats(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
        st.sampled_from(["type", "name", "function", "budget_tokens", "mode", ""]),
        inner | st.sampled_from(["auto", "any", "tool", "function", "enabled", "adaptive", "read"]),
        max_size=3,
    ),
    max_leaves=5,
)  # fmt: skip


@pytest.fixture(scope="module")
def windows() -> Iterator[dict[str, Any]]:
    with holdfast.open("memory:") as hf:
        session = hf.session(model="claude-sonnet-4-6")
        session.user("Read it.")
        yield {f: session.window(model=m, tools=[READ]) for f, m in MODELS.items()}


@given(st.sampled_from(FORMATS), values, values)
@example("openai-chat", None, {"type": []})
def test_any_value_makes_a_request_or_is_refused_in_words(
    windows: dict[str, Any], format: str, thinking: Any, choice: Any
) -> None:
    try:
        made = windows[format].request(format, thinking=thinking, tool_choice=choice)
    except (InvalidRequest, Refused):
        return
    assert str(made.get("tool_choice", "")).count("'type'") <= 2


def send(server: StrictServer, format: str, request: dict[str, Any]) -> None:
    """Send a request as the provider's own SDK does."""
    if format == "anthropic":
        made = sdk("anthropic").Anthropic(api_key="k", base_url=server.url("anthropic"))
    elif format == "gemini":
        genai = sdk("google.genai")
        options = genai.types.HttpOptions(base_url=server.url("gemini"), api_version="v1beta")
        made = genai.Client(api_key="k", http_options=options)
    else:
        made = sdk("openai").OpenAI(api_key="k", base_url=server.url("openai"))
    with made as client:
        if format == "anthropic":
            client.messages.create(**request)
        elif format == "gemini":
            client.models.generate_content(**request)
        elif format == "openai-responses":
            client.responses.create(**request)
        else:
            client.chat.completions.create(**request)


@pytest.mark.parametrize("format", FORMATS)
def test_the_providers_own_sdk_sends_them(session: Session, format: str) -> None:
    with StrictServer("Read.") as server:
        thinking = {"type": "enabled", "budget_tokens": 2048}
        send(
            server,
            format,
            request(session, format, thinking=thinking, tool_choice={"type": "auto"}),
        )
        assert server.refused == []
