"""Aider, row by row: what it does by its description, and what the policy of that name does."""

import json
from functools import cache

import pytest

from holdfast.counters.exact import count_all
from holdfast.model.log import Clear, Summary
from holdfast.model.message import Text, ToolResult, assistant
from tests.policies.oracle import aider_splits, requests
from tests.policies.playing import SUMMARY, Play, Step, Voice, requested, steps_of
from tests.policies.story import Said, told

STORY = told()
WORDS = "o200k_base"
BUDGET = 8_000
"""A sixteenth of 128,000."""


@cache
def record() -> tuple[Play, list[Step]]:
    """The story with a model whose tokens are counted exactly."""
    play = Play("aider", tokenizer=WORDS)
    return play, steps_of(play)


@cache
def tokens() -> dict[int, int]:
    """What each thing takes by the tokenizer."""
    play, _ = record()
    texts = ["".join((s.thought, s.text, *(n + i for i, n in s.calls))) for s in play.said.values()]
    return dict(zip(play.said, count_all(texts, WORDS), strict=True))


@pytest.mark.seed("000", 20)
@pytest.mark.seed("001", 6)
def test_it_counts_exactly() -> None:
    _, steps = record()
    assert {step.made.count.tier for step in steps} == {"exact"}
    text = requested(steps[0].made)
    assert steps[0].made.tokens == pytest.approx(sum(count_all(text, WORDS)), abs=20)


def test_it_uses_the_whole_window() -> None:
    _, steps = record()
    assert steps[0].made.window.budget.room == 128_000


@pytest.mark.seed("001", 20)
@pytest.mark.parametrize(("window", "most"), [(4_000, 1_024), (128_000, 8_000), (1_000_000, 8_192)])
def test_history_is_a_sixteenth_of_the_window_within_its_bounds(window: int, most: int) -> None:
    play = Play("aider", window)
    play.session.user("hello")
    assert play.session.window().window.budget.history == most


def _history(play: Play, step: Step, covered: set[int]) -> list[int]:
    """What is done: everything visible before the turn that is going on."""
    visible = [place for place in step.said if place not in covered]
    return [place for place in visible if place < requests(play.said, step.said)[-1]]


@pytest.mark.seed("001", 140)
@pytest.mark.seed("000", 19)
@pytest.mark.seed("001", 10)
def test_it_summarises_once_history_and_its_summary_exceed_their_slice() -> None:
    play, steps = record()
    covered, summary = set[int](), 0
    for step in steps:
        history = _history(play, step, covered)
        total = sum(tokens()[place] for place in history) + summary
        if abs(total - BUDGET) > 0.03 * BUDGET:  # frames around what is said are a few tokens
            assert bool(step.told(Summary)) == (total > BUDGET)
        if step.told(Summary):
            covered = {*step.said} - {*step.shown.history}
            summary = count_all([step.told(Summary).text], WORDS)[0]
    assert sum(bool(step.markers) for step in steps) >= 10


def test_on_arrival_nothing_is_cut() -> None:
    play = Play("aider", 1_000_000)
    play.session.user("run it")
    play.say(Said("assistant", "", calls=(("c1", "Bash"),)))
    play.session.tool_result("c1", "a" * 200_000)
    results = [p for b in play.call().blocks for p in b.parts if isinstance(p, ToolResult)]
    assert results[0].output == "a" * 200_000


def test_it_clears_nothing() -> None:
    play, steps = record()
    assert play.markers(Clear) == []
    assert {step.shown.cleared for step in steps} == {()}


@pytest.mark.seed("000", 22, 23)
@pytest.mark.seed("001", 23)
def test_the_newest_half_of_the_budget_stays_behind_a_reply() -> None:
    play, steps = record()
    covered, tails = set[int](), 0
    for step in steps:
        history = _history(play, step, covered)
        current = [place for place in step.said if place >= requests(play.said, step.said)[-1]]
        if step.told(Summary):
            split = aider_splits(play.said, history, tokens(), BUDGET)
            assert list(step.shown.history) == [*history[split:], *current]
            covered = {*step.said} - {*step.shown.history}
            tails += bool(history[split:])
        else:
            assert list(step.shown.history) == [*history, *current]
    assert tails >= 2


@pytest.mark.seed("000", 18, 27)
@pytest.mark.seed("001", 24, 25)
def test_the_weak_model_is_asked_first_with_headings_and_then_the_main_one() -> None:
    voice = Voice(RuntimeError("busy"), f"I asked you to fix it. {SUMMARY}")
    play = Play("aider", voice=voice)
    play.session = play.hf.session(
        model="main", policy="aider", summariser=voice, weak_model="weak"
    )
    for turn in range(3):
        play.session.user(f"ask {turn}")
        play.session.append(assistant(f"answer {turn} " + "word " * 4_000))
    play.session.user("and now")
    made = play.session.window()
    assert [question.model for question in voice.asked] == ["weak", "main"]
    assert "# USER\nask 0\n\n# ASSISTANT\nanswer 0 word" in voice.asked[0].prompt
    assert "first person" in voice.asked[0].system
    (summary,) = made.window.section("summary")
    assert summary.role == "user"
    assert isinstance(summary.parts[0], Text)
    assert summary.parts[0].text.startswith("[chat summary]\n\nI asked you to fix it.")


@pytest.mark.seed("000", 25)
@pytest.mark.seed("001", 26)
def test_a_summary_that_is_too_long_is_asked_for_again_three_times_at_most() -> None:
    voice = Voice("word " * 9_000)
    play = Play("aider", voice=voice)
    play.session.user("first")
    play.session.append(assistant("word " * 9_000))
    play.session.user("second")
    play.session.window()
    assert len(voice.asked) == 3
    assert "too-long" in voice.asked[1].system
    assert play.markers() == []


@pytest.mark.seed("001", 28, 29, 35)
def test_without_a_summary_the_history_stays_and_an_overlong_send_is_asked_about() -> None:
    play = Play("aider", voice=Voice(RuntimeError("no answer")))
    windows = list(play.through(STORY))
    assert play.markers() == []
    assert len(windows[-1].blocks) > 200
    assert windows[-1].over > 0
    assert windows[-1].window.asks
    assert windows[0].window.asks == ()
    assert "[ask 0]" in json.dumps(windows[-1].request("anthropic"))


@pytest.mark.seed("001", 17, 19, 31)
def test_the_repo_map_has_its_bounds_and_the_reminder_comes_last_where_it_fits() -> None:
    for window, files, most in ((128_000, "f", 4_096), (24_000, "f", 3_000), (128_000, "", 8_192)):
        play = Play("aider", window)
        play.session.user("hello")
        made = play.session.window(system="S", reminder="Mind the format.", chat_files=files)
        assert made.window.budget.repo_map == most
        assert made.blocks[-1].section == "reminder"
    long = Play("aider", 4_000)
    long.session.user("word " * 3_980)
    assert long.session.window(reminder="Mind it. " * 30).window.section("reminder") == ()
