"""Whatever is said of one window, in whatever place, is said in the same numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.core.window.explain import shared
from holdfast.engine.client import Holdfast
from holdfast.model.message import Media, Message, Text, assistant
from holdfast.model.window import Count
from tests.engine.test_window import REPLY
from tests.policies import SHED
from tests.properties.histories import PNG, opened

CLAUDE = "claude-sonnet-4-6"
GIVEN: dict[str, Any] = {
    "system": "Be brief. " * 50,
    "tools": [{"name": "sh", "description": "run", "input_schema": {"type": "object"}}],
}


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "log.db") as made:
        yield made


def test_what_would_be_sent_is_explained_in_the_numbers_of_the_window(hf: Holdfast) -> None:
    s = hf.session(model=CLAUDE)
    s.user("word " * 500)
    made = s.window(**GIVEN)
    for told in (s.explain(**GIVEN), s.explain_now()):
        assert (told.count.tier, told.count.error > 0) == ("estimate", True)
        assert sum(line.tokens for line in told.lines) == told.tokens
    assert s.explain(**GIVEN).count == made.count
    assert sum(made.sections.values()) == made.tokens


def test_after_a_call_the_next_window_is_explained_as_it_will_be_counted(hf: Holdfast) -> None:
    s = hf.session(model=CLAUDE)
    s.user("word " * 500)
    s.window(**GIVEN).request("anthropic")
    s.reply({**REPLY, "usage": {"input_tokens": 900, "output_tokens": 3}})
    s.user("go on")
    now = s.explain_now()
    assert now.count == s.window(**GIVEN).count
    assert sum(line.tokens for line in now.lines) == now.tokens
    assert s.explain().count == Count(tokens=900, tier="reported")


def test_a_fork_counts_with_what_the_calls_before_it_reported(hf: Holdfast) -> None:
    s = hf.session(model=CLAUDE)
    for reported in (900, 1_500):
        s.user("word " * 500)
        s.window(**GIVEN).request("anthropic")
        s.reply({**REPLY, "usage": {"input_tokens": reported, "output_tokens": 3}})
    fork, early = s.fork(), s.fork(at=2)
    fork.user("go on")
    early.user("go on")
    assert fork.window(**GIVEN).tokens < 1_600
    assert early.window(**GIVEN).tokens < 1_000  # what came behind the fork teaches it nothing
    for one in (fork, early):
        assert one.explain_now().count == one.window(**GIVEN).count
    s.user("go on")
    assert fork.window(**GIVEN).count == s.window(**GIVEN).count


def test_a_call_that_reported_nothing_is_shown_as_it_was_estimated(hf: Holdfast) -> None:
    s = hf.session(model=CLAUDE)
    s.user("word " * 500)
    made = s.window(**GIVEN)
    made.request("anthropic")
    s.reply({**REPLY, "usage": {}})
    told = s.explain()
    assert told.count == made.count
    assert s.snapshot().used_tokens == s.explain_now().tokens > made.tokens
    assert s.snapshot().sent_tokens == 0
    assert s.snapshot().last_call_usage is not None


def test_a_reply_that_nothing_here_asked_for_still_fills_the_window(hf: Holdfast) -> None:
    s = hf.session(model=CLAUDE)
    s.user("word " * 500)
    s.reply({**REPLY, "usage": {}})
    assert s.snapshot().used_tokens > 500


def test_a_limit_that_was_learned_is_the_one_that_is_shown() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="local")
        s.user("hi")
        s.window().request("anthropic")
        early = s.reply(REPLY)
        s.learn_refusal("This model's maximum context length is 8192 tokens.")
        s.user("go on")
        room = s.preview().window.budget.room
        assert room < 8_192
        assert s.explain_now().room == room
        assert s.snapshot().context_window_size == 8_192
        assert s.explain(early.id).room > 100_000  # as it was then
        assert s.explain(early.id).matches
        s.window().request("anthropic")
        assert s.explain(s.reply({**REPLY, "id": "msg_2"}).id).room == room


def test_pictures_are_shared_out_as_the_model_counts_them(hf: Holdfast) -> None:
    s = hf.session(model="gpt-4o")
    s.append(Message("user", (Text("look"), Media("image/png", PNG, width=1024, height=1024))))
    s.append(assistant("word " * 700))
    s.user("and?")
    told = {line.seq: line.tokens for line in s.explain_now().lines}
    assert told[1] == pytest.approx(770, abs=20)


@pytest.mark.parametrize("total", [0, 1, 7, 100, 12_345])
def test_shares_add_up(total: int) -> None:
    weights = [3, 0, 10, 1, 1]
    assert sum(shared(weights, total)) == (total or sum(weights))
    assert all(share >= 0 for share in shared(weights, total))
    assert shared([], total) == []


def test_the_stretch_that_was_shed_is_named_to_its_end() -> None:
    with opened(4_096) as hf:
        s = hf.session(model="small", policy=SHED)
        for _ in range(30):
            s.user("word " * 100)
            s.append(assistant("ok"))
        s.user("go on")
        s.window()
        (gone,) = s.explain_now().absent
        (span,) = gone.spans
        assert (span.first, gone.seq) == (1, 1)
        shown = [block.seq for block in s.preview().blocks if block.section == "history"]
        assert span.last == shown[0] - 1
        assert "the window of small was full" in gone.why
