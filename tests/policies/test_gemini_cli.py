"""Gemini CLI, row by row: what it does by its description, and what its policy does."""

import json

import pytest

from holdfast.core.tokens.count import WEIGHED
from holdfast.model.log import Clear, Summary
from holdfast.model.message import Text, ToolResult, assistant
from holdfast.policies import policy
from tests.policies.oracle import gemini_splits
from tests.policies.playing import SUMMARY, Play, Voice, prose, record, requested
from tests.policies.story import Said, told

STORY = told()


def sizes(play: Play) -> dict[int, int]:
    """How many characters each thing has on the wire, outputs as they are shown."""
    return {
        place: len(one.text[:40_000]) + len(one.thought) + 60 * len(one.calls) + 60
        for place, one in play.said.items()
    }


def test_it_counts_characters_by_their_script() -> None:
    count = WEIGHED[policy("gemini-cli").counts_with]
    assert 0.15 < count(Text("The handler returns a token. " * 40)) / (29 * 40) < 0.34
    assert count(Text("処理は成功しました" * 40)) / (9 * 40) > 0.6


@pytest.mark.parametrize("name", ["gemini-cli", "gemini-cli@seed"])
def test_it_uses_the_whole_window(name: str) -> None:
    play = Play(name, 1_000_000)
    play.session.user("hello")
    assert play.call().window.budget.room == 1_000_000


def test_it_compacts_at_half_of_the_window() -> None:
    play, steps = record("gemini-cli")
    taken = sizes(play)
    for step in steps:
        since = sum(taken[place] for place in step.since) / 4
        if step.told(Summary):
            assert step.used + since * 1.26 >= 64_000
        else:
            assert step.used + since * 0.74 < 64_000
    assert sum(bool(step.markers) for step in steps) >= 4


def test_an_output_shows_40000_characters_and_the_whole_is_kept() -> None:
    play = Play("gemini-cli")
    play.session.user("read")
    play.say(Said("assistant", "", calls=(("c1", "Read"), ("c2", "Read"))))
    whole = play.session.tool_result("c1", "a" * 30_000 + "z" * 30_000)
    play.session.tool_result("c2", "b" * 40_000)
    made = play.session.window()
    shown = [p.output for b in made.blocks for p in b.parts if isinstance(p, ToolResult)]
    assert shown[0].startswith("a" * 20_000 + "\n[… 20,000 of 60,000 characters left out")
    assert shown[0].endswith("z" * 20_000)
    assert shown[1] == "b" * 40_000
    recalled = play.session.recall(f"prt_{whole.id}.0", tokens=30_000).text
    assert "a" * 30_000 + "z" * 30_000 in recalled


def test_it_clears_nothing() -> None:
    play, steps = record("gemini-cli")
    assert play.markers(Clear) == []
    assert {step.shown.cleared for step in steps} == {()}


def test_the_newest_three_tenths_stay_from_a_request_on() -> None:
    play, steps = record("gemini-cli")
    taken, covered = sizes(play), set[int]()
    for step in steps:
        visible = [place for place in step.said if place not in covered]
        if step.told(Summary):
            split = gemini_splits(play.said, visible, taken)
            assert list(step.shown.history) == visible[split:]
            assert play.said[step.shown.history[0]].role == "user"
            covered = {*step.said} - {*step.shown.history}
        else:
            assert list(step.shown.history) == visible


def test_the_snapshot_is_checked_by_a_second_call_and_merged_with_the_one_before() -> None:
    first = "<state_snapshot>The parser is half done and waits for a test.</state_snapshot>"
    better = "<state_snapshot>The parser is done but for its test, test_parse.</state_snapshot>"
    play = Play("gemini-cli", voice=Voice(first, better, first, better))
    _, made = play.to_summary(STORY)
    (summary,) = made.window.section("summary")
    assert isinstance(summary.parts[0], Text)
    said = prose(summary.parts[0].text)
    assert said == "The parser is done but for its test, test_parse."
    asked, checked = play.voice.asked[:2]
    assert (asked.cause, checked.cause) == ("summary", "verify")
    assert "<state_snapshot>" in asked.system
    assert "The parser is half done and waits for a test." in checked.prompt
    for _ in play.through(STORY[60:]):
        if len(play.markers(Summary)) > 1:
            break
    again = next(q for q in play.voice.asked[2:] if q.cause == "summary")
    assert "The parser is done but for its test, test_parse." in again.prompt


@pytest.mark.parametrize("answer", ["", "   ", "word " * 60_000, RuntimeError("no answer")])
def test_a_snapshot_that_failed_is_empty_or_grew_leaves_all_as_it_is(
    answer: str | Exception,
) -> None:
    play = Play("gemini-cli", voice=Voice(answer))
    for made in play.through(STORY[:60]):
        assert requested(made)
    assert play.voice.asked
    assert play.markers() == []


def test_a_check_that_fails_leaves_the_first_answer() -> None:
    play = Play("gemini-cli", voice=Voice(SUMMARY, RuntimeError("busy")))
    _, made = play.to_summary(STORY)
    (summary,) = made.window.section("summary")
    assert isinstance(summary.parts[0], Text)
    assert prose(summary.parts[0].text) == SUMMARY.strip()


def test_instructions_and_memory_are_part_of_the_system_prompt() -> None:
    play = Play("gemini-cli")
    play.session.user("hello")
    made = play.session.window(
        system="S", instructions="Use tabs.", memory="A parser.", context={"cwd": "/x"}
    )
    assert [(b.section, b.role) for b in made.blocks] == [
        ("system", "system"),
        ("instructions", "system"),
        ("memory", "system"),
        ("context", "user"),
        ("current", "user"),
    ]


@pytest.mark.seed("003", 25, 26)
def test_as_first_described_nothing_is_ever_compacted_and_what_is_over_is_told() -> None:
    play, steps = record("gemini-cli@seed")
    assert play.markers() == []
    assert all(step.shown.history == step.said for step in steps)
    assert steps[-1].made.over > 0
    assert steps[0].made.over == 0
    other = Play("gemini-cli@seed", voice=Voice(SUMMARY))
    other.session.user("first")
    other.session.append(assistant("word " * 200_000))
    other.session.user("second")
    assert "word word" in json.dumps(other.session.window().request("anthropic"))
    assert other.voice.asked == []
