"""Claude Code, row by row: what it does by its description, and what its policy does."""

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest

from holdfast.core.compaction.notes import TEMPLATE
from holdfast.errors import InvalidRequest
from holdfast.model.log import Clear, Notes, Summary
from holdfast.model.message import Text, ToolResult, assistant
from holdfast.policies import policy
from tests.policies.oracle import claude_clears, requests, unread_of
from tests.policies.playing import MODEL, SUMMARY, Play, Voice, prose, record, requested
from tests.policies.story import Said, message, response, told

STORY = told()
HOUR = 60 * 60_000
POLICIES = ("claude-code", "claude-code@seed")


@pytest.mark.seed("001", 70)
@pytest.mark.parametrize("name", POLICIES)
def test_it_counts_by_the_providers_endpoint_and_by_the_last_usage_with_what_came_since(
    name: str,
) -> None:
    assert policy(name).counts_with == "provider"
    play, steps = record(name)
    for before, step in pairwise(steps):
        if before.markers or step.markers:
            continue  # what was reported holds for another window
        since = sum(len(play.said[place].text[:50_000]) for place in step.since) / 4
        assert abs(step.made.tokens - step.used - since) <= 0.3 * since + 64


@pytest.mark.parametrize("name", POLICIES)
def test_13000_tokens_are_kept_free(name: str) -> None:
    for window in (200_000, 1_000_000):
        play = Play(name, window)
        play.session.user("hello")
        assert play.call().window.budget.room == window - 13_000


def test_it_compacts_at_the_usable_window() -> None:
    play, steps = record("claude-code")
    compacted = [step for step in steps if step.told(Summary)]
    assert compacted
    for step in steps:
        since = sum(len(play.said[place].text[:50_000]) for place in step.since) / 4
        if step.used + since * 0.7 >= 115_000:
            assert step.markers
        if step.told(Summary):
            assert step.used + since * 1.6 >= 115_000 * 0.7  # after a clearing all is an estimate


@pytest.mark.seed("000", 124, 125)
def test_by_hand_it_compacts_from_a_point_on_or_up_to_one() -> None:
    play = Play("claude-code")
    for turn in range(6):
        play.session.user(f"turn {turn}")
        play.session.append(assistant(f"answer {turn} " + "word " * 2_000))
    everything = play.session.plan()
    assert [(span.first, span.last) for span in everything.covers] == [(1, 12)]
    since = play.session.plan(since=7)
    assert [(span.first, span.last) for span in since.covers] == [(7, 12)]
    upto = play.session.plan(upto=6)
    assert [(span.first, span.last) for span in upto.covers] == [(1, 6)]


@pytest.mark.parametrize("name", POLICIES)
def test_an_output_shows_50000_characters_and_the_whole_is_kept(name: str) -> None:
    play = Play(name)
    play.session.user("read")
    play.say(Said("assistant", "", calls=(("c1", "Read"), ("c2", "Read"))))
    play.session.tool_result("c1", "a" * 50_000 + "z" * 50_000)
    play.session.tool_result("c2", "b" * 50_000)
    made = play.session.window()
    shown = [p.output for b in made.blocks for p in b.parts if isinstance(p, ToolResult)]
    assert shown[0].startswith("a" * 25_000 + "\n[… 50,000 of 100,000 characters left out")
    assert shown[1] == "b" * 50_000


@pytest.mark.seed("004", 146)
@pytest.mark.seed("004", 145, 149, 150, 151)
def test_after_an_hour_results_of_listed_tools_are_cleared_but_for_the_newest_five() -> None:
    for minutes, happens in ((59, False), (61, True)):
        play = Play("claude-code", 1_000_000)
        for _ in play.through(STORY[:40]):
            pass
        play.session.user("and now")
        play.clock.ms += minutes * 60_000
        play.call()
        cleared = [entry.body for entry in play.markers(Clear) if isinstance(entry.body, Clear)]
        places = [ref.seq for body in cleared if body.step == "microcompact" for ref in body.parts]
        assert places == (claude_clears(play.said, [*play.said], 5) if happens else [])
        assert any(body.step == "thinking" for body in cleared) == happens


@pytest.mark.seed("004", 152)
@pytest.mark.parametrize(("name", "keep"), [("claude-code", 5), ("claude-code@seed", 3)])
def test_above_100000_tokens_they_are_cleared_by_whoever_can(name: str, keep: int) -> None:
    play, steps = record(name, 200_000)
    gone, covered, happened = set[int](), set[int](), 0
    for step in steps:
        for entry in step.markers:
            if isinstance(entry.body, Clear) and entry.body.step == "microcompact":
                visible = [place for place in step.said if place not in gone | covered]
                places = {ref.seq for ref in entry.body.parts}
                assert places == {*claude_clears(play.said, visible, keep)}
                gone |= places
                happened += 1
        if step.told(Summary):
            covered = {*step.said} - {*step.shown.history}
        assert {*step.shown.cleared} == gone - covered
        assert all(play.said[place].tool != "skill" for place in gone)
    assert happened >= 3


