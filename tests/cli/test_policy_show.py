"""`policy show` says what happens: each line is held against what the policy does."""

import re

import pytest

import holdfast
from holdfast.cli.context.policy import rows
from holdfast.core.compaction.clear import WARNING
from holdfast.core.tokens.estimate import estimate
from holdfast.engine.client import Session
from holdfast.engine.plugins import catalogue
from holdfast.errors import InvalidRequest, OverBudget
from holdfast.model.log import Clear, Summary
from holdfast.model.message import Message, Text, ToolCall, ToolResult, assistant, tool
from holdfast.model.window import Block
from holdfast.policies import names

CLAUDE = "claude-haiku-4-5"  # holds 200,000 tokens


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


def reads(s: Session, many: int, output: str) -> None:
    """One reply that reads so many files, and what they hold."""
    calls = [f"c{s.info.head}_{n}" for n in range(many)]
    s.append(Message("assistant", tuple(ToolCall(id, "read", "{}") for id in calls)))
    s.append(tool(*(ToolResult(id, output) for id in calls)))


def shown(blocks: tuple[Block, ...]) -> list[str]:
    return [p.output for b in blocks for p in b.parts if isinstance(p, ToolResult)]


def said_bounds(said: str) -> dict[str, int]:
    """The bounds in words, by their unit."""
    first = said.partition(";")[0]
    if share := re.search(r"(\d+)% of the window", first):
        return {"tokens": 200_000 * int(share[1]) // 100}
    found = re.findall(r"([\d,]+) (characters|bytes|lines|tokens)", first)
    units = {unit: int(amount.replace(",", "")) for amount, unit in found}
    return {"bytes": units["bytes"]} if "bytes" in units and "tokens" in units else units


MEASURES = {
    "characters": len,
    "bytes": lambda text: len(text.encode()),
    "lines": lambda text: text.count("\n"),
    "tokens": estimate,
}


@pytest.mark.parametrize("output", ["plain words of it\n" * 20_000, "é" * 100_000], ids=("a", "é"))
@pytest.mark.parametrize("policy", names())
def test_what_it_says_of_long_outputs_is_what_is_shown(policy: str, output: str) -> None:
    said = told(policy).get("truncate", "")
    with holdfast.open("memory:") as hf:
        s = hf.session(model=CLAUDE, policy=policy)
        s.user("read it")
        reads(s, 1, output)
        text = next(iter(shown(s.preview(compact=False).blocks)))
    bounds = said_bounds(said)
    shares = [MEASURES[unit](text) / most for unit, most in bounds.items()]
    assert (len(text) < len(output)) == bool(bounds)
    assert all(share <= 1.03 for share in shares)  # the line in between is not counted in
    assert not shares or max(shares) > 0.95


def test_what_it_says_of_small_windows_is_what_is_done() -> None:
    said = told("holdfast")
    assert (
        "1,500 tokens at least, or an eighth of the window where that is less" in said["truncate"]
    )
    assert "or a quarter of the room where that is less" in said["summarise"]
    assert "4,000 tokens are freed, or the window is full and fits then" in said["thinking"]
    with holdfast.open("memory:") as hf:
        s = hf.session(model="gpt-4")  # holds 8,192 tokens
        s.user("read it")
        reads(s, 1, "plain words of it\n" * 2_000)
        (text,) = shown(s.preview(compact=False).blocks)
    assert 0.9 < estimate(text) / (8_192 // 8) <= 1


@pytest.mark.parametrize("policy", names())
def test_it_says_what_the_results_of_one_reply_may_take_together(policy: str) -> None:
    said = re.search(r"within (\d+)% of the window together", told(policy).get("truncate", ""))
    with holdfast.open("memory:") as hf:
        s = hf.session(model=CLAUDE, policy=policy)
        s.user("read them")
        reads(s, 20, "plain words of it " * 2_000)  # 6,000 tokens and more each, none too long
        taken = sum(map(estimate, shown(s.preview(compact=False).blocks)))
    assert (taken <= 200_000 * int(said[1]) / 100) if said else taken > 120_000


@pytest.mark.parametrize("policy", names())
def test_it_says_which_results_are_cleared_and_when(policy: str) -> None:
    """Forty results of 3,000 tokens, read long since in one turn that goes on."""
    with holdfast.open("memory:") as hf:
        s = hf.session(model=CLAUDE, policy=policy, summariser=lambda question: "")
        s.user("read them")
        for _ in range(40):
            reads(s, 1, "plain words of it " * 750)
        s.append(assistant("I have read them."))
        s.user("and now?")
        s.window()
        bodies = [entry.body for entry in s.entries()]
    cleared = sum(len(body.parts) for body in bodies if isinstance(body, Clear))
    said = told(policy).get("microcompact", "")
    keeps = re.search(r"but for the newest (\d+)", said)
    by_size = "above 100,000 tokens" in said and "by the provider where it can" not in said
    assert cleared == (40 - int(keeps[1]) if keeps and by_size else 0)
    warned = any(isinstance(body, Message) and WARNING in body.parts for body in bodies)
    assert not warned or "warned" in told(policy)["acts"]


@pytest.mark.parametrize("policy", names())
def test_it_says_how_a_model_learns_what_can_be_brought_back(policy: str) -> None:
    with holdfast.open("memory:") as hf:
        s = hf.session(model="gpt-4", policy=policy)
        for n in range(12):
            s.user(f"count the things of kind {n} " + "please " * 60)
            s.append(assistant("of that kind " * 100))
        s.user("and now?")
        try:
            s.apply(s.plan())
        except InvalidRequest:
            assert "recall" not in told(policy)
            return
        blocks = s.window().blocks
    text = "\n".join(p.text for b in blocks for p in b.parts if isinstance(p, Text))
    said = told(policy)["recall"]
    assert ("recall" in text) == (not said.startswith("nothing"))
    assert ("brings it back" in text) == said.startswith("one line")


@pytest.mark.parametrize("policy", names())
def test_it_says_whether_a_summary_is_made_without_a_model(policy: str) -> None:
    """A session whose window is full, and a summariser that has nothing to say."""
    rules = [told(policy).get(step, "") for step in ("summarise", "compact")]
    said = "; ".join(filter(None, rules))
    without = "without a model" in said.partition("where no model is there")[0]
    with holdfast.open("memory:") as hf:
        s = hf.session(model="gpt-4", policy=policy, summariser=lambda question: "")
        for n in range(40):
            s.user(f"count the things of kind {n} " + "please " * 60)
            s.append(assistant("of that kind " * 100))
        s.user("and now?")
        s.window()
        made = [e.body for e in s.entries() if isinstance(e.body, Summary)]
    assert any(one.step in ("summarise", "compact") for one in made) == without
