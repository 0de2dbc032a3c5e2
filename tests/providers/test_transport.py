"""A key goes to its own host only; whatever goes wrong says what to do."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types as genai_types

from holdfast.engine.client import drive
from holdfast.engine.plugins import provider
from holdfast.errors import (
    AuthError,
    BadResponse,
    InvalidRequest,
    Overflow,
    ProviderError,
    ProviderRejected,
    Throttled,
    Unreachable,
)
from holdfast.providers import transport as module
from holdfast.providers.base_url import host_of
from holdfast.providers.transport import HttpTransport, failure, key_of

KEY = "sk-ant-0123456789"

Play = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def playing(play: Play) -> Iterator[tuple[str, list[tuple[str, dict[str, str], bytes]]]]:
    """A server on this machine that answers each POST as it is told; its URL, and what it got."""
    heard: list[tuple[str, dict[str, str], bytes]] = []

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            told = {name.lower(): value for name, value in self.headers.items()}
            heard.append((self.path, told, body))
            play(self)

        def log_message(self, format: str, *args: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answering(status: int, body: bytes = b"{}", **headers: str) -> Play:
    def play(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return play


def asked(url: str, seconds: float = 5, key: str = KEY) -> bytes:
    made = HttpTransport("anthropic", key=key, url=url, seconds=seconds)
    try:
        return drive(made.post("/v1/messages/count_tokens", b'{"a":1}', {"x-more": "1"}))
    finally:
        made.close()


def test_the_body_comes_back_and_the_key_goes_along() -> None:
    with playing(answering(200, b'{"input_tokens": 3}')) as (url, heard):
        assert asked(url) == b'{"input_tokens": 3}'
    path, headers, body = heard[0]
    assert (path, body) == ("/v1/messages/count_tokens", b'{"a":1}')
    assert headers["x-api-key"] == KEY
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["x-more"] == "1"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed_and_the_key_stays_at_home(status: int) -> None:
    with (
        playing(answering(200, b'{"input_tokens": 3}')) as (elsewhere, heard),
        playing(answering(status, b"", location=f"{elsewhere}/v1/messages/count_tokens")) as (
            url,
            _,
        ),
        pytest.raises(BadResponse, match=str(status)),
    ):
        asked(url)
    assert heard == []


def test_nothing_waits_for_ever() -> None:
    hold = threading.Event()

    def never(handler: BaseHTTPRequestHandler) -> None:
        hold.wait(5)

    with playing(never) as (url, _):
        with pytest.raises(Unreachable, match=r"did not answer within 0\.2 s"):
            asked(url, seconds=0.2)
        hold.set()


def test_nobody_there_is_told() -> None:
    with playing(answering(200)) as (url, _):
        pass
    with pytest.raises(Unreachable, match="cannot be reached"):
        asked(url)


def test_an_answer_without_end_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 1_000)
    with (
        playing(answering(200, b"x" * 5_000)) as (url, _),
        pytest.raises(BadResponse, match="without end"),
    ):
        asked(url)


CASES: list[tuple[int, bytes, type[ProviderError]]] = [
    (401, b'{"error": {"message": "invalid x-api-key"}}', AuthError),
    (403, b'{"error": {"message": "not yours"}}', AuthError),
    (
        400,
        b'{"error": {"message": "messages: text content blocks must be non-empty"}}',
        ProviderRejected,
    ),
    (400, b'{"error": {"message": "prompt is too long: 5 tokens > 200000 maximum"}}', Overflow),
    (413, b'{"error": {"message": "Request exceeds the maximum size"}}', Overflow),
    (404, b'{"error": "no such model"}', ProviderRejected),
    (429, b'{"error": {"message": "slow down"}}', Throttled),
    (408, b"", Unreachable),
    (500, b"oops", Unreachable),
    (529, b'{"error": {"message": "Overloaded"}}', Unreachable),
    (302, b"", BadResponse),
]


@pytest.mark.parametrize(("status", "body", "kind"), CASES)
def test_each_failure_says_what_to_do(status: int, body: bytes, kind: type[ProviderError]) -> None:
    with (
        playing(answering(status, body, request_id="req_1")) as (url, _),
        pytest.raises(kind) as raised,
    ):
        asked(url)
    error = raised.value
    assert type(error) is kind
    assert (error.provider, error.status, error.request) == ("anthropic", status, "req_1")
    assert KEY not in str(error)
    assert "; " in str(error)


def test_numbers_ride_along() -> None:
    long = failure("openai", 400, b'{"error":{"message":"maximum context length is 8192"}}', {})
    assert isinstance(long, Overflow)
    assert long.limit == 8_192
    slow = failure("openai", 429, b"{}", {"retry-after": "2.5"})
    assert isinstance(slow, Throttled)
    assert slow.after == 2.5
    gone = failure("openai", 429, b"{}", {"retry-after": "Sun, 15 Nov 2020 12:00:00 GMT"})
    later = failure("openai", 503, b"{}", {"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"})
    assert isinstance(gone, Throttled)
    assert gone.after == 0
    assert isinstance(later, Throttled)
    assert (later.after or 0) > 60
    for odd in ("soon", "", "Sun, 99 Nov"):
        other = failure("openai", 429, b"{}", {"retry-after": odd})
        assert isinstance(other, Throttled)
        assert other.after is None
        assert isinstance(failure("openai", 503, b"{}", {"retry-after": odd}), Unreachable)


def test_without_a_key_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with playing(answering(200)) as (url, heard):
        with pytest.raises(AuthError, match="set ANTHROPIC_API_KEY"):
            asked(url, key="")
        assert heard == []
    monkeypatch.setenv("GOOGLE_API_KEY", "from the environment")
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    assert key_of("google") == "from the environment"


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "https://", "example.com", "http://[::1"])
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(InvalidRequest, match="https://"):
        HttpTransport("anthropic", key=KEY, url=url)


@pytest.mark.parametrize(
    "url", ["http://example.com", "http://127.0.0.2.x", "http://192.168.1.20:11434/v1"]
)
def test_a_key_is_not_sent_in_the_clear(url: str) -> None:
    with pytest.raises(InvalidRequest, match=r"in the clear; use https://.* plain_http = \["):
        HttpTransport("openai", key=KEY, url=url)
    HttpTransport("openai", key=KEY, url=url, plain=[host_of(url)]).close()


@pytest.mark.parametrize(
    ("url", "goes"),
    [
        ("http://192.168.1.20:11434/v1", True),
        ("http://[fd00::7]:8000/v1", True),
        ("http://ollama:11434/v1", True),
        ("http://box.local/v1", True),
        ("http://example.com/v1", False),
        ("http://8.8.8.8/v1", False),
    ],
)
def test_without_a_key_plain_http_reaches_the_private_network_alone(
    url: str, goes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if goes:
        HttpTransport("openai", url=url).close()
        return
    with pytest.raises(InvalidRequest, match="over a public network"):
        HttpTransport("openai", url=url)


def test_the_settings_let_a_key_go_in_the_clear_to_a_host(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(InvalidRequest, match="in the clear"):
        provider("openai", "openai-chat", key=KEY, url="http://Box.lan/v1")
    (tmp_path / "holdfast").mkdir()
    (tmp_path / "holdfast/settings.toml").write_text('[providers]\nplain_http = ["BOX.lan"]\n')
    provider("openai", "openai-chat", key=KEY, url="http://Box.lan/v1").close()


def theirs(name: str, url: str, format: str) -> Any:
    """What a provider's own SDK makes of a base URL: the request it sends for a reply."""
    if name == "anthropic":
        said: Any = [{"role": "user", "content": "hi"}]
        with anthropic.Anthropic(api_key=KEY, base_url=url, max_retries=0) as made:
            return made.messages.create(model="m", max_tokens=9, messages=said, stream=True)
    if name == "openai":
        with openai.OpenAI(api_key=KEY, base_url=url, max_retries=0) as client:
            if format == "openai-chat":
                return client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "hi"}], stream=True
                )
            return client.responses.create(model="m", input="hi", stream=True)
    options = genai_types.HttpOptions(base_url=url, api_version="v1beta")
    with genai.Client(api_key=KEY, http_options=options) as client:
        return list(client.models.generate_content_stream(model="m", contents="hi"))


