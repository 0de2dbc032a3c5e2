"""A conversation that goes from provider to provider: every request is accepted, every time."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.codecs.anthropic import Anthropic
from holdfast.codecs.gemini import Gemini, path, rest
from holdfast.codecs.openai_chat import ChatCodec
from holdfast.codecs.openai_responses import ResponsesCodec
from holdfast.core.window.repair import repair
from holdfast.model.message import Text, ToolResult
from holdfast.model.profile import Profile
from holdfast.model.reply import Reply
from holdfast.model.window import Block, Options, Window
from holdfast.ports import Codec
from holdfast.testing import StrictServer
from holdfast.testing.strict import Answer, Ask, Asked, Say, Think
from tests.codecs.gemini_windows import BUDGET

CODECS: dict[str, Codec] = {
    "anthropic": Anthropic(),
    "openai-responses": ResponsesCodec(),
    "openai-chat": ChatCodec(),
    "gemini": Gemini(),
}
PATHS = {
    "anthropic": "/v1/messages",
    "openai-responses": "/v1/responses",
    "openai-chat": "/v1/chat/completions",
}
HEADERS = {
    "x-api-key": "k",
    "anthropic-version": "2023-06-01",
    "authorization": "Bearer k",
    "x-goog-api-key": "k",
}
PROFILES = {
    "anthropic": ["claude-opus-4-6", "claude-sonnet-4-6"],
    "openai-responses": ["gpt-5.2", "gpt-5.2-codex"],
    "openai-chat": ["gpt-5.2"],
    "gemini": ["gemini-3-pro-preview", "gemini-3-flash", "gemini-2.5-flash"],
}

said = st.builds(Say, st.sampled_from(["Reading.", "ü 😀 done", "x" * 40]))
thought = st.builds(Think, st.sampled_from(["Hm.", "", "Let me see."]), st.booleans())
asked = st.builds(Ask, st.sampled_from(["read", "edit"]), st.sampled_from([{}, {"path": "a"}]))
answers = st.builds(
    lambda thoughts, words, calls: Answer(parts=(*thoughts, *words, *calls), piece=5),
    st.lists(thought, max_size=2),
    st.lists(said, min_size=1, max_size=1),
    st.lists(asked, max_size=2),
)
steps = st.tuples(
    st.sampled_from([(name, model) for name, models in PROFILES.items() for model in models]),
    st.booleans(),
    answers,
)


class Talk:
    """One conversation over one connection."""

    def __init__(self, server: StrictServer) -> None:
        place = urlsplit(server.url())
        self.connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
        self.blocks = [block("system", Text("Be brief.")), block("user", Text("Go."))]

    def step(self, format: str, model: str, stream: bool) -> Reply:
        """Ask a model to go on, and take in what it says."""
        codec = CODECS[format]
        profile = Profile(name=model, provider=codec.provider, abilities=frozenset({"thinking"}))
        window = Window(model=model, blocks=repair(self.blocks).blocks, budget=BUDGET)
        options = Options(stream=stream, effort="high", thinking=1024)
        request = codec.encode(window, profile, options)
        assert codec.violations(request, profile) == []
        status, data = self.send(format, request, stream)
        assert status == 200, data
        decoder = codec.decoder()
        if stream:
            decoder.feed(data)
        reply = decoder.close() if stream else codec.decode(data)
        self.blocks.append(block("assistant", *reply.message.parts, model=model))
        results = [ToolResult(call.id, "x", name=call.name) for call in reply.message.calls]
        following = block("tool", *results) if results else block("user", Text("And?"))
        self.blocks.append(following)
        return reply

    def send(self, format: str, request: dict[str, Any], stream: bool) -> tuple[int, bytes]:
        if format == "gemini":
            where, body = f"/v1beta/{path(request, stream=stream)}", rest(request)
        else:
            where, body = PATHS[format], {k: v for k, v in request.items() if k != "betas"}
        self.connection.request("POST", where, json.dumps(body).encode(), HEADERS)
        response = self.connection.getresponse()
        return response.status, response.read()


def block(role: Any, *parts: Any, model: str = "") -> Block:
    return Block(section="history", role=role, parts=parts, model=model)


@pytest.fixture(scope="module")
def server() -> Any:
    def script(asked: Asked) -> Answer:
        return turns.pop(0)

    turns: list[Answer] = []
    with StrictServer(script) as server:
        yield server, turns


@settings(max_examples=60)
@given(walk=st.lists(steps, min_size=1, max_size=8))
def test_a_conversation_from_provider_to_provider_is_never_refused(
    server: Any, walk: list[Any]
) -> None:
    strict, turns = server
    talk = Talk(strict)
    try:
        for (format, model), stream, told in walk:
            turns[:] = [told]
            reply = talk.step(format, model, stream)
            assert reply.stop in ("end", "tools")
            assert reply.message.text == "".join(p.text for p in told.parts if isinstance(p, Say))
            calls = [p for p in told.parts if isinstance(p, Ask)]
            assert [json.loads(call.input or "{}") for call in reply.message.calls] == [
                call.input for call in calls
            ]
    finally:
        talk.connection.close()
    assert strict.refused == []
