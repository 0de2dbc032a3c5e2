"""Our own policy, row by row: what its page says, on the same session as all the others."""

import subprocess
import sys

import pytest

from holdfast.core.ledger.build import ledger
from holdfast.model.log import Clear, Summary
from holdfast.model.message import Text, ToolResult, assistant
from holdfast.policies import policy
from tests.policies.oracle import requests
from tests.policies.playing import Play, Voice, record, requested
from tests.policies.story import Said, told

STORY = told()
NAME = "holdfast"


def test_it_counts_from_the_last_report_on() -> None:
    _, steps = record(NAME)
    quiet = [step for step in steps if not step.markers]
    assert quiet
    assert all(step.made.tokens >= step.used for step in quiet[1:5])
    assert policy(NAME).counts_with == "provider"


@pytest.mark.seed("001", 133, 134, 135, 136)
@pytest.mark.parametrize(("window", "room"), [(200_000, 159_600), (32_000, 22_800)])
def test_the_output_is_kept_free_and_5_percent_of_the_rest(window: int, room: int) -> None:
    play = Play(NAME, window)
    play.session.user("hello")
    assert play.call().window.budget.room == room


@pytest.mark.seed("001", 4, 117)
def test_it_compacts_by_price_or_before_the_room_is_full() -> None:
    _, steps = record(NAME)
    for step in steps:
        summary = step.told(Summary)
        if summary:
            assert summary.decision.pays or summary.trigger != "auto"
        assert step.made.over == 0
    assert any(step.told(Summary) for step in steps)


def test_an_output_shows_a_share_of_the_window_and_its_handle() -> None:
    play = Play(NAME, 100_000)
    play.session.user("run it")
    play.say(Said("assistant", "", calls=(("c1", "Bash"),)))
    whole = play.session.tool_result("c1", "word " * 40_000)
    (result,) = [p for b in play.call().blocks for p in b.parts if isinstance(p, ToolResult)]
    assert len(result.output) < 60_000
    assert f"recall prt_{whole.id}.0" in result.output
    assert play.session.recall(f"prt_{whole.id}.0").text.startswith("word word")


@pytest.mark.seed("001", 143)
def test_what_it_clears_pays_and_leaves_the_newest_turns_and_skills_alone() -> None:
    play, steps = record(NAME)
    for step in steps:
        told = step.told(Clear)
        if told is None:
            continue
        turns = requests(play.said, step.said)
        places = {ref.seq for ref in told.parts}
        assert max(places) < turns[-2]
        assert all(play.said[place].tool != "skill" for place in places)
        assert told.decision.pays or told.trigger != "auto"


def test_tail_users_and_what_was_just_asked_stay_word_for_word() -> None:
    play, steps = record(NAME)
    for step in steps:
        if not step.told(Summary):
            continue
        shown = {*step.shown.kept, *step.shown.history}
        asked = requests(play.said, step.said)
        assert asked[-1] in shown
        assert shown & {*asked[:-1]}  # and some of what was asked before
        tail = [place for place in step.shown.history if place != asked[-1]]
        stays = [place for place in step.said if place != asked[-1]]
        assert tail == stays[len(stays) - len(tail) :]
        words = requested(step.made)
        assert play.said[asked[-1]].text in words


@pytest.mark.seed("001", 116)
def test_the_ledger_is_laid_beside_the_prose_and_the_one_before_is_carried_on() -> None:
    play, _ = record(NAME)
    summaries = [e.body for e in play.markers(Summary) if isinstance(e.body, Summary)]
    assert all(body.ledger for body in summaries)
    assert all(body.merges for body in summaries[1:])
    exact = ledger(tuple(play.session.entries()))
    assert len(exact.requests) == len(requests(play.said, [*play.said]))


@pytest.mark.parametrize("answer", ["", "word " * 50_000, RuntimeError("no answer")])
def test_where_no_model_has_one_a_summary_is_made_without(answer: str | Exception) -> None:
    play = Play(NAME, 64_000, voice=Voice(answer))
    for made in play.through(STORY):
        assert made.over == 0
    summaries = [e.body for e in play.markers(Summary) if isinstance(e.body, Summary)]
    assert summaries
    assert {body.model for body in summaries} == {""}


def test_a_summary_that_invents_a_path_is_asked_for_again_with_what_is_wrong() -> None:
    voice = Voice("All was done in src/invented/nowhere_42.py, as /opt/none/such.sh says.")
    play = Play(NAME, voice=voice)
    for turn in range(4):
        play.session.user(f"Question {turn}, please.")
        play.session.append(assistant("word " * 4_000))
    plan = play.session.plan()
    assert len(voice.asked) == 2
    assert "nowhere_42.py" in voice.asked[1].system
    assert plan.model == ""
    assert plan.objections


def test_it_says_that_a_summary_is_background() -> None:
    play = Play(NAME)
    _, made = play.to_summary(STORY)
    (block,) = made.window.section("summary")
    assert isinstance(block.parts[0], Text)
    assert block.parts[0].scaffold == "conversation_summary"
    assert "not a new\nrequest" in block.parts[0].text


AT_ONCE = """
import sys, threading
from holdfast.policies import policy

sys.setswitchinterval(1e-6)
begin = threading.Barrier(8)

def read():
    begin.wait()
    policy("holdfast")

threads = [threading.Thread(target=read) for _ in range(8)]
[one.start() for one in threads]
[one.join() for one in threads]
"""


def test_threads_that_read_the_first_policy_at_once_do_not_end_the_process() -> None:
    assert subprocess.run([sys.executable, "-c", AT_ONCE], timeout=60).returncode == 0
