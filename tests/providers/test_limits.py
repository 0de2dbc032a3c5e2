"""What answers say of limits is kept, those that are refusals too; nothing else of them is."""

from contextlib import closing

import pytest

from holdfast.engine.bridge import drive
from holdfast.errors import Throttled
from holdfast.model.rate_limits import Limit
from holdfast.providers.endpoint import HttpProvider
from holdfast.providers.transport import HttpTransport
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Answer, answer

REQUEST = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}


def told(remaining: int) -> dict[str, str]:
    limits = {"limit": "150000", "remaining": str(remaining), "reset": "6m0s"}
    return {f"x-ratelimit-{name}-tokens": value for name, value in limits.items()}


def ask(to: HttpProvider) -> Limit | None:
    drive(drive(to.begin(REQUEST)).close())
    return to.limits.tightest if to.limits else None


def test_the_newest_answer_that_speaks_of_limits_counts() -> None:
    said: list[Answer] = [
        answer("one"),
        answer("two", headers=told(149_984)),
        answer(status=429, error="slow down", headers=told(0)),
        answer("three"),
    ]
    answers = iter(said)
    with (
        StrictServer(lambda _: next(answers)) as server,
        closing(HttpTransport("openai", key="sk-test", url=server.url("openai"))) as transport,
    ):
        to = HttpProvider(transport, "openai-chat")
        assert to.limits is None
        assert ask(to) is None
        first = ask(to)
        assert first
        assert (first.kind, first.remaining) == ("tokens", 149_984)
        with pytest.raises(Throttled):
            ask(to)
        assert to.limits
        assert to.limits.provider == "openai"
        assert to.limits.tightest.share == 0
        assert to.limits.tightest.reset == to.limits.at + 360_000
        last = ask(to)
        assert last
        assert last.remaining == 0  # the last answer says nothing, so that the one before holds
