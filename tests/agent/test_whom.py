"""Whom to talk to: by the name, by the keys that are there, by the address that is configured."""

import pytest

from holdfast.agent.model_choice import compatible, whom
from holdfast.errors import InvalidRequest
from holdfast.providers.endpoint import posted
from holdfast.providers.transport import HttpTransport


def test_an_address_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compatible({"OPENAI_BASE_URL": "http://[bad"})
    monkeypatch.setenv("OPENAI_BASE_URL", "http://[bad")
    with pytest.raises(InvalidRequest, match="an address cannot be read"):
        HttpTransport("openai")


ROUTER = {"OPENAI_BASE_URL": "https://openrouter.ai/api/v1", "OPENAI_API_KEY": "sk-or"}
BOTH = {**ROUTER, "ANTHROPIC_API_KEY": "sk-ant"}


@pytest.mark.parametrize(
    ("model", "env", "to"),
    [
        ("anthropic/claude-sonnet-4.5", ROUTER, ("openai", "openai-chat")),
        ("anthropic/claude-sonnet-4.5", BOTH, ("openai", "openai-chat")),
        ("claude-sonnet-4-5", ROUTER, ("openai", "openai-chat")),
        ("claude-sonnet-4-5", BOTH, ("anthropic", "anthropic")),
        ("claude-sonnet-4-5", {}, ("anthropic", "anthropic")),
        ("anthropic/claude-sonnet-4-5", {"OPENAI_API_KEY": "sk"}, ("anthropic", "anthropic")),
    ],
)
def test_a_server_like_openais_is_asked_for_models_of_others(
    model: str, env: dict[str, str], to: tuple[str, str]
) -> None:
    found = whom(model, env)
    assert found.model == model
    assert (found.provider, found.format) == to


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("openrouter/anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4.5"),
        ("anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4.5"),
        ("openrouter/auto", "openrouter/auto"),
        ("gpt-5", "gpt-5"),
    ],
)
def test_a_router_hears_its_own_names(model: str, sent: str) -> None:
    assert posted({"model": model, "messages": []}, "openai-chat").body["model"] == sent
