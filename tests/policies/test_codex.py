"""Codex, row by row: what it does by its description, and what the policy of that name does."""

import pytest

from holdfast.core.tokens.count import WEIGHED
from holdfast.errors import Overflow
from holdfast.model.log import Clear, Summary
from holdfast.model.message import Text, ToolResult, assistant, opaque
from holdfast.policies import policy
from tests.policies.oracle import Kept, bytes_4, codex_keeps, requests, unread_of
from tests.policies.playing import SUMMARY, Play, Voice, prose, record, requested, shown
from tests.policies.story import Said, told

STORY = told()
POLICIES = ("codex", "codex@seed")
MARK = {"codex": 0.9, "codex@seed": 0.95}


@pytest.mark.seed("001", 36, 39)
@pytest.mark.parametrize("name", POLICIES)
def test_it_counts_four_bytes_a_token_and_sealed_reasoning_as_it_decodes(name: str) -> None:
    play = Play(name)
    play.session.user("é" * 30_000)
    play.session.append(assistant("word " * 3_000))
    play.session.user("é" * 12_001)
    plan = play.session.plan()
    assert [one.tokens for one in plan.shortened] == [20_000 - bytes_4("é" * 12_001)]
    count = WEIGHED[policy(name).counts_with]
    assert count(opaque("openai", "reasoning", b"x" * 4_000)) == 4_000 * 3 // 4 // 4


@pytest.mark.seed("000", 42)
@pytest.mark.seed("001", 40)
@pytest.mark.parametrize(("window", "room"), [(200_000, 190_000), (272_000, 258_400)])
@pytest.mark.parametrize("name", POLICIES)
def test_it_uses_95_percent_of_the_window(name: str, window: int, room: int) -> None:
    play = Play(name, window)
    play.session.user("hello")
    assert play.call().window.budget.room == room


@pytest.mark.seed("000", 41)
@pytest.mark.seed("001", 45, 53)
@pytest.mark.seed("004", 21)
@pytest.mark.parametrize("name", POLICIES)
def test_it_compacts_once_the_last_usage_and_what_came_since_reach_the_limit(name: str) -> None:
    play, steps = record(name)
    for step in steps:
        since = sum(bytes_4(play.said[place].text[:48_000]) for place in step.since)
        due = step.used + since >= MARK[name] * 128_000
        over = step.used + since * 1.26 + 64 > 0.95 * 128_000  # if the estimate is far off
        assert bool(step.told(Summary)) == (due or over)
        assert step.made.tokens <= 0.95 * 128_000
    assert sum(bool(step.markers) for step in steps) >= 3


@pytest.mark.seed("001", 41, 42, 43)
@pytest.mark.parametrize("name", POLICIES)
def test_a_long_output_loses_its_middle_half_and_half_and_says_how_much(name: str) -> None:
    play = Play(name)
    play.session.user("run it")
    long, short = "a" * 60_000 + "z" * 60_000, "b" * 48_000
    for one in (Said("assistant", "", calls=(("c1", "Bash"), ("c2", "Bash"))),):
        play.say(one)
    play.session.tool_result("c1", long)
    play.session.tool_result("c2", short)
    results = [p for b in play.call().blocks for p in b.parts if isinstance(p, ToolResult)]
    cut = results[0].output
    assert cut.startswith("a" * 24_000)
    assert cut.endswith("z" * 24_000)
    assert "[… 72,000 of 120,000 characters left out here · recall " in cut
    assert cut.count("a") < 24_020
    assert results[1].output == short


@pytest.mark.parametrize("name", POLICIES)
def test_it_clears_nothing(name: str) -> None:
    play, steps = record(name)
    assert {step.shown.cleared for step in steps} == {()}
    assert play.markers(Clear) == []


@pytest.mark.seed("004", 28)
@pytest.mark.parametrize("name", POLICIES)
def test_the_users_messages_stay_newest_first_within_20000_tokens(name: str) -> None:
    play, steps = record(name)
    gone: set[int] = set()
    for step in steps:
        visible = [place for place in step.said if place not in gone]
        if summary := step.told(Summary):
            asked = requests(play.said, visible)[-1]
            unread = unread_of(play.said, visible) if policy(name).keeps_unread else []
            whole = codex_keeps(play.said, visible)
            kept = [k for k in whole if not 0 < k.tokens < 200]  # ours leaves out what is less
            assert _kept(summary) == kept
            assert step.shown.kept == tuple(k.place for k in kept if k.place != asked)
            assert step.shown.history == tuple(sorted({asked, *unread}))
            gone = {*step.said} - {k.place for k in kept} - {*unread}
        else:
            assert sorted((*step.shown.kept, *step.shown.history)) == visible
    assert any(k.tokens for step in steps if (told := step.told(Summary)) for k in _kept(told))


