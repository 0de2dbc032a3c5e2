"""The library with the official SDKs, as its first page shows it, against the strict server."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.client import drive
from holdfast.model.message import ToolCall
from holdfast.testing import StrictServer
from holdfast.testing.strict import Ask, Think, answer

TOOLS = [{"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}]


def script(asked: Any) -> Any:
    """Think and ask for a file first; when the answer is there, finish."""
    if "the content" in str(asked.body):
        return answer("It says: the content.")
    return answer(Think("I should look."), "Looking.", Ask("read", {"path": "a.py"}))


def anthropic_client(server: StrictServer) -> Any:
    from anthropic import Anthropic

    return Anthropic(base_url=server.url("anthropic"), api_key="any")


def openai_client(server: StrictServer) -> Any:
    from openai import OpenAI

    return OpenAI(base_url=server.url("openai"), api_key="any")


def gemini_client(server: StrictServer) -> Any:
    from google import genai
    from google.genai.types import HttpOptions

    options = HttpOptions(base_url=server.url("gemini"), api_version="v1beta")
    return genai.Client(api_key="any", http_options=options)


Clients = dict[str, tuple[str, Callable[[StrictServer], Any], Callable[[Any], Callable[..., Any]]]]
CLIENTS: Clients = {
    "anthropic": ("claude-opus-4-6", anthropic_client, lambda client: client.messages.create),
    "openai-responses": ("gpt-5.5", openai_client, lambda client: client.responses.create),
    "openai-chat": ("gpt-4o", openai_client, lambda client: client.chat.completions.create),
    "gemini": (
        "gemini-3.1-pro-preview",
        gemini_client,
        lambda client: client.models.generate_content,
    ),
}


@pytest.mark.filterwarnings("ignore")  # the SDKs' own
@pytest.mark.parametrize("format", CLIENTS)
def test_a_turn_with_a_tool_goes_through_the_sdk(format: str, tmp_path: Path) -> None:
    model, connect, method = CLIENTS[format]
    with (
        holdfast.open(tmp_path / "log.db") as hf,
        StrictServer(script) as server,
        connect(server) as client,
    ):
        call = method(client)
        s = hf.session(model=model)
        s.user("What is in a.py?")
        s.reply(call(**s.window(system="Be brief.", tools=TOOLS).request(format)), format=format)
        asked = [p for e in s.visible() for p in e.body.parts if isinstance(p, ToolCall)]  # type: ignore[union-attr]
        assert [(one.name, one.input.replace(" ", "")) for one in asked] == [
            ("read", '{"path":"a.py"}')
        ]
        s.tool_result(asked[0].id, "the content", name="read")
        reply = s.reply(call(**s.window(system="Be brief.", tools=TOOLS).request(format)))
        assert reply.body.text == "It says: the content."  # type: ignore[union-attr]
        assert server.refused == []
        calls = drive(hf.engine.store.calls.calls(s.id))
        assert len(calls) == 2
        assert all(one.usage.prompt and one.usage.output for one in calls)
        assert s.explain(reply.id).matches is True


@pytest.mark.filterwarnings("ignore")
def test_the_same_behind_the_async_door(tmp_path: Path) -> None:
    from anthropic import AsyncAnthropic

    async def main(server: StrictServer) -> str:
        async with (
            holdfast.open_async(tmp_path / "log.db") as hf,
            AsyncAnthropic(base_url=server.url("anthropic"), api_key="any") as client,
        ):
            s = await hf.session(model="claude-opus-4-6")
            await s.user("What is in a.py?")
            window = await s.window(system="Be brief.", tools=TOOLS)
            await s.reply(await client.messages.create(**window.request("anthropic")))
            (asked,) = (await s.tool_states()).values()
            await s.tool_result(asked.call, "the content")
            window = await s.window(system="Be brief.", tools=TOOLS)
            reply = await s.reply(await client.messages.create(**window.request("anthropic")))
            return reply.body.text  # type: ignore[union-attr]

    with StrictServer(script) as server:
        assert asyncio.run(main(server)) == "It says: the content."
        assert server.refused == []
