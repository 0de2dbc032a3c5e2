"""OpenCode, row by row: what it does by its description, and what the policy of that name does."""

import json
from typing import Any

import pytest

from holdfast.model.log import Clear, Summary
from holdfast.model.message import Text, ToolResult, assistant
from tests.policies.oracle import chars_4, opencode_prunes, requests, tail_within
from tests.policies.playing import SUMMARY, Play, Step, Voice, record, requested
from tests.policies.story import Said, told

STORY = told()
POLICIES = ("opencode", "opencode@seed")
SHOWN = 50 * 1024
"""So many bytes of an output are shown."""


def lengths(play: Play) -> dict[int, int]:
    """What each thing takes at four characters a token, tool outputs as they are shown."""
    return {place: chars_4(_words(one)) for place, one in play.said.items()}


def _words(one: Said) -> str:
    calls = "".join(name + json.dumps({"of": id}) for id, name in one.calls)
    return one.text[:SHOWN] + one.thought + calls


@pytest.mark.seed("001", 54)
def test_it_counts_four_characters_a_token() -> None:
    play = Play("opencode@seed", 400_000)
    for turn in range(12):
        play.session.user(f"turn {turn}")
        call = f"c{turn}"
        play.say(Said("assistant", "reading", calls=((call, "Read"),)))
        play.say(Said("tool", "é" * 25_000, "Read", call))
    play.session.user("go on")
    play.session.window()
    (entry,) = play.markers(Clear)
    assert isinstance(entry.body, Clear)
    assert len(entry.body.parts) == 5  # 6,250 tokens each: of the eleven older ones six stay


@pytest.mark.seed("000", 93)
@pytest.mark.seed("001", 58, 59, 60)
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    ("profile", "room"),
    [
        ({"output_limit": 32_000}, 168_000),
        ({"output_limit": 64_000}, 168_000),
        ({"output_limit": 8_000}, 192_000),
        ({"output_limit": 32_000, "input_limit": 168_000}, 148_000),  # the worked example
        ({"output_limit": 8_000, "input_limit": 150_000}, 142_000),
    ],
)
def test_it_keeps_free_the_output_or_20000_of_an_input_limit(
    name: str, profile: dict[str, Any], room: int
) -> None:
    play = Play(name, 200_000, **profile)
    play.session.user("hello")
    assert play.call().window.budget.room == room


@pytest.mark.seed("000", 94)
@pytest.mark.seed("001", 55, 57)
def test_it_compacts_when_what_was_reported_and_came_since_fill_what_is_usable() -> None:
    play, steps = record("opencode")
    taken = lengths(play)
    for step in steps:
        since = sum(taken[place] for place in step.since)
        due = step.used + since * 1.26 + 64 > 96_000  # if the estimate of what came is far off
        assert bool(step.told(Summary)) == due
    assert sum(bool(step.markers) for step in steps) >= 3


@pytest.mark.parametrize("name", POLICIES)
def test_an_output_shows_2000_lines_or_50_kb_and_the_whole_is_kept(name: str) -> None:
    play = Play(name)
    play.session.user("read them")
    play.say(Said("assistant", "", calls=(("c1", "Read"), ("c2", "Read"), ("c3", "Read"))))
    wide, tall, fine = "w" * 60_000, "line\n" * 3_000, "line\n" * 1_999
    ids = [play.session.tool_result(f"c{n}", text) for n, text in enumerate((wide, tall, fine), 1)]
    made = play.session.window()
    shown = [p.output for b in made.blocks for p in b.parts if isinstance(p, ToolResult)]
    assert shown[0].startswith("w" * SHOWN + "\n[… ")
    assert shown[1].startswith("line\n" * 2_000 + "\n[… ")
    assert shown[2] == fine
    assert play.session.recall(f"prt_{ids[0].id}.0", tokens=40_000).text.count("w") >= 60_000


@pytest.mark.seed("000", 81, 82, 83)
@pytest.mark.seed("001", 61)
def test_results_beyond_the_newest_40000_tokens_are_cleared_if_20000_are_freed() -> None:
    play, steps = record("opencode@seed", 200_000)
    taken, gone, covered = lengths(play), set[int](), set[int]()
    for step in steps:
        visible = _before(step, covered)
        pruned = opencode_prunes(play.said, visible, gone, taken)
        told = step.told(Clear)
        assert [ref.seq for ref in told.parts] == pruned if told else pruned == []
        gone.update(pruned)
        if step.told(Summary):
            covered = {*step.said} - {*step.shown.history}
        assert {*step.shown.cleared} == gone - covered
        assert all(play.said[place].tool != "skill" for place in gone)
    assert len(play.markers(Clear)) >= 4