def _kept(body: object) -> list[Kept]:
    assert isinstance(body, Summary)
    cut = {one.seq: one.tokens for one in body.shortened}
    return [Kept(seq, cut.get(seq, 0)) for seq in body.kept]


@pytest.mark.seed("001", 47)
@pytest.mark.seed("004", 25, 26, 27)
@pytest.mark.parametrize("name", POLICIES)
def test_the_question_stands_behind_the_conversation_and_the_answer_before_what_goes_on(
    name: str,
) -> None:
    play = Play(name, 272_000)  # in a smaller one 5 % are too little to answer in
    before, made = play.to_summary(STORY)
    question = play.voice.asked[0]
    texts = requested(question)
    assert texts[: len(requested(before))] == requested(before)
    assert "handover" in texts[-1]
    assert question.window.blocks[-1].role == "user"
    sections = [block.section for block in made.blocks]
    current = ["current"] * sections.count("current")
    assert sections == ["system", *["kept"] * sections.count("kept"), "summary", *current]
    (summary,) = made.window.section("summary")
    assert summary.role == "user"
    assert isinstance(summary.parts[0], Text)
    assert summary.parts[0].text.startswith("Another model worked on this task before")
    assert prose(summary.parts[0].text).endswith(f"{SUMMARY}[summary 1]".strip())


@pytest.mark.seed("001", 49, 50)
@pytest.mark.parametrize("name", POLICIES)
def test_a_question_that_is_too_long_is_asked_again_without_the_oldest(name: str) -> None:
    voice = Voice(Overflow("prompt is too long"), SUMMARY)
    play = Play(name, 272_000, voice=voice)
    play.to_summary(STORY)
    first, second = (requested(question) for question in voice.asked[:2])
    assert len(voice.asked) == 2
    assert second == first[len(first) - len(second) :]
    assert second[0].startswith(("[ask", "[thought", "[step", "[done"))
    assert len("".join(second)) < 0.8 * len("".join(first))


@pytest.mark.seed("000", 39)
@pytest.mark.parametrize("name", POLICIES)
def test_without_any_summary_all_stays_until_the_oldest_leave_with_their_pairs(name: str) -> None:
    play = Play(name, voice=Voice(RuntimeError("no answer")))
    for made in play.through(STORY):
        places = shown(made, play).history
        assert places == tuple(sorted(play.said))[-len(places) :]
        assert play.said[places[0]].role != "tool"
    steps = {entry.body.step for entry in play.markers(Summary)}  # type: ignore[union-attr]
    assert steps == {"shed"}


@pytest.mark.seed("001", 48)
def test_what_surrounds_the_conversation_is_laid_again_behind_the_summary() -> None:
    play = Play("codex")
    bundle = [("memory", "developer"), ("instructions", "user"), ("context", "user")]
    play.session.user("hello")
    order, tags = _laid(play)
    assert order == [("system", "system"), *bundle, ("current", "user")]
    assert tags[2:4] == ["INSTRUCTIONS", "environment_context"]
    play.session.append(assistant("word " * 2_000))
    play.session.user("and now")
    play.session.apply(play.session.plan())
    order, tags = _laid(play)
    around = [("kept", "user"), ("summary", "user"), *bundle]
    assert order == [("system", "system"), *around, ("current", "user")]


def _laid(play: Play) -> tuple[list[tuple[str, str]], list[str]]:
    """The sections of a window with their roles, and the tags around them."""
    made = play.session.window(
        system="S", instructions="Use tabs.", memory="A parser.", context={"cwd": "/x"}
    )
    texts = [part for block in made.blocks for part in block.parts if isinstance(part, Text)]
    return [(b.section, b.role) for b in made.blocks], [text.scaffold for text in texts]


@pytest.mark.seed("004", 23)
def test_a_switch_to_a_smaller_window_is_compacted_by_the_model_before() -> None:
    play = Play("codex")
    play.models.others["small"] = {"window": 64_000}
    for _ in play.through(STORY[:60]):
        pass
    assert play.markers() == []
    play.session.user("go on with the small one")
    play.session.window(system="You are a careful engineer.", model="small")
    assert {question.model for question in play.voice.asked} == {"claude-sonnet-4-6"}
    assert len(play.markers(Summary)) == 1
