"""What other projects' own tests ask of a compaction, asked of ours.

The behaviour is theirs, the tests are not: Codex, OpenCode, Gemini CLI, OpenHands, LangChain, the
OpenAI Agents SDK, pi and Aider each check something that every one of our policies has to do too.
"""

from contextlib import suppress
from typing import Any

import pytest

from holdfast.errors import InvalidRequest
from holdfast.model.log import Clear, Summary
from holdfast.model.message import Media, Message, Text, ToolCall, ToolResult, assistant, tool, user
from tests.policies.playing import SUMMARY, Play, Voice, record, requested
from tests.policies.story import Said, told

STORY = told()
NAMES = ("aider", "codex", "opencode", "opencode@seed", "claude-code", "gemini-cli", "holdfast")
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000100000001008020000009091683600000000")


def worked(play: Play, turns: int = 6, words: int = 1_500) -> Play:
    """A session with some turns of some length."""
    for turn in range(turns):
        play.session.user(f"ask {turn}")
        play.session.append(assistant(f"answer {turn} " + "word " * words))
    play.session.user("and now")
    return play


def compacted(play: Play) -> Summary:
    """Compact by hand; the marker."""
    body = play.session.apply(play.session.plan()).body
    assert isinstance(body, Summary)
    return body


def pairs(made: Any) -> tuple[set[str], set[str]]:
    """The ids of the calls and of the results in a window."""
    parts = [part for block in made.blocks for part in block.parts]
    calls = {part.id for part in parts if isinstance(part, ToolCall)}
    return calls, {part.call for part in parts if isinstance(part, ToolResult)}


@pytest.mark.parametrize("name", NAMES)
def test_no_split_parts_a_call_from_its_result_and_no_result_comes_twice(name: str) -> None:
    _, steps = record(name)
    for step in steps:
        calls, results = pairs(step.made)
        assert calls == results
        answered = [p.call for b in step.made.blocks for p in b.parts if isinstance(p, ToolResult)]
        assert len(answered) == len({*answered})
        assert step.made.request("anthropic")  # and it breaks no rule of the provider's


@pytest.mark.parametrize("name", NAMES)
def test_many_parallel_calls_live_or_die_together(name: str) -> None:
    play = Play(name, 32_000)
    for turn in range(8):
        play.session.user(f"turn {turn}")
        ids = [f"c{turn}_{n}" for n in range(12)]
        play.say(Said("assistant", "all at once", calls=tuple((id, "Read") for id in ids)))
        play.session.append(tool(*(ToolResult(id, "word " * 80, name="Read") for id in ids)))
        play.session.append(assistant("done " * 40))
    play.session.user("and now")
    made = play.call()
    calls, results = pairs(made)
    assert calls == results
    for turn in range(8):
        assert sum(id.startswith(f"c{turn}_") for id in calls) in (0, 12)


@pytest.mark.seed("000", 154)
@pytest.mark.parametrize("name", NAMES)
def test_the_summary_before_is_worked_into_the_next_and_only_the_newest_counts(name: str) -> None:
    voice = Voice("The first part is done, says summary one.", "All is done, says summary two.")
    play = worked(Play(name, voice=voice))
    first = compacted(play)
    asked = len(voice.asked)
    for turn in range(4):
        play.session.append(assistant(f"more {turn} " + "word " * 1_500))
        play.session.user(f"further {turn}")
    second = compacted(play)
    assert second.merges
    assert first.text in "".join(requested(voice.asked[asked])) + voice.asked[asked].prompt
    made = play.session.window()
    assert len(made.window.section("summary")) == 1
    text = "".join(requested(made))
    assert first.text not in text or first.text == second.text


@pytest.mark.seed("001", 115)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "holdfast"])
@pytest.mark.parametrize("answer", ["", " \n", "...", "word " * 60_000, RuntimeError("aborted")])
def test_a_summary_that_is_empty_inflated_or_aborted_leaves_nothing_behind(
    name: str, answer: str | Exception
) -> None:
    play = worked(Play(name, voice=Voice(answer)))
    before = [entry.id for entry in play.session.entries()]
    with suppress(InvalidRequest):
        play.session.plan()
    assert [entry.id for entry in play.session.entries()] == before
    assert play.markers() == []


@pytest.mark.parametrize("name", NAMES)
def test_a_reply_cut_off_in_the_middle_of_a_summary_is_no_summary(name: str) -> None:
    half = {
        "id": "m", "type": "message", "role": "assistant", "model": "m",
        "stop_reason": "max_tokens",
        "content": [{"type": "text", "text": SUMMARY}],
        "usage": {"input_tokens": 9, "output_tokens": 9},
    }  # fmt: skip
    play = worked(Play(name, voice=Voice(lambda question: half)))  # type: ignore[arg-type,return-value]
    with suppress(InvalidRequest):
        assert play.session.plan().model == ""
    assert play.voice.asked


