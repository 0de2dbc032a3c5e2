"""A server whose models hold so much and no more: refused in each provider's words, understood."""

from contextlib import closing
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.plugins import provider
from holdfast.errors import Overflow
from holdfast.model.log import Repair
from holdfast.testing import StrictServer

WHO = {
    "anthropic": ("anthropic", "claude-sonnet-4-6"),
    "openai-responses": ("openai", "gpt-5"),
    "openai-chat": ("openai", "gpt-4o"),
    "gemini": ("google", "gemini-2.5-pro"),
}


@pytest.mark.parametrize("format", WHO)
def test_a_prompt_that_is_too_long_is_refused_and_then_made_to_fit(
    tmp_path: Path, format: str
) -> None:
    name, model = WHO[format]
    with (
        StrictServer("fine", window=20_000) as server,
        holdfast.open(tmp_path / "log.db") as hf,
        closing(provider(name, format, key="sk-test", url=server.url(name))) as to,
    ):
        s = hf.session(model=model)
        for turn in range(40):
            s.user(f"turn {turn} " + "of many words " * 200)
            s.append(holdfast.assistant("noted " * 20))
        s.user("and now?")
        long = s.preview(compact=False).request(format, max_tokens=100)
        with pytest.raises(Overflow):
            drive(to.begin(long))
        s.send(to, options={"max_tokens": 100})
        assert {one.rule for one in server.refused} == {"window"}
        assert not server.asked[-1].rule
        assert any(isinstance(entry.body, Repair) for entry in s.entries())


def test_the_reply_counts_where_the_provider_counts_it() -> None:
    with (
        StrictServer("fine", window=500) as server,
        closing(provider("anthropic", "anthropic", key="k", url=server.url("anthropic"))) as to,
    ):
        hello = [{"role": "user", "content": "hello"}]
        body = {"model": "claude-sonnet-4-6", "messages": hello, "max_tokens": 490}
        with pytest.raises(Overflow, match="exceed context limit"):
            drive(to.begin(body))
        drive(drive(to.begin(body | {"max_tokens": 300})).close())
