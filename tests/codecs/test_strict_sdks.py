"""The official SDKs against the strict server: whole and streamed, and what came sent again."""

import json
from contextlib import ExitStack
from typing import Any

import pytest

from holdfast.codecs.gemini import Gemini
from holdfast.model.message import Text, ToolResult
from holdfast.model.profile import Profile
from holdfast.model.reply import Usage
from holdfast.model.window import Block, Options, Window
from holdfast.testing import StrictServer
from holdfast.testing.strict import in_order
from tests.codecs.gemini_windows import BUDGET
from tests.codecs.sdks import sdk
from tests.codecs.strict_requests import SPOKEN


def told(usage: Any) -> tuple[int, int, int]:
    return usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens


@pytest.mark.parametrize("stream", [False, True])
def test_the_anthropic_sdk_round_trips(stream: bool) -> None:
    anthropic = sdk("anthropic")
    with (
        StrictServer(in_order(SPOKEN, "Done.")) as server,
        anthropic.Anthropic(api_key="k", base_url=server.url("anthropic"), max_retries=0) as client,
    ):
        request: dict[str, Any] = {
            "model": "claude-opus-4-6",
            "max_tokens": 4096,
            "messages": [{"role": "user", "content": "Read both."}],
        }

        def send() -> Any:
            if not stream:
                return client.messages.create(**request)
            with client.messages.stream(**request) as events:
                return events.get_final_message()

        reply = send()
        kinds = [block.type for block in reply.content]
        assert kinds == ["thinking", "text", "tool_use", "tool_use"]
        assert reply.content[2].input == {"path": "ü.py"}
        assert reply.stop_reason == "tool_use"
        assert told(reply.usage) == (7, 100, 30)
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "x"}
            for block in reply.content[2:]
        ]
        content = [
            block.model_dump(exclude_none=True, exclude={"parsed_output"})
            for block in reply.content
        ]
        request["messages"] += [
            {"role": "assistant", "content": content},
            {"role": "user", "content": results},
        ]
        assert send().content[0].text == "Done."
        del request["max_tokens"]
        assert client.messages.count_tokens(**request).input_tokens > 0
        assert [asked.stream for asked in server.asked] == [stream, stream, False]


@pytest.mark.parametrize("stream", [False, True])
def test_the_openai_sdk_round_trips_responses(stream: bool) -> None:
    openai = sdk("openai")
    with (
        StrictServer(in_order(SPOKEN, "Done.")) as server,
        openai.OpenAI(api_key="k", base_url=server.url("openai"), max_retries=0) as client,
    ):
        request: dict[str, Any] = {
            "model": "gpt-5.2",
            "input": [{"role": "user", "content": "Read both."}],
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }

        def send() -> Any:
            if not stream:
                return client.responses.create(**request)
            with client.responses.stream(**request) as events:
                return events.get_final_response()

        reply = send()
        assert [item.type for item in reply.output] == [
            "reasoning",
            "message",
            "function_call",
            "function_call",
        ]
        usage = reply.usage
        assert (usage.input_tokens, usage.input_tokens_details.cached_tokens) == (127, 100)
        assert usage.output_tokens_details.reasoning_tokens == 9
        drop = {"parsed_arguments": True}
        request["input"] += [
            item.model_dump(exclude_none=True, exclude=drop) for item in reply.output
        ]
        request["input"] += [
            {"type": "function_call_output", "call_id": item.call_id, "output": "x"}
            for item in reply.output[2:]
        ]
        assert send().output_text == "Done."
        count = client.responses.input_tokens.count(model="gpt-5.2", input=request["input"])
        assert count.input_tokens > 0


@pytest.mark.parametrize("stream", [False, True])
def test_the_openai_sdk_round_trips_chats(stream: bool) -> None:
    openai = sdk("openai")
    with (
        StrictServer(in_order(SPOKEN, "Done.")) as server,
        openai.OpenAI(api_key="k", base_url=server.url("openai"), max_retries=0) as client,
    ):
        request: dict[str, Any] = {
            "model": "gpt-5.2",
            "messages": [{"role": "user", "content": "Read both."}],
        }

        def send() -> Any:
            if not stream:
                return client.chat.completions.create(**request)
            with client.chat.completions.stream(
                **request, stream_options={"include_usage": True}
            ) as events:
                for _ in events:
                    pass
                return events.get_final_completion()

        reply = send()
        message = reply.choices[0].message
        assert message.content == "Reading it now."
        assert json.loads(message.tool_calls[0].function.arguments) == {"path": "ü.py"}
        assert reply.usage.prompt_tokens_details.cached_tokens == 100
        calls = [
            {
                "id": c.id,
                "type": "function",
                "function": {"name": c.function.name, "arguments": c.function.arguments},
            }
            for c in message.tool_calls
        ]
        request["messages"] += [
            {"role": "assistant", "content": message.content, "tool_calls": calls},
            *({"role": "tool", "tool_call_id": c["id"], "content": "x"} for c in calls),
        ]
        assert send().choices[0].message.content == "Done."


@pytest.mark.parametrize("stream", [False, True])
def test_the_google_sdk_and_our_codec_round_trip(stream: bool) -> None:
    genai = sdk("google.genai")
    codec, model = Gemini(), "gemini-3-pro-preview"
    blocks = [Block(section="history", role="user", parts=(Text("Read both."),))]
    with ExitStack() as servers:
        server = servers.enter_context(StrictServer(in_order(SPOKEN, "Done.")))
        options = genai.types.HttpOptions(base_url=server.url("gemini"), api_version="v1beta")
        client = servers.enter_context(genai.Client(api_key="k", http_options=options))

        def send() -> Any:
            window = Window(model=model, blocks=tuple(blocks), budget=BUDGET)
            request = codec.encode(window, Profile(name=model), Options(effort="low"))
            assert codec.violations(request, Profile(name=model)) == []
            if stream:
                chunks = [*client.models.generate_content_stream(**request)]
            else:
                chunks = [client.models.generate_content(**request)]
            dumped = [
                c.model_dump(
                    mode="json", by_alias=True, exclude_none=True, exclude={"sdk_http_response"}
                )
                for c in chunks
            ]
            return codec.decode(json.dumps(dumped).encode())

        reply = send()
        assert [call.name for call in reply.message.calls] == ["read", "read"]
        assert reply.usage == Usage(input=27, cache_read=100, output=30, reasoning=9)
        results = tuple(ToolResult(call.id, "x") for call in reply.message.calls)
        blocks.append(
            Block(section="history", role="assistant", parts=reply.message.parts, model=model)
        )
        blocks.append(Block(section="history", role="tool", parts=results))
        assert send().message.text == "Done."
        model = "gemini-3-flash"  # the signatures of the other model are left out
        assert send().message.text == "Done."
        assert server.refused == []
        assert client.models.count_tokens(model=model, contents="x").total_tokens > 0