def test_today_nothing_is_cleared_unless_asked_for() -> None:
    play, _ = record("opencode")
    assert play.markers(Clear) == []


def _before(step: Step, covered: set[int]) -> list[int]:
    return [place for place in step.said if place not in covered]


@pytest.mark.parametrize(("window", "most"), [(64_000, 12_000), (128_000, 15_000)])
def test_a_quarter_of_what_is_usable_stays_word_for_word(window: int, most: int) -> None:
    play, steps = record("opencode", window)
    taken, covered = lengths(play), set[int]()
    for step in steps:
        visible = _before(step, covered)
        if step.told(Summary):
            tail = tail_within(play.said, visible, taken, most)  # of 128,000 it would be 24,000
            stays = {*tail, requests(play.said, visible)[-1]}  # what was just asked stays with us
            assert {*step.shown.history} == stays
            covered = {*step.said} - stays
        else:
            assert list(step.shown.history) == visible


@pytest.mark.seed("001", 65)
def test_as_first_described_no_tail_stays() -> None:
    play, steps = record("opencode@seed")
    compacted = [step for step in steps if step.told(Summary)]
    for step in compacted:
        assert list(step.shown.history) == requests(play.said, step.said)[-1:]
    assert len(compacted) >= 2


@pytest.mark.seed("000", 89)
@pytest.mark.seed("001", 64)
@pytest.mark.parametrize("name", POLICIES)
def test_it_asks_for_five_sections_behind_the_conversation_with_no_tool_to_call(name: str) -> None:
    play = Play(name)
    tools = [{"name": "Read", "input_schema": {"type": "object"}}]
    before, made = play.to_summary(STORY)
    prompt = requested(play.voice.asked[0])[-1]
    order = ["## Goal", "## Instructions", "## Discoveries", "## Accomplished", "## Relevant files"]
    places = [prompt.index(heading) for heading in order]
    assert places == sorted(places)
    assert requested(play.voice.asked[0])[: len(requested(before))] == requested(before)
    (summary,) = made.window.section("summary")
    assert isinstance(summary.parts[0], Text)
    assert SUMMARY.strip() in summary.parts[0].text
    play.session.append(assistant("fine " * 9_000))
    play.session.user("go on")
    play.session.window(tools=tools)
    play.session.apply(play.session.plan(tools=tools))
    request = play.voice.asked[-1].request("anthropic")
    assert request["tool_choice"] == {"type": "none"}
    assert "[summary 1]" in json.dumps(request["messages"])  # what was known before is told again


@pytest.mark.parametrize("name", POLICIES)
def test_without_a_summary_all_stays_while_it_fits(name: str) -> None:
    play = Play(name, voice=Voice("no"))
    play.session.user("first")
    play.session.append(assistant("word " * 9_000))
    play.session.user("second")
    before = play.session.window().blocks
    plan_failed = play.session.window()
    assert plan_failed.blocks == before
    for made in play.through(STORY[:120]):
        assert made.over == 0  # and where it would not fit, what stands is made without a model
    assert all(entry.body.model == "" for entry in play.markers(Summary))  # type: ignore[union-attr]


@pytest.mark.seed("000", 80, 92)
@pytest.mark.seed("001", 68)
@pytest.mark.parametrize("name", POLICIES)
def test_a_summary_stops_the_loader_and_a_hook_may_replace_it(name: str) -> None:
    _, steps = record(name)
    last = max(index for index, step in enumerate(steps) if step.told(Summary))
    first = min(steps[last].shown.history)
    assert all(place >= first for step in steps[last:] for place in step.shown.history)
    assert all(step.shown.summaries == 1 for step in steps[last:])

    def instead(plan: object) -> None:
        plan.summary = "Written by the hook, and by nobody else."  # type: ignore[attr-defined]

    other = Play(name)
    other.session = other.hf.session(model="m", policy=name, summariser=Voice(""), hooks=[instead])
    other.session.user("first")
    other.session.append(assistant("word " * 9_000))
    other.session.user("second")
    other.session.apply(other.session.plan())
    text = json.dumps(other.session.window().request("anthropic"))
    assert "Written by the hook, and by nobody else." in text
