"""How full its window is: told behind tools' answers, in numbers that hold, and never twice."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.core.window.fullness_notice import TAG, telling, told
from holdfast.errors import OverBudget
from holdfast.files import config_home
from holdfast.model.log import Entry
from holdfast.model.message import Message, Text, ToolCall, ToolResult, assistant, tool, user
from holdfast.model.policy import Awareness
from holdfast.model.profile import Profile
from holdfast.testing.factories import entry
from tests.properties.ladders import engine

PROFILE = Profile(name="m")
NATIVE = Profile(name="n", abilities=frozenset({"budget_awareness"}))
ROOM = 10_000


def log(*bodies: Any) -> list[Entry]:
    return [entry(seq, body) for seq, body in enumerate(bodies, 1)]


ANSWERED = (user("go"), assistant(ToolCall("c", "read", "{}")), tool(ToolResult("c", "text")))


@pytest.mark.seed("000", 145)
@pytest.mark.seed("001", 80, 160)
def test_it_is_told_behind_a_tools_answer_only() -> None:
    rule = Awareness()
    message = telling(log(*ANSWERED), 1_234, ROOM, rule, PROFILE)
    assert message is not None
    assert "1,234 of 10,000 tokens" in message.text
    assert "8,766 are left" in message.text
    assert all(getattr(part, "scaffold", "") == TAG for part in message.parts)
    assert told(log(*ANSWERED, message)) == 1_234
    assert telling(log(*ANSWERED, message), 1_260, ROOM, rule, PROFILE) is None
    assert telling(log(user("go")), 1_234, ROOM, rule, PROFILE) is None
    assert telling((), 0, ROOM, rule, PROFILE) is None


@pytest.mark.seed("000", 146)
@pytest.mark.seed("001", 124, 161)
def test_who_knows_natively_or_has_no_rule_is_told_nothing() -> None:
    assert telling(log(*ANSWERED), 1_234, ROOM, Awareness(), NATIVE) is None
    assert telling(log(*ANSWERED), 1_234, ROOM, None, PROFILE) is None
    assert telling(log(*ANSWERED), ROOM - 10, ROOM, Awareness(), PROFILE) is None


@given(st.floats(0, 1), st.floats(0, 1), st.lists(st.integers(0, 400), min_size=1, max_size=40))
def test_it_is_told_again_only_once_enough_more_is_taken(
    since: float, every: float, grows: list[int]
) -> None:
    rule, used, heard = Awareness(since=since, every=every), 0, list[int]()
    entries = log(*ANSWERED)
    for more in grows:
        used += more
        if message := telling(entries, used, ROOM, rule, PROFILE):
            assert used >= since * ROOM
            assert not heard or used - heard[-1] >= max(int(every * ROOM), 1)
            heard.append(used)
            entries = log(*(e.body for e in entries), message, *ANSWERED[1:])
        else:
            assert (
                not heard
                or used - heard[-1] < max(int(every * ROOM), 1)
                or (used < since * ROOM or ROOM - used < 256)
            )


@pytest.mark.parametrize("policy", ["claude-code", "holdfast"])
def test_what_was_sent_stays_a_prefix_and_the_numbers_hold(tmp_path: Path, policy: str) -> None:
    config_home().mkdir(parents=True, exist_ok=True)
    profile = "[plain]\nwindow = 40000\noutput_limit = 4000\nprovider = 'openai'\n"
    (config_home() / "profiles.toml").write_text(profile)
    heard = list[int]()
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="plain", policy=policy)
        s.user("Read everything.")
        before: list[Any] = []
        for number in range(6):
            s.append(assistant(ToolCall(f"c{number}", "look", "{}")))
            s.tool_result(f"c{number}", f"line {number} of a file\n" * 400, name="look")
            shown = s.preview(system="Be careful.").tokens
            made = s.window(system="Be careful.")
            assert made.tokens == shown
            last = s.entry(s.info.head).body
            if isinstance(last, Message) and last.role == "user":
                (said,) = last.parts
                assert isinstance(said, Text)
                used = told([s.entry(s.info.head)])
                assert used is not None
                assert 0 < made.tokens - used < 80
                heard.append(used)
            again = s.window(system="Be careful.")
            assert again.tokens == made.tokens  # nothing is told twice
            request = made.request("openai-chat")["messages"]
            assert request[: len(before)] == before
            before = request
    assert len(heard) == 6 if policy == "claude-code" else 1 <= len(heard) < 6
    assert heard == sorted(heard)


def test_a_model_that_knows_it_natively_is_told_nothing(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6", policy="claude-code")
        s.user("Read everything.")
        s.append(assistant(ToolCall("c", "look", "{}")))
        s.tool_result("c", "text " * 999, name="look")
        s.window()
        assert not any(TAG in str(e.body) for e in s.entries())


def test_what_would_not_fit_for_being_told_is_not_told() -> None:
    fitted, heard = 0, 0
    with engine(8_192) as hf:
        for more in range(4_400, 4_480, 4):
            s = hf.session(model="claude-sonnet-4-6", policy="holdfast")
            s.user("word " * more)
            s.append(assistant(ToolCall("c", "read", "{}")))
            s.append(tool(ToolResult("c", "text")))
            try:
                window = s.preview(compact=False)
            except OverBudget:
                continue
            if window.over:
                continue
            fitted += 1
            assert not s.window().over
            heard += told(list(s.entries())) is not None
    assert fitted > heard > 0