REQUESTS: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "m", "messages": []},
    "openai-chat": {"model": "m", "messages": []},
    "openai-responses": {"model": "m", "input": "hi"},
    "gemini": {"model": "m", "contents": []},
}


@pytest.mark.parametrize("below", ["", "/", "/v1", "/v1/", "/v4", "/api/coding/v4", "/anthropic"])
@pytest.mark.parametrize(
    ("name", "format"),
    [("anthropic", "anthropic"), ("openai", "openai-chat"), ("openai", "openai-responses"),
     ("google", "gemini")],
)  # fmt: skip
def test_a_base_url_means_what_it_means_to_the_providers_own_sdk(
    name: str, format: str, below: str
) -> None:
    with playing(answering(404)) as (url, heard):
        with pytest.raises(Exception, match="404"):
            theirs(name, f"{url}{below}", format)
        with (
            closing(provider(name, format, key=KEY, url=f"{url}{below}")) as ours,
            pytest.raises(ProviderRejected) as raised,
        ):
            drive(ours.begin(REQUESTS[format]))
    by_sdk, by_us = (path.partition("?")[0] for path, _, _ in heard)
    assert by_us == by_sdk.replace("//", "/")
    assert "BASE_URL is used as it is given" in str(raised.value)
    assert f"{url}{by_us}" in str(raised.value)


