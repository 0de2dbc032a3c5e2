"""The official SDK takes what we encode, posts what we would post, and reads what we read."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.codecs.openai_chat import ChatCodec
from holdfast.codecs.openai_responses import ResponsesCodec
from holdfast.core.window.repair import repair
from holdfast.model.message import Reasoning, Text, ToolCall
from holdfast.model.window import Block, Options, Window
from tests.codecs.openai_windows import (
    THINKER,
    TOOLS,
    block,
    chat_messages,
    completion,
    items,
    options,
    response,
    said,
    window,
    words,
)

openai = pytest.importorskip("openai")
pydantic = pytest.importorskip("pydantic")
from openai.types.chat import ChatCompletionMessageParam  # noqa: E402
from openai.types.chat import completion_create_params as chat_params  # noqa: E402
from openai.types.responses import ResponseInputItem, response_create_params  # noqa: E402

RESPONSES, CHAT = ResponsesCodec(), ChatCodec()
GOLDEN = Path(__file__).parents[1] / "golden"
ITEMS = pydantic.TypeAdapter(list[ResponseInputItem])
MESSAGES = pydantic.TypeAdapter(list[ChatCompletionMessageParam])
REST = {
    "openai-responses": pydantic.TypeAdapter(response_create_params.ResponseCreateParamsBase),
    "openai-chat": pydantic.TypeAdapter(chat_params.CompletionCreateParamsBase),
}

replies = st.one_of(
    items.map(lambda output: RESPONSES.decode(json.dumps(response(output)).encode()).message.parts),
    chat_messages.map(lambda one: CHAT.decode(json.dumps(completion(one)).encode()).message.parts),
    st.tuples(
        st.builds(Reasoning, words),
        st.builds(Text, words),
        st.builds(ToolCall, words, st.sampled_from(["read", "apply"]), words),
    ),
)


@st.composite
def conversations(draw: st.DrawFn) -> Window:
    """What several models and a person said, repaired."""
    blocks: list[Block] = [block("system", "Be careful.")]
    for parts in draw(st.lists(replies, max_size=4)):
        blocks.append(block("user", *draw(st.lists(said, min_size=1, max_size=3))))
        blocks.append(block("assistant", *parts))
    return window(*repair([*blocks, block("user", "go on")]).blocks, tools=TOOLS)


def unfolded(value: Any) -> Any:
    """A value with its lazily checked lists checked."""
    if isinstance(value, dict):
        return {name: unfolded(inner) for name, inner in value.items()}
    if hasattr(value, "__iter__") and not isinstance(value, str):
        return [unfolded(inner) for inner in value]
    return value


def with_ids(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items as the types want them: they require an id where the API takes an item without."""
    return [
        {"id": "x_1", "status": "completed", **item}
        | ({"content": annotated(item["content"])} if item["type"] == "message" else {})
        for item in items
    ]


def annotated(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    bare = {"annotations": []}
    return [bare | entry if entry["type"] == "output_text" else entry for entry in content]


@settings(max_examples=40)
@given(conversations(), options)
def test_the_types_of_the_sdk_accept_every_request_for_responses(
    window: Window, options: Options
) -> None:
    request = RESPONSES.encode(window, THINKER, options)
    ITEMS.validate_python(with_ids(request["input"]))
    unfolded(REST["openai-responses"].validate_python(request | {"input": "checked above"}))


@settings(max_examples=40)
@given(conversations(), options)
def test_the_types_of_the_sdk_accept_every_request_for_chat(
    window: Window, options: Options
) -> None:
    request = CHAT.encode(window, THINKER, options)
    unfolded(MESSAGES.validate_python(request["messages"]))
    unfolded(REST["openai-chat"].validate_python(request | {"messages": []}))


class Posted(ThreadingHTTPServer):
    """Remembers the last body and answers what it is told to."""

    daemon_threads = True
    body: dict[str, Any]
    answer: bytes
    kind = "application/json"


class Post(BaseHTTPRequestHandler):
    server: Posted  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.server.body = json.loads(self.rfile.read(length))
        self.send_response(200)
        self.send_header("Content-Type", self.server.kind)
        self.send_header("Content-Length", str(len(self.server.answer)))
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture(scope="module")
def server() -> Iterator[Posted]:
    with Posted(("127.0.0.1", 0), Post) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def client(server: Posted) -> Iterator[Any]:
    base = f"http://127.0.0.1:{server.server_address[1]}/v1"
    with openai.OpenAI(api_key="none", base_url=base, max_retries=0) as client:
        yield client


def test_the_sdk_posts_what_we_encode_and_reads_the_stream_as_we_do(
    server: Posted, client: Any
) -> None:
    server.answer = (GOLDEN / "openai-responses" / "stream.sse").read_bytes()
    server.kind = "text/event-stream"
    asked = window(block("system", "Be brief."), block("user", "Hi."), tools=TOOLS)
    request = RESPONSES.encode(asked, THINKER, Options(stream=True, cache_key="s"))
    *_, last = client.responses.create(**request)
    assert server.body == request
    decoder = RESPONSES.decoder()
    decoder.feed(server.answer)
    reply = decoder.close()
    assert last.response.output_text == reply.message.text
    call, usage = last.response.output[2], last.response.usage
    assert reply.message.calls[0].id == call.call_id
    assert reply.message.calls[0].input == call.arguments
    assert (reply.usage.prompt, reply.usage.output) == (usage.input_tokens, usage.output_tokens)
    assert reply.usage.cache_read == usage.input_tokens_details.cached_tokens


def test_the_sdk_reads_a_chat_stream_as_we_do(server: Posted, client: Any) -> None:
    server.answer = (GOLDEN / "openai-chat" / "stream.sse").read_bytes()
    server.kind = "text/event-stream"
    request = CHAT.encode(window(block("user", "Hi.")), THINKER, Options(stream=True))
    with client.chat.completions.stream(**{k: request[k] for k in request if k != "stream"}) as run:
        run.until_done()
        final = run.get_final_completion()
    assert server.body == request
    decoder = CHAT.decoder()
    decoder.feed(server.answer)
    reply = decoder.close()
    message = final.choices[0].message
    assert reply.message.text == message.content
    assert [(c.id, c.name, c.input) for c in reply.message.calls] == [
        (call.id, call.function.name, call.function.arguments) for call in message.tool_calls
    ]
    assert reply.usage.total == final.usage.total_tokens


def test_a_whole_response_is_read_as_the_sdk_reads_it(server: Posted, client: Any) -> None:
    server.answer = (GOLDEN / "openai-responses" / "response.json").read_bytes()
    server.kind = "application/json"
    request = RESPONSES.encode(window(block("user", "Hi.")), THINKER, Options())
    read = client.responses.create(**request)
    reply = RESPONSES.decode(server.answer)
    assert "".join(p.text for p in reply.message.parts if isinstance(p, Text)) == read.output_text
    assert reply.usage.total == read.usage.total_tokens
