"""Talking to a provider: a real server on this machine, streams, failures, refusals."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.core.calls.price import cost
from holdfast.engine.bridge import drive
from holdfast.engine.calls.send import send
from holdfast.engine.client import Holdfast
from holdfast.engine.plugins import provider
from holdfast.errors import AuthError, Throttled, Unreachable
from holdfast.model.message import Message, ToolCall
from holdfast.model.reply import Delta, Usage
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, Think, answer

WHO = {
    "anthropic": ("anthropic", "claude-sonnet-4-6"),
    "openai-responses": ("openai", "gpt-5"),
    "openai-chat": ("openai", "gpt-4o"),
    "gemini": ("google", "gemini-2.5-pro"),
}


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "log.db") as opened:
        yield opened


def session(hf: Holdfast, format: str) -> Any:
    return hf.session(model=WHO[format][1])._inner  # type: ignore[reportPrivateUsage]


def spoken(s: Any, server: StrictServer, format: str, hear: Any = None, **asking: Any) -> Any:
    name = WHO[format][0]
    with closing(provider(name, format, key="sk-test", url=server.url(name))) as to:
        return drive(send(s, s.turns, to, hear, **asking))


@pytest.mark.parametrize("format", WHO)
def test_a_turn_with_a_tool(hf: Holdfast, format: str) -> None:
    def script(asked: Any) -> Any:
        if "42 files" in str(asked.body):
            return answer("There are 42.")
        return answer(Think("let me look"), "Looking.", Ask("list", {"path": "src"}))

    with StrictServer(script) as server:
        s, heard = session(hf, format), list[Delta]()
        drive(s.user("how many files?"))
        tools = [{"name": "list", "description": "List.", "input_schema": {"type": "object"}}]
        first = spoken(s, server, format, heard.append, tools=tools)
        body = first.body
        assert isinstance(body, Message)
        (call,) = body.calls
        assert isinstance(call, ToolCall)
        assert "Looking." in "".join(delta.text for delta in heard)
        drive(s.tool_result(call.id, "42 files", name="list"))
        last = spoken(s, server, format, tools=tools)
        assert last.body.text == "There are 42."  # type: ignore[union-attr]
        assert s.cost > 0
        assert not [one for one in server.asked if one.rule]


@pytest.mark.parametrize("format", WHO)
def test_what_is_busy_is_asked_again(hf: Holdfast, format: str) -> None:
    busy = answer(status=429, error="slow down", headers={"retry-after": "0"})
    answers = iter([busy, busy, answer("Here I am.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, format)
        drive(s.user("hello"))
        entry = spoken(s, server, format)
        assert entry.body.text == "Here I am."  # type: ignore[union-attr]
        assert len(server.asked) == 3


def test_a_stream_that_breaks_off_is_kept_and_counted_once(hf: Holdfast) -> None:
    with StrictServer(lambda asked: answer("A long answer " * 30, cut=2_000)) as server:
        s = session(hf, "anthropic")
        drive(s.user("hello"))
        entry = spoken(s, server, "anthropic")
        assert entry.completed is None
        assert entry.body.text.startswith("A long answer")  # type: ignore[union-attr]
        (call,) = drive(s.store.calls.newest(s.id))
        assert call.outcome == "aborted"
        drive(s.user("go on"))
        assert drive(s.window()).request("anthropic")


def test_an_overflow_is_learned_from_and_the_window_made_smaller(hf: Holdfast) -> None:
    def script(asked: Any) -> Any:
        if len(str(asked.body)) > 40_000:
            said = "prompt is too long: 213456 tokens > 8000 maximum"
            return answer(status=400, error=said)
        return answer("Fine.")

    with StrictServer(script) as server:
        s = session(hf, "anthropic")
        for n in range(60):
            drive(s.user(f"{n} " + "word " * 200))
            drive(s.append(holdfast.assistant("ok")))
        drive(s.user("and now?"))
        entry = spoken(s, server, "anthropic")
        assert entry.body.text == "Fine."  # type: ignore[union-attr]
        assert len(server.asked) == 2


def test_a_wrong_key_is_said_and_not_tried_again(hf: Holdfast) -> None:
    with StrictServer(lambda asked: answer(status=401, error="invalid x-api-key")) as server:
        s = session(hf, "anthropic")
        drive(s.user("hello"))
        with pytest.raises(AuthError, match="check the key"):
            spoken(s, server, "anthropic")
        assert len(server.asked) == 1


def test_a_stream_without_a_word_appends_nothing(hf: Holdfast) -> None:
    with StrictServer(lambda asked: answer("words", cut=40)) as server:
        s = session(hf, "anthropic")
        drive(s.user("hello"))
        with pytest.raises(Unreachable):
            spoken(s, server, "anthropic")
        assert s.info.head == 1


@pytest.mark.parametrize("format", WHO)
def test_what_the_provider_says_to_wait_is_waited(hf: Holdfast, format: str) -> None:
    busy = answer(status=429, error="slow down", headers={"retry-after": "7"})
    answers = iter([busy, answer(status=503, error="away"), answer("Here I am.")])
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, format)
        s.pause = pause
        drive(s.user("hello"))
        spoken(s, server, format)
    assert waited == [7.0, 1.0]  # as told, then longer than it would have been at first


def test_who_asks_for_too_long_a_wait_is_not_waited_for(hf: Holdfast) -> None:
    busy = answer(status=429, error="come back", headers={"retry-after": "3600"})
    with StrictServer(lambda asked: busy) as server:
        s = session(hf, "anthropic")
        drive(s.user("hello"))
        with pytest.raises(Throttled) as raised:
            spoken(s, server, "anthropic")
        assert raised.value.after == 3600
        assert len(server.asked) == 1


@pytest.mark.parametrize("format", WHO)
def test_usage_is_kept_in_four_buckets_that_do_not_overlap(hf: Holdfast, format: str) -> None:
    took = Usage(input=1_000, cache_read=400, output=300, reasoning=120)
    with StrictServer(answer(Think("hm"), "Yes.", usage=took)) as server:
        s = session(hf, format)
        drive(s.user("hello"))
        spoken(s, server, format)
    (call,) = drive(s.store.calls.newest(s.id))
    assert (call.usage.input, call.usage.cache_read, call.usage.output) == (1_000, 400, 300)
    assert call.usage.total == 1_700
    assert call.price_version
    assert call.cost == cost(call.usage, hf.catalogue.profile(WHO[format][1]))


def test_what_is_asked_again_is_timed_afresh(hf: Holdfast) -> None:
    answers = iter([answer(), answer("Here I am.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, "anthropic")
        drive(s.user("hello"))
        spoken(s, server, "anthropic")
    last, first = drive(s.store.calls.newest(s.id, 2))
    assert (first.outcome, last.outcome) == ("failed", "done")
    assert first.started <= first.ended < last.started <= last.ended


@pytest.mark.parametrize(
    ("said", "most"),
    [
        ("input length and `max_tokens` exceed context limit: 1219 + {0} > 16000", 16_000),
        ("max_tokens: {0} > 8192, which is the maximum allowed number of output tokens", 8_192),
    ],
)
def test_a_reply_that_may_be_too_long_is_asked_for_shorter(
    hf: Holdfast, said: str, most: int
) -> None:
    def script(asked: Any) -> Any:
        asks = asked.body["max_tokens"]
        return answer(status=400, error=said.format(asks)) if asks > most else answer("Fine.")

    with StrictServer(script) as server:
        s = session(hf, "anthropic")
        drive(s.user("hello"))
        assert spoken(s, server, "anthropic").body.text == "Fine."
        drive(s.user("and again"))
        assert spoken(s, server, "anthropic").body.text == "Fine."
        assert len(server.asked) == 3
