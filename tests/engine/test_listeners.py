"""Whoever listens at the async door is awaited, and what comes back is known to an editor."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, assert_type

import pytest

import holdfast
from holdfast.engine.client import AsyncHoldfast
from holdfast.engine.plugins import provider
from holdfast.errors import InvalidRequest
from holdfast.model.log import ReplyEntry
from holdfast.model.message import ToolCall
from holdfast.model.reply import Delta, Usage
from holdfast.testing import StrictServer
from holdfast.testing.strict import answer

MODEL = "claude-sonnet-4-6"
EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": [],
        "usage": {"input_tokens": 20, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It is "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "fine."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
]  # fmt: skip


async def streamed() -> AsyncIterator[dict[str, Any]]:
    for event in EVENTS:
        await asyncio.sleep(0)
        yield event


class Listener:
    """Listens slowly, as one that writes to a socket does."""

    def __init__(self) -> None:
        self.text = ""

    async def __call__(self, delta: Delta) -> None:
        await asyncio.sleep(0.001)
        self.text += delta.text


def test_an_async_listener_is_awaited_while_a_stream_is_read(tmp_path: Path) -> None:
    async def all_of_it() -> None:
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            s = await hf.session(model=MODEL)
            await s.user("How is it?")
            (await s.window()).request("anthropic")
            listener = Listener()
            entry = await s.reply(streamed(), on_delta=listener)
            assert listener.text == entry.text == "It is fine."

    asyncio.run(all_of_it())


def test_one_that_fails_is_heard_of_and_what_came_is_kept(tmp_path: Path) -> None:
    async def fails(_: Delta) -> None:
        raise ConnectionError("whoever listened has gone")

    async def all_of_it() -> None:
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            s = await hf.session(model=MODEL)
            await s.user("How is it?")
            with pytest.raises(ConnectionError):
                await s.reply(streamed(), on_delta=fails)
            assert s.info.head == 2

    asyncio.run(all_of_it())


def test_the_blocking_door_refuses_a_listener_that_it_cannot_await(tmp_path: Path) -> None:
    async def listens(_: Delta) -> None: ...

    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL)
        s.user("How is it?")
        for listener in (listens, Listener()):
            with pytest.raises(InvalidRequest, match="open_async"):
                s.reply(iter(EVENTS), on_delta=listener)
        assert s.info.head == 1


def test_a_model_that_is_spoken_to_is_heard_by_an_async_listener(tmp_path: Path) -> None:
    with StrictServer(answer("Noted.")) as server, holdfast.open(tmp_path / "log.db") as hf:
        s, heard = hf.session(model=MODEL), list[str]()
        s.user("Hello")
        spoken = provider("anthropic", "anthropic", key="sk-x", url=server.url("anthropic"))
        try:
            entry = s.send(spoken, lambda delta: heard.append(delta.text))
        finally:
            spoken.close()
        assert "".join(heard) == entry.text == "Noted."
        assert entry.usage.output > 0
        assert_type(entry, ReplyEntry)


def test_what_a_reply_became_is_known_by_type(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL)
        s.user("How is it?")
        s.window().request("anthropic", max_tokens=100, thinking=None, tool_choice="auto")
        reply = s.reply(iter(EVENTS))
        assert_type(reply.text, str)
        assert_type(reply.calls, tuple[ToolCall, ...])
        assert_type(reply.usage, Usage)
        assert (reply.text, reply.calls, reply.usage.output) == ("It is fine.", (), 5)
        assert reply.stop == "end"
        assert reply == s.entry(reply.seq)
        assert s.entry(reply.seq) == reply
        assert hash(reply) == hash(s.entry(reply.seq))
        assert reply != s.entry(1)


def test_what_is_opened_for_an_event_loop_is_known_by_type(tmp_path: Path) -> None:
    async def all_of_it() -> None:
        hf = await holdfast.open_async(tmp_path / "log.db")
        assert_type(hf, AsyncHoldfast)
        async with hf:
            s = await hf.session(model=MODEL)
            await s.user("Hello")

    asyncio.run(all_of_it())
