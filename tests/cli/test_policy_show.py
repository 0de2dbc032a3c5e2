"""`policy show` says what happens: each line is held against what the policy does."""

import pytest

import holdfast
from holdfast.cli.describing_policies import rows
from holdfast.engine.plugins import catalogue
from holdfast.errors import OverBudget
from holdfast.model.message import assistant
from holdfast.policies import names


def told(name: str) -> dict[str, str]:
    return dict(rows(catalogue().policy(name)))


def over(policy: str) -> int:
    """By how much a window is over that nothing but leaving messages could make fit."""
    with holdfast.open("memory:") as hf:
        s = hf.session(model="gpt-4", policy=policy, summariser=lambda question: "")
        for n in range(4):
            s.user(f"count {n}")
            s.append(assistant("of that kind " * 1_200))
        s.user("go on")
        try:
            return s.window().over
        except OverBudget:
            return 0


@pytest.mark.parametrize("policy", names())
def test_it_says_whether_the_oldest_messages_leave(policy: str) -> None:
    leaves = "the oldest messages leave" in told(policy)["shed"]
    assert leaves == (over(policy) == 0)


def test_aider_keeps_half_of_the_slice_for_history_and_a_summary_of_as_much() -> None:
    said = told("aider")["summarise"]
    assert "4,096 tokens or 50% of the slice for history" in said
    assert "the newest 50% of the slice for history stays" in said
    assert "of the room" not in said


def test_claude_code_as_first_described_waits_for_no_rest() -> None:
    said = told("claude-code@seed")["microcompact"]
    assert "minutes of rest" not in said
    assert "above 100,000 tokens" in said


@pytest.mark.parametrize("policy", ["holdfast", "claude-code"])
def test_it_says_whose_questions_read_the_cache(policy: str) -> None:
    said = " ".join(told(policy).values())
    assert "put behind the turn's own request" in said
