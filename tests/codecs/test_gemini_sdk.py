"""The official SDK takes what we encode, posts what we would post, and reads what we read."""

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given, settings

from holdfast.codecs.gemini import Gemini, rest
from holdfast.codecs.gemini.names import camel
from holdfast.model.message import Reasoning, Text
from holdfast.model.profile import Profile
from holdfast.model.window import Options, Window
from tests.codecs.gemini_windows import events, model_parts, response, windows
from tests.codecs.sdks import sdk

genai = sdk("google.genai")
types = genai.types

CODEC = Gemini()


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
    base = f"http://127.0.0.1:{server.server_port}"
    options = types.HttpOptions(base_url=base, api_version="v1beta")
    with genai.Client(api_key="k", http_options=options) as client:
        yield client


def alike(value: Any) -> Any:
    """Names in one spelling and base64 in one alphabet: the SDK mixes the former."""
    if isinstance(value, dict):
        plain = {camel(name): alike(inner) for name, inner in value.items()}
        for name in ("data", "thoughtSignature"):
            if isinstance(plain.get(name), str):
                plain[name] = plain[name].replace("-", "+").replace("_", "/")
        return plain
    return [alike(inner) for inner in value] if isinstance(value, list) else value


@settings(max_examples=50)
@given(window=windows())
def test_the_sdk_posts_the_body_that_we_would_post(
    server: Posted, client: Any, window: Window
) -> None:
    request = CODEC.encode(window, Profile(name=window.model), Options(effort="low"))
    server.kind, server.answer = "application/json", json.dumps(response([{"text": "x"}])).encode()
    client.models.generate_content(**request)
    assert alike(server.body) == alike(rest(request))


@settings(max_examples=50)
@given(parts=model_parts.filter(lambda parts: "neverSeen" not in json.dumps(parts)))
def test_the_sdk_reads_the_same_stream_alike(
    server: Posted, client: Any, parts: list[dict[str, Any]]
) -> None:
    data = events([response(parts)])
    server.kind, server.answer = "text/event-stream", data
    theirs = [*client.models.generate_content_stream(model="gemini-3-flash", contents="hi")]
    decoder = CODEC.decoder()
    decoder.feed(data)
    ours = decoder.close()
    seen = [part for chunk in theirs for part in (chunk.candidates[0].content.parts or ())]
    calls = [part.function_call for part in seen if part.function_call]
    assert [(call.name, call.args) for call in calls] == [
        (call.name, json.loads(call.input)) for call in ours.message.calls
    ]
    texts = [part for part in seen if part.text]
    for thought, kind in ((True, Reasoning), (False, Text)):
        said = [part.text for part in texts if bool(part.thought) == thought]
        assert said == [part.text for part in ours.message.parts if isinstance(part, kind)]
    usage = theirs[-1].usage_metadata
    assert usage.prompt_token_count == ours.usage.prompt
    assert usage.candidates_token_count == ours.usage.output


def test_the_stand_in_reaches_the_wire_as_itself_through_the_sdk() -> None:
    part = types.Part.model_validate(
        {"text": "x", "thought_signature": "skip_thought_signature_validator"}
    )
    sent = json.loads(part.model_dump_json(exclude_none=True))
    assert sent["thought_signature"] == "skip_thought_signature_validator"
    assert base64.urlsafe_b64decode(sent["thought_signature"]) == part.thought_signature
