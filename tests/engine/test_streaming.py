"""Replies that the official SDKs stream, blocking and awaited, against the strict server."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai.types import HttpOptions
from pydantic import BaseModel

import holdfast
from holdfast.engine.client import drive
from holdfast.errors import InvalidRequest, Unreachable
from holdfast.model.message import Message, Text
from holdfast.model.reply import Call, Delta, Usage
from holdfast.testing import StrictServer
from holdfast.testing.strict import Ask, Think, answer
from holdfast.testing.strict.script import in_order

TOOLS = [{"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}]
MODELS = {
    "anthropic": "claude-opus-4-6",
    "openai-responses": "gpt-5.5",
    "openai-chat": "gpt-4o",
    "gemini": "gemini-3.1-pro-preview",
}
Sends = Callable[[Any, dict[str, Any]], Any]
WAYS: dict[str, tuple[str, Sends]] = {
    "anthropic create": ("anthropic", lambda c, r: c.messages.create(**r, stream=True)),
    "anthropic stream": ("anthropic", lambda c, r: c.messages.stream(**r)),
    "responses create": ("openai-responses", lambda c, r: c.responses.create(**r, stream=True)),
    "responses stream": ("openai-responses", lambda c, r: c.responses.stream(**r)),
    "chat create": (
        "openai-chat",
        lambda c, r: c.chat.completions.create(
            **r, stream=True, stream_options={"include_usage": True}
        ),
    ),
    "chat stream": (
        "openai-chat",
        lambda c, r: c.chat.completions.stream(**r, stream_options={"include_usage": True}),
    ),
    "gemini": ("gemini", lambda c, r: c.models.generate_content_stream(**r)),
}
pytestmark = pytest.mark.filterwarnings("ignore")  # the SDKs' own


def client(format: str, server: StrictServer, *, awaited: bool = False) -> Any:
    told: dict[str, Any] = {"api_key": "any", "max_retries": 0}
    if format == "anthropic":
        made = anthropic.AsyncAnthropic if awaited else anthropic.Anthropic
        return made(base_url=server.url("anthropic"), **told)
    if format == "gemini":
        options = HttpOptions(base_url=server.url("gemini"), api_version="v1beta")
        used = genai.Client(api_key="any", http_options=options)
        return used.aio if awaited else used
    made = openai.AsyncOpenAI if awaited else openai.OpenAI
    return made(base_url=server.url("openai"), **told)


def script(asked: Any) -> Any:
    """Think and ask for a file first; when the answer is there, finish."""
    if "the content" in str(asked.body):
        return answer("It says: the content.")
    return answer(Think("I should look."), "Looking at it.", Ask("read", {"path": "a.py"}))


def calls(hf: Any, s: Any) -> tuple[Call, ...]:
    return drive(hf.engine.store.calls.calls(s.id))


@pytest.mark.parametrize("way", WAYS)
def test_a_stream_is_heard_and_kept(way: str, tmp_path: Path) -> None:
    format, send = WAYS[way]
    heard = list[Delta]()
    with (
        holdfast.open(tmp_path / "log.db") as hf,
        StrictServer(script) as server,
        client(format, server) as using,
    ):
        s = hf.session(model=MODELS[format])
        s.user("What is in a.py?")
        request = s.window(system="Be brief.", tools=TOOLS).request(format)
        entry = s.reply(send(using, request), on_delta=heard.append)
        assert isinstance(entry.body, Message)
        (call,) = entry.body.calls
        assert (call.name, call.fields) == ("read", {"path": "a.py"})
        assert "".join(one.text for one in heard) == entry.body.text == "Looking at it."
        assert [one.tool for one in heard if one.tool] == ["read"]
        s.tool_result(call.id, "the content", name="read")
        last = s.reply(send(using, s.window(system="Be brief.", tools=TOOLS).request(format)))
        assert last.body.text == "It says: the content."  # type: ignore[union-attr]
        assert last.completed is not None
        assert server.refused == []
        assert [one.outcome for one in calls(hf, s)] == ["done", "done"]
        assert all(one.usage.prompt and one.usage.output for one in calls(hf, s))
        assert s.cost > 0


@pytest.mark.parametrize("way", WAYS)
def test_a_stream_is_kept_as_the_whole_response_would_be(way: str, tmp_path: Path) -> None:
    format, send = WAYS[way]
    whole: Sends = {
        "anthropic": lambda c, r: c.messages.create(**r),
        "openai-responses": lambda c, r: c.responses.create(**r),
        "openai-chat": lambda c, r: c.chat.completions.create(**r),
        "gemini": lambda c, r: c.models.generate_content(**r),
    }[format]
    usage = Usage(input=900, cache_read=100, output=30)
    said = answer("Twice.", Ask("read", {"path": "a.py"}, id="call_1"), usage=usage)
    with (
        holdfast.open(tmp_path / "log.db") as hf,
        StrictServer(said) as server,
        client(format, server) as using,
    ):
        s, t = hf.session(model=MODELS[format]), hf.session(model=MODELS[format])
        for one in (s, t):
            one.user("Hello?")
        streamed = s.reply(send(using, s.window(tools=TOOLS).request(format)))
        told = t.reply(whole(using, t.window(tools=TOOLS).request(format)))
        assert _bare(streamed.body) == _bare(told.body)
        assert calls(hf, s)[0].usage == calls(hf, t)[0].usage == usage


def _bare(body: Any) -> list[Any]:
    """What was said, without the ids that differ from one response to the next."""
    return [(type(p).__name__, getattr(p, "text", None) or p.fields) for p in body.parts]


@pytest.mark.parametrize("way", WAYS)
def test_the_same_awaited(way: str, tmp_path: Path) -> None:
    format, send = WAYS[way]

    async def turn(server: StrictServer) -> tuple[Any, float, list[Delta]]:
        heard = list[Delta]()
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            s = await hf.session(model=MODELS[format])
            await s.user("What is in a.py?")
            window = await s.window(tools=TOOLS)
            async with client(format, server, awaited=True) as using:
                stream = send(using, window.request(format))
                stream = await stream if hasattr(stream, "__await__") else stream
                entry = await s.reply(stream, on_delta=heard.append)
            return entry, s.cost, heard

    with StrictServer(script) as server:
        entry, cost, heard = asyncio.run(turn(server))
    assert entry.body.text == "".join(one.text for one in heard) == "Looking at it."
    assert [call.name for call in entry.body.calls] == ["read"]
    assert cost > 0


@pytest.mark.parametrize("way", WAYS)
def test_a_stream_that_is_cut_is_kept_once_as_aborted(way: str, tmp_path: Path) -> None:
    format, send = WAYS[way]
    words = " ".join(f"word{n}" for n in range(400))
    answers = in_order(answer(words, cut=6_000), answer("Done."))
    with (
        holdfast.open(tmp_path / "log.db") as hf,
        StrictServer(answers) as server,
        client(format, server) as using,
    ):
        s = hf.session(model=MODELS[format])
        s.user("Count.")
        with pytest.raises(Exception, match=r"(?i)clos|connect|incomplete|disconnect|read"):
            s.reply(send(using, s.window().request(format)), key="turn-1")
        kept = list(s.entries())[1:]
        assert len(kept) == 1
        assert kept[0].completed is None
        assert kept[0].body.text.startswith("word0 word1 ")  # type: ignore[union-attr]
        assert [one.outcome for one in calls(hf, s)] == ["aborted"]
        s.user("Go on.")
        assert s.reply(send(using, s.window().request(format))).completed is not None
        assert server.refused == []


def test_who_listens_may_stop_it(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def hear(delta: Delta) -> None:
        if "two" in delta.text:
            raise Enough

    words = answer("one two three four five six", piece=4)
    with (
        holdfast.open(tmp_path / "log.db") as hf,
        StrictServer(words) as server,
        client("anthropic", server) as using,
    ):
        s = hf.session(model="claude-opus-4-6")
        s.user("Count.")
        request = s.window().request("anthropic")
        stream = using.messages.create(**request, stream=True)
        with pytest.raises(Enough):
            s.reply(stream, on_delta=hear)
        last = list(s.entries())[-1]
        assert last.completed is None
        assert last.body.text == "one two "  # type: ignore[union-attr]
        assert stream.response.is_closed
        assert [one.outcome for one in calls(hf, s)] == ["aborted"]


def test_what_the_sdk_parses_of_a_stream_is_not_kept(tmp_path: Path) -> None:
    class Sum(BaseModel):
        total: int

    with (
        holdfast.open(tmp_path / "log.db") as hf,
        StrictServer('{"total": 3}') as server,
        client("openai-responses", server) as using,
    ):
        s = hf.session(model="gpt-5.5")
        for question in ("1 + 2?", "And again?"):
            s.user(question)
            request = s.window().request("openai-responses")
            stream = using.responses.stream(**request, text_format=Sum)
            s.reply(stream)
        assert server.refused == []
        parts = [part for e in s.visible() if isinstance(e.body, Message) for part in e.body.parts]
        seals = [part.seal.data for part in parts if isinstance(part, Text) and part.seal]
        assert len(seals) == 2
        assert b"parsed" not in b"".join(seals)


@pytest.mark.parametrize("stream", [[], iter([]), [{"type": "ping"}]])
def test_a_stream_that_says_nothing_appends_nothing(stream: Any, tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-opus-4-6")
        s.user("Hello?")
        with pytest.raises(Unreachable, match="before a word had come; ask again"):
            s.reply(stream)
        assert len(list(s.entries())) == 1


def test_a_stream_that_is_no_provider_s_is_refused(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-opus-4-6")
        with pytest.raises(InvalidRequest, match="of no wire format known here"):
            s.reply([{"what": "ever"}])
        with pytest.raises(InvalidRequest, match="a stream of anthropic, not of gemini"):
            s.reply([{"type": "ping"}], format="gemini")
        assert list(s.entries()) == []


def test_an_awaited_stream_is_refused_at_the_blocking_door(tmp_path: Path) -> None:
    async def stream() -> Any:
        yield {"type": "ping"}

    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-opus-4-6")
        with pytest.raises(InvalidRequest, match=r"holdfast\.open_async"):
            s.reply(stream())
        assert list(s.entries()) == []


def test_whoever_looks_on_sees_none_of_our_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    heard: list[Delta] = []
    said = answer("it is sk-canary-0123456789, and sk", piece=3)
    with (
        StrictServer(lambda asked: said) as server,
        holdfast.open(tmp_path / "log.db") as hf,
        client("anthropic", server) as using,
    ):
        s = hf.session(model=MODELS["anthropic"])
        s.user("what is the key?")
        request = s.window().request("anthropic")
        entry = s.reply(using.messages.create(**request, stream=True), on_delta=heard.append)
    assert "".join(delta.text for delta in heard) == "it is [redacted], and sk"
    assert entry.body.text == "it is [redacted], and sk"  # type: ignore[union-attr]
