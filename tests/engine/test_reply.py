"""Replies: what is no reply is refused, and never kept as an empty one."""

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import InvalidRequest
from tests.engine.test_window import REPLIES
from tests.properties.histories import opened


@pytest.mark.parametrize("sent", REPLIES)
@pytest.mark.parametrize("came", REPLIES)
def test_a_reply_is_read_in_its_own_format_whatever_was_sent(sent: str, came: str) -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        s.user("hi")
        s.window().request(sent)
        assert s.reply(REPLIES[came]).body.text == "Done."  # type: ignore[union-attr]
        if sent != came:
            with pytest.raises(InvalidRequest, match="reply of"):
                s.reply(REPLIES[came], format=sent)


@pytest.mark.parametrize(
    "response",
    [
        {"error": {"message": "overloaded"}},
        {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}},
        {},
        b"<html>502</html>",
        'event: message_start\ndata: {"type":"message_start"}\n\n',
        {"type": "message", "content": "words"},
        {"type": "message", "content": [7]},
        {"choices": [{}]},
        {"object": "response", "status": "failed", "output": [], "error": {"message": "no"}},
        {"candidates": [{"finishReason": "STOP", "content": 5}]},
    ],
)
def test_what_is_no_reply_is_refused_and_nothing_is_kept(response: Any) -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        s.user("hi")
        s.window().request("anthropic")
        with pytest.raises(InvalidRequest):
            s.reply(response)
        assert len(list(s.entries())) == 1


def test_each_format_keeps_its_own_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        s.user("hi")
        window = s.window()
        window.request("anthropic")
        window.request("openai-responses")
        reply = s.reply(REPLIES["anthropic"])
        assert s.explain(reply.id).matches is True


def test_a_capped_history_does_not_cap_what_was_just_asked() -> None:
    with opened(128_000) as hf:
        s = hf.session(model="m", policy="aider")
        for _ in range(30):
            s.user("word " * 400)
            s.reply(REPLIES["anthropic"])
        s.user("word " * 30_000)
        made = s.window()
        assert made.over == 0
        assert max(block.tokens for block in made.blocks) > 20_000


def test_a_policy_that_asks_asks_rather_than_refuses() -> None:
    with opened(8_192) as hf:
        s = hf.session(model="m", policy="aider")
        s.user("word " * 30_000)
        made = s.window()
        assert made.over > 0
        assert "Send it all the same?" in made.window.asks[0]


def test_a_reply_that_is_told_again_with_its_key_counts_once(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("hi")
        s.window().request("anthropic")
        nameless = {key: value for key, value in REPLIES["anthropic"].items() if key != "id"}
        first = s.reply(nameless, key="turn-1")
        spent, told = s.cost, s.snapshot()
        assert spent > 0
        assert s.reply(nameless, key="turn-1") == first
        assert (s.cost, s.snapshot()) == (spent, told)
        assert hf.session(s.id).cost == spent
        assert len(list(s.entries())) == 2
        s.reply({**nameless, "content": [{"type": "text", "text": "Another."}]}, key="turn-2")
        assert s.cost == 2 * spent


@pytest.mark.parametrize("format", REPLIES)
def test_a_reply_that_is_told_again_is_paid_once(format: str, tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("hi")
        s.reply(REPLIES[format])
        spent = s.cost
        s.reply(REPLIES[format])
        later = hf.session(s.id)
        later.reply(REPLIES[format])
        whole = s.snapshot().session_cost_usd
        assert spent > 0
        assert (s.cost, later.cost, whole) == (spent, spent, spent)
