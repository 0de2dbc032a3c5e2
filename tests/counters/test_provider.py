"""A provider's endpoint is asked in its own words, and its answers are not taken on trust."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

from holdfast.counters.provider import ProviderCounter
from holdfast.engine.client import Holdfast, drive
from holdfast.errors import BadResponse
from holdfast.model.rate_limits import Limits
from holdfast.model.window import Count
from holdfast.ports import ResponseStream
from holdfast.providers.transport import HttpTransport
from holdfast.testing.strict import StrictServer
from tests.engine.test_counting import opened

MODELS = {
    "anthropic": ("claude-sonnet-4-6", "anthropic"),
    "openai": ("gpt-5.5", "openai-responses"),
    "google": ("gemini-2.5-pro", "gemini"),
}
TOOL = {
    "name": "run",
    "description": "Run a command",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
}


@pytest.fixture
def server() -> Iterator[StrictServer]:
    with StrictServer(count=lambda request: 4_321) as made:
        yield made


@pytest.fixture
def hf() -> Iterator[Holdfast]:
    with opened(200_000) as made:
        yield made


@pytest.mark.seed("001", 71, 129)
@pytest.mark.parametrize("provider", MODELS)
def test_a_whole_request_is_counted_by_its_provider(
    provider: str, server: StrictServer, hf: Holdfast
) -> None:
    model, format = MODELS[provider]
    s = hf.session(model=model)
    s.user("How large is this?")
    request = s.window(system="Be brief.", tools=[TOOL]).request(format, stream=True)
    transport = HttpTransport(provider, key="k" * 20, url=server.url(provider))
    counter = ProviderCounter(transport)
    assert drive(counter.count_request(request, format)) == Count(tokens=4_321, tier="provider")
    assert drive(counter.count_request(request, "openai-chat")) is None
    assert server.refused == []
    transport.close()


@pytest.mark.parametrize("provider", MODELS)
def test_a_text_is_counted_as_one_message(provider: str, server: StrictServer) -> None:
    transport = HttpTransport(provider, key="k" * 20, url=server.url(provider))
    counter = ProviderCounter(transport, MODELS[provider][0])
    assert drive(counter.count(["one", "two"])) == [4_321, 4_321]
    assert (counter.name, counter.tier) == (provider, "provider")
    assert server.refused == []
    transport.close()


class Canned:
    """A transport that answers one thing, and remembers what it was sent."""

    blocking: ClassVar[bool] = True
    provider = "anthropic"
    limits: Limits | None = None

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.sent: list[tuple[str, dict[str, Any], dict[str, str]]] = []

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        self.sent.append((path, json.loads(body), dict(headers)))
        return self.answer

    async def stream(self, path: str, body: bytes, headers: Mapping[str, str]) -> ResponseStream:
        raise AssertionError("nothing is streamed for a count")

    def close(self) -> None: ...


REQUEST = {
    "model": "claude-sonnet-4-6",
    "max_tokens": 1_000,
    "stream": True,
    "metadata": {"user_id": "u"},
    "messages": [{"role": "user", "content": "hi"}],
}


def test_only_what_counts_is_sent() -> None:
    transport = Canned(b'{"input_tokens": 9}')
    assert drive(ProviderCounter(transport).count_request(REQUEST, "anthropic"))
    path, body, headers = transport.sent[0]
    assert path == "/v1/messages/count_tokens"
    assert set(body) == {"model", "messages"}
    assert headers == {}


@pytest.mark.seed("001", 73)
def test_edits_of_the_provider_are_previewed() -> None:
    edits = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    transport = Canned(
        b'{"input_tokens": 900, "context_management": {"original_input_tokens": 70000}}'
    )
    counter = ProviderCounter(transport)
    told = drive(counter.count_request({**REQUEST, "context_management": edits}, "anthropic"))
    assert told == Count(tokens=900, tier="provider")
    assert counter.unedited == 70_000
    _, body, headers = transport.sent[0]
    assert body["context_management"] == edits
    assert headers == {"anthropic-beta": "context-management-2025-06-27"}


@pytest.mark.parametrize(
    "answer",
    [
        *(
            b"",
            b"[]",
            b"{}",
            b"null",
            b'{"input_tokens": "9"}',
            b'{"input_tokens": -1}',
            b'{"input_tokens": 0}',
        ),
        *(
            b'{"input_tokens": true}',
            b'{"input_tokens": null}',
            b"<html>",
            b'{"input_tokens": 1.5}',
        ),
    ],
)
def test_an_answer_without_a_number_is_garbled(answer: bytes) -> None:
    with pytest.raises(BadResponse) as raised:
        drive(ProviderCounter(Canned(answer)).count_request(REQUEST, "anthropic"))
    assert raised.value.raw == answer
