"""What a window asks for is taken by a provider's own SDK, streamed or not."""

import anthropic
import pytest

import holdfast
from holdfast.engine.window.prepared_window import UNSTREAMED
from holdfast.testing import StrictServer


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "claude-opus-5-5"])
def test_a_reply_that_is_not_streamed_is_one_the_sdk_waits_for(model: str) -> None:
    with (
        holdfast.open("memory:") as hf,
        StrictServer(lambda asked: "Which of the two?") as server,
        anthropic.Anthropic(api_key="any", base_url=server.url("anthropic")) as client,
    ):
        session = hf.session(model=model)
        session.user("Fix the login handler")
        request = session.window().request("anthropic")
        assert request["max_tokens"] == UNSTREAMED["anthropic"]
        entry = session.reply(client.messages.create(**request))
        assert entry.body.text == "Which of the two?"  # type: ignore[union-attr]
        assert session.explain().matches
        session.user("The second")
        streamed = session.window().request("anthropic", stream=True)
        assert streamed["max_tokens"] > UNSTREAMED["anthropic"]
        assert session.window().request("anthropic", max_tokens=50_000)["max_tokens"] == 50_000