@pytest.mark.seed("004", 154)
@pytest.mark.seed("000", 195)
@pytest.mark.seed("001", 92)
def test_as_first_described_the_provider_does_it_where_it_can() -> None:
    able = frozenset({"context_editing", "server_compaction", "thinking", "tools"})
    play, edits = Play("claude-code@seed", 200_000, abilities=able), list[Any]()
    for made in play.through(STORY[:80]):
        edits = made.request("anthropic", thinking=2_000)["context_management"]["edits"]
    kinds = [(edit["type"], edit.get("trigger"), edit.get("keep")) for edit in edits]
    assert kinds == [
        ("clear_thinking_20251015", None, {"type": "thinking_turns", "value": 1}),
        (
            "clear_tool_uses_20250919",
            {"type": "input_tokens", "value": 100_000},
            {"type": "tool_uses", "value": 3},
        ),
        ("compact_20260112", {"type": "input_tokens", "value": 150_000}, None),
    ]
    assert play.markers() == []


@pytest.mark.seed("004", 170)
@pytest.mark.parametrize("name", POLICIES)
def test_a_full_compaction_keeps_nothing_but_what_was_just_asked(name: str) -> None:
    play, steps = record(name)
    compacted = [step for step in steps if step.told(Summary)]
    assert compacted
    for step in compacted:
        unread = unread_of(play.said, step.said) if policy(name).keeps_unread else []
        asked = requests(play.said, step.said)[-1:]
        assert list(step.shown.history) == sorted({*asked, *unread})
        assert step.shown.kept == ()


def notes(state: str) -> str:
    """Running notes in their ten sections, something under one of them."""
    return "\n\n".join(
        f"# {title}\n_{about}_" + (f"\n{state}" if title == "Current state" else "")
        for title, about in TEMPLATE
    )


@pytest.mark.seed("004", 198)
@pytest.mark.seed("004", 194)
def test_session_notes_stand_for_what_they_cover_and_the_rest_stays() -> None:
    titles = [title.split()[0] for title, _ in TEMPLATE]
    assert titles == [
        "Session", "Current", "Task", "Files", "Workflow", "Errors", "Codebase", "Learnings",
        "Key", "Worklog",
    ]  # fmt: skip
    for text, used in ((notes("The parser is half done."), True), (notes(""), False)):
        play = Play("claude-code", 32_000, voice=Voice(f"<summary>{SUMMARY}</summary>"))
        for turn in range(5):
            play.session.user(f"turn {turn} " + "word " * 1_500)
            play.session.append(assistant("word " * 1_500))
        play.session.append(Notes(text=text, upto=6))
        play.session.user("and now " + "word " * 4_000)
        made = play.call()
        (entry,) = play.markers(Summary)
        assert isinstance(entry.body, Summary)
        assert entry.body.step == ("notes" if used else "compact")
        if used:
            assert [(span.first, span.last) for span in entry.body.covers] == [(1, 6)]
            assert [block.seq for block in made.window.section("history")] == [7, 8, 9, 10]


@pytest.mark.seed("004", 155, 171, 172, 215, 216)
def test_it_asks_for_nine_sections_behind_an_analysis_that_is_thrown_away() -> None:
    answer = "<analysis>\nfirst this, then that\n</analysis>\n<summary>\nThe parser is done and "
    voice = Voice(answer + "its test waits.\n</summary>")
    play = Play("claude-code", 1_000_000, voice=voice)
    play.session.user("first")
    play.session.append(assistant("word " * 9_000))
    play.session.user("second")
    play.session.apply(play.session.plan())
    prompt = requested(voice.asked[0])[-1]
    assert [f"\n{number}. " in prompt for number in range(1, 11)] == [True] * 9 + [False]
    assert "<analysis>" in prompt
    made = play.session.window(system="S")
    (summary,) = made.window.section("summary")
    assert isinstance(summary.parts[0], Text)
    text = summary.parts[0].text
    assert text.startswith("This session is carried on from an earlier conversation")
    assert prose(text).endswith("The parser is done and its test waits.")
    assert "first this" not in json.dumps(made.request("anthropic"))


def test_after_three_failures_it_stops_trying_for_a_while() -> None:
    voice = Voice(RuntimeError("no answer"))
    play = Play("claude-code", voice=voice)
    play.session.user("first")
    play.session.append(assistant("word " * 9_000))
    play.session.user("second")
    for _ in range(5):
        with suppress(InvalidRequest):
            play.session.plan()
    assert len(voice.asked) == 3
    play.clock.ms += HOUR
    with suppress(InvalidRequest):
        play.session.plan()
    assert len(voice.asked) == 4
    assert play.markers() == []


@pytest.mark.seed("004", 212)
def test_reminders_are_said_as_the_user_behind_the_system_parts() -> None:
    play = Play("claude-code")
    play.session.user("hello")
    made = play.session.window(
        system="S", instructions="Use tabs.", memory="A parser.", context={"cwd": "/x"}
    )
    found = [(b.section, b.role, b.parts[0].scaffold) for b in made.blocks]  # type: ignore[union-attr]
    assert found == [
        ("system", "system", "system"),
        ("context", "system", "env"),
        ("instructions", "user", "system-reminder"),
        ("memory", "user", "system-reminder"),
        ("current", "user", ""),
    ]


@pytest.mark.seed("004", 147)
def test_results_of_a_subtask_are_not_cleared() -> None:
    for within in (False, True):
        play = Play("claude-code", 1_000_000)
        session = play.session.subtask("look around") if within else play.session
        for n, one in enumerate(STORY[:40]):
            if one.role == "assistant":
                session.window(system="S", model=MODEL).request("anthropic")
                session.reply(response(one, 1_000, n))
            else:
                session.append(message(one))
        session.user("and now")
        play.clock.ms += 61 * 60_000
        session.window(system="S", model=MODEL)
        bodies = [entry.body for entry in session.entries() if isinstance(entry.body, Clear)]
        assert any(body.step == "microcompact" for body in bodies) is not within