@pytest.mark.parametrize("name", NAMES)
def test_with_nothing_that_may_be_cut_nothing_is(name: str) -> None:
    play = Play(name)
    play.session.user("only this " + "word " * 2_000)
    with pytest.raises(InvalidRequest):
        play.session.plan()
    play.say(Said("assistant", "", calls=(("c1", "Read"),)))
    made = play.session.preview()
    assert [b.seq for b in made.blocks if b.seq][:2] == [1, 2]
    assert play.markers() == []


@pytest.mark.parametrize("name", NAMES)
def test_pictures_count_and_survive_where_they_stand_in_the_tail(name: str) -> None:
    play = Play(name, 64_000)
    picture = Media("image/png", PNG, width=2_000, height=1_500)
    play.session.append(user("plain"))
    bare = play.session.window().tokens
    play.session.append(Message("user", (Text("look"), picture)))
    seen = play.session.window()
    assert seen.tokens > bare + 300
    assert any(isinstance(part, Media) for block in seen.blocks for part in block.parts)


@pytest.mark.parametrize("name", ["opencode@seed", "claude-code", "holdfast"])
def test_what_is_cleared_is_not_counted_twice_and_never_grows(name: str) -> None:
    play, _ = record(name)
    cleared = [entry.body for entry in play.markers(Clear) if isinstance(entry.body, Clear)]
    refs = [ref for body in cleared for ref in body.parts]
    assert len(refs) == len({*refs})
    assert all(body.tokens_after < body.tokens_before for body in cleared)


@pytest.mark.seed("000", 84)
def test_exempt_tools_are_never_cleared_and_pictures_beside_results_go_with_them() -> None:
    play = Play("opencode@seed", 400_000)
    for turn in range(14):
        play.session.user(f"turn {turn}")
        name = "skill" if turn == 0 else "Read"
        play.say(Said("assistant", "", calls=((f"c{turn}", name),)))
        result = ToolResult(f"c{turn}", "w" * 25_000, name=name, media=(Media("image/png", PNG),))
        play.session.append(tool(result))
    play.session.user("and now")
    outputs = [
        p for b in play.session.window().blocks for p in b.parts if isinstance(p, ToolResult)
    ]
    assert outputs[0].output == "w" * 25_000
    assert outputs[1].output.startswith("[cleared: Read")
    assert outputs[-1].media


@pytest.mark.parametrize("name", NAMES)
def test_a_call_left_waiting_is_answered_before_anything_is_sent(name: str) -> None:
    play = worked(Play(name, 32_000), turns=8)
    play.say(Said("assistant", "", calls=(("c1", "Read"),)))
    play.session.user("never mind")
    calls, results = pairs(play.call())
    assert calls == results


@pytest.mark.seed("000", 16, 159)
@pytest.mark.parametrize("name", NAMES)
def test_compact_resume_and_fork_give_the_model_the_same_view(name: str) -> None:
    play = worked(Play(name))
    compacted(play)
    here = requested(play.session.window())
    assert requested(play.hf.session(play.session.id).window()) == here
    assert requested(play.session.fork().window()) == here


@pytest.mark.seed("000", 3)
@pytest.mark.parametrize("name", NAMES)
def test_a_rewind_behind_a_compaction_brings_everything_back(name: str) -> None:
    play = worked(Play(name))
    before = requested(play.session.window())
    last = play.session.info.head
    compacted(play)
    play.session.append(assistant("fine"))
    play.session.rewind(last)
    assert requested(play.session.window()) == before


@pytest.mark.seed("000", 21)
@pytest.mark.parametrize("name", NAMES)
def test_a_conversation_that_is_not_too_big_is_left_alone(name: str) -> None:
    play = worked(Play(name), turns=2, words=100)
    play.call()
    assert play.markers() == []
    assert play.voice.asked == []


@pytest.mark.seed("000", 1)
@pytest.mark.parametrize("name", NAMES)
def test_repeated_compactions_keep_what_was_asked_last_and_end(name: str) -> None:
    play = worked(Play(name, 24_000), turns=3)
    for turn in range(12):
        play.session.user(f"[latest {turn}] " + "word " * 400)
        made = play.call()
        assert made.over == 0
        assert any(text.startswith(f"[latest {turn}]") for text in requested(made))
        play.session.append(assistant("word " * 1_200))
    assert len(play.voice.asked) < 60
