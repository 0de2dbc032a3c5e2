"""Every call of a model reaches telemetry: those beside the turns, and those that failed."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.plugins import provider
from holdfast.errors import HoldfastError
from holdfast.model.event import Called, Event
from holdfast.model.reply import Usage
from holdfast.testing import StrictServer
from holdfast.testing.strict import answer

MODEL = "claude-sonnet-4-6"
BEGUN = {
    "type": "message_start",
    "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": [],
        "usage": {"input_tokens": 20, "output_tokens": 1},
    },
}  # fmt: skip


class Listening:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def calls(self) -> list[tuple[str, str]]:
        return [(e.call.cause, e.call.outcome) for e in self.events if isinstance(e, Called)]


def test_a_stream_without_a_word_is_a_call_that_failed_and_is_told(tmp_path: Path) -> None:
    heard = Listening()
    with holdfast.open(tmp_path / "log.db", telemetry=heard) as hf:
        s = hf.session(model=MODEL)
        s.user("Hello")
        s.window().request("anthropic", stream=True)
        with pytest.raises(HoldfastError):
            s.reply(iter([BEGUN, {"type": "error", "error": {"type": "overloaded_error"}}]))
        assert heard.calls() == [("turn", "failed")]
        assert [one.calls for one in hf.costs("cause")] == [1]


def test_a_call_that_keeps_the_cache_warm_is_told(tmp_path: Path) -> None:
    heard = Listening()
    usage = Usage(input=10, cache_write=9_000, output=5)
    with (
        StrictServer(lambda asked: answer("Well.", usage=usage)) as server,
        holdfast.open(tmp_path / "log.db", telemetry=heard) as hf,
    ):
        s = hf.session(model=MODEL)
        s.user("Hello")
        url = server.url("anthropic")
        with closing(provider("anthropic", "anthropic", key="sk-test", url=url)) as to:
            s.send(to)
            wait = s.warm_in()
            assert wait is not None
            clock: Any = hf.engine.clock
            now = clock.now
            clock.now = lambda: now() + wait
            made = s.keep_warm(to)
        assert made is not None
        assert heard.calls() == [("turn", "done"), ("keep-warm", "done")]