def test_nobody_there_is_told_with_the_address_and_nothing_secret_of_it() -> None:
    with playing(answering(200)) as (url, _):
        pass
    named = url.replace("://", "://me:hunter2-hunter2@")
    with pytest.raises(Unreachable, match="cannot be reached") as raised:
        asked(f"{named}/below?key=sk-in-the-query")
    assert f"anthropic at {url}/below" in str(raised.value)
    for secret in ("hunter2", "sk-in-the-query", KEY):
        assert secret not in str(raised.value)


def test_a_provider_without_an_endpoint_is_told() -> None:
    with pytest.raises(InvalidRequest, match="anthropic, openai, google"):
        HttpTransport("acme", key=KEY)


def streamed(url: str, key: str = KEY) -> bytes:
    made = HttpTransport("anthropic", key=key, url=url, seconds=5)
    try:
        flow = drive(made.stream("/v1/messages", b"{}", {}))
        read = b""
        while piece := drive(flow.read()):
            read += piece
        drive(flow.close())
        return read
    finally:
        made.close()


def in_pieces(*pieces: bytes) -> Play:
    def play(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for piece in pieces:
            handler.wfile.write(piece)
            handler.wfile.flush()

    return play


def test_whoever_sends_our_key_back_does_not_spread_it() -> None:
    for cut in range(1, len(KEY)):
        told = in_pieces(b"you sent " + KEY[:cut].encode(), KEY[cut:].encode() + b", thanks sk-a")
        with playing(told) as (url, _):
            assert streamed(url) == b"you sent [redacted], thanks sk-a"


def test_a_refusal_that_names_our_key_is_told_without_it() -> None:
    said = f'{{"error": {{"message": "invalid key {KEY}"}}}}'.encode()
    with playing(answering(401, said)) as (url, _):
        for ask in (asked, streamed):
            with pytest.raises(AuthError) as raised:
                ask(url)
            assert KEY not in str(raised.value)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_stream_is_not_redirected_either(status: int) -> None:
    with (
        playing(answering(200, b"{}")) as (elsewhere, heard),
        playing(answering(status, b"", location=f"{elsewhere}/v1/messages")) as (url, _),
        pytest.raises(BadResponse, match=str(status)),
    ):
        streamed(url)
    assert heard == []


def test_what_is_on_this_machine_is_asked_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with playing(answering(502)) as (proxy, caught), playing(answering(200)) as (url, heard):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        assert asked(url) == b"{}"
    assert caught == []
    assert len(heard) == 1


@pytest.mark.parametrize(
    ("name", "format"),
    [("openai", "openai-chat"), ("anthropic", "anthropic"), ("google", "gemini")],
)
def test_a_query_of_the_address_goes_along_with_every_request(name: str, format: str) -> None:
    with playing(answering(404)) as (url, heard):
        named = f"{url}/v1?api-version=1&b=2"
        with (
            closing(provider(name, format, key=KEY, url=named)) as ours,
            pytest.raises(ProviderRejected) as raised,
        ):
            drive(ours.begin(REQUESTS[format]))
    path, _, query = heard[0][0].partition("?")
    assert path.startswith("/v1/")
    assert query.endswith("api-version=1&b=2")
    assert query.count("?") == 0
    assert "api-version" not in str(raised.value)
