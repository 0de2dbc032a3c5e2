"""What is visible after compactions and rollbacks is what Codex itself would send."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.engine.client import Holdfast
from holdfast.model.log import Summary
from tests.importers.looking import bring, only, words
from tests.importers.looking import said as words_of
from tests.importers.rollouts import CONTEXT, MODEL, Rollout, said, sealed


def seen(hf: Holdfast, told: Rollout, place: Path) -> list[str]:
    """What is visible, of a summary only that it is one."""
    bring(hf, told.write(place / "p"))
    return [one if not one.startswith("Σ ") else "Σ" for one in words(only(hf))]


def summaries(hf: Holdfast) -> list[Summary]:
    return [e.body for e in only(hf).entries() if isinstance(e.body, Summary)]


def turns(*pairs: str) -> Rollout:
    told = Rollout()
    for one in pairs:
        told.turn(f"ask {one}", f"say {one}")
    return told


def test_a_replacement_is_the_whole_new_past(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a", "b")
    told.compacts(said("user", "ask a"), said("user", "ask b"), sealed())
    told.turn("ask c", "say c")
    assert seen(hf, told, tmp_path) == ["ask a", "ask b", "Σ", "ask c", "say c"]


def test_the_newest_replacement_is_the_base(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a")
    told.compacts(said("user", "ask a"), sealed("Zmlyc3Q="))
    told.turn("ask b", "say b")
    told.compacts(said("user", "ask b"), sealed("c2Vjb25k"))
    told.turn("ask c", "say c")
    assert seen(hf, told, tmp_path) == ["ask b", "Σ", "ask c", "say c"]
    session = only(hf)
    own = str(session.preview(model=MODEL).request("openai-responses"))
    assert "c2Vjb25k" in own
    assert "Zmlyc3Q=" not in own


def test_its_owner_is_sent_the_compaction_and_others_the_extract(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = turns("about the roof")
    told.compacts(said("user", "ask about the roof"), sealed())
    told.turn("ask b", "say b")
    seen(hf, told, tmp_path)
    session = only(hf)
    extract = "assistant: say about the roof"
    own = session.preview(model=MODEL).request("openai-responses")
    assert "compaction" in [item.get("type") for item in own["input"]]
    assert extract not in str(own)
    for model, format in (("gpt-4.1", "openai-chat"), ("claude-sonnet-4-6", "anthropic")):
        other = str(session.preview(model=model).request(format))
        assert extract in other
        assert "Y29tcGFjdGVk" not in other


def test_what_is_new_in_a_replacement_is_said_before_the_summary(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = Rollout()
    told.says("user", CONTEXT)
    told.turn("ask a", "say a")
    told.compacts(said("user", "ask a"), said("developer", "New rules."), said("user", CONTEXT),
                  said("assistant", "say a"), said("user", "long ask… cut"), sealed())  # fmt: skip
    told.replies("say b")
    assert seen(hf, told, tmp_path) == [
        CONTEXT, "ask a", "say a", "New rules.", "long ask… cut", "Σ", "say b",
    ]  # fmt: skip


def test_the_same_words_said_twice_are_two_messages(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a", "a", "b")
    told.compacts(said("user", "ask a"), said("user", "ask a"), said("user", "ask b"), sealed())
    assert seen(hf, told, tmp_path) == ["ask a", "ask a", "ask b", "Σ"]


def test_a_local_summary_stands_in_its_own_words(hf: Holdfast, tmp_path: Path) -> None:
    text = "Another language model started to solve this problem…\nThe roof is mended."
    told = turns("a")
    told.compacts(said("user", "ask a"), said("user", text), message=text)
    told.turn("ask b", "say b")
    assert seen(hf, told, tmp_path) == ["ask a", "Σ", "ask b", "say b"]
    (summary,) = summaries(hf)
    assert (summary.text, summary.sealed) == (text, None)


def test_a_replacement_whose_members_come_in_another_order_repeats_nothing(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = turns("a", "b")
    asked = {"content": [{"text": "ask a", "type": "input_text"}], "role": "user"}
    told.compacts({**asked, "type": "message"}, said("user", "ask b"), sealed())
    seen(hf, told, tmp_path)
    assert [words_of(entry) for entry in only(hf).entries()].count("ask a") == 1


def test_an_old_compaction_keeps_what_humans_said(hf: Holdfast, tmp_path: Path) -> None:
    told = Rollout()
    told.says("user", CONTEXT)
    told.turn("ask a", "say a")
    told.turn("b" * 90_000, "say b")
    told.turn("ask c", "say c")
    told.add("compacted", message="They painted it.")
    told.turn("ask d", "say d")
    assert seen(hf, told, tmp_path) == ["ask c", "Σ", "ask d", "say d"]
    assert summaries(hf)[0].text == "They painted it."


def test_a_file_that_begins_with_a_compaction(hf: Holdfast, tmp_path: Path) -> None:
    told = Rollout()
    told.compacts(said("user", "ask a"), sealed())
    told.turn("ask b", "say b")
    assert seen(hf, told, tmp_path) == ["ask a", "Σ", "ask b", "say b"]
    bare = Rollout("019f5ccd-3d12-7ee2-b82d-f7e03a3a0003")
    bare.compacts(sealed())
    bare.turn("ask b", "say b")
    (report,) = bring(hf, bare.write(tmp_path / "q"))
    assert words(hf.session(report.sessions[0])) == [
        "[a summary that only its provider can read]", "ask b", "say b",
    ]  # fmt: skip


def test_a_rollback_takes_back_the_newest_turns(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a", "b", "c")
    told.event("thread_rolled_back", num_turns=2)
    told.turn("ask d", "say d")
    assert seen(hf, told, tmp_path) == ["ask a", "say a", "ask d", "say d"]


def test_a_rollback_takes_back_a_turn_that_never_ended(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a")
    told.start()
    told.asks("ask b")
    told.calls(command=["ls"])
    told.event("thread_rolled_back", num_turns=1)
    assert seen(hf, told, tmp_path) == ["ask a", "say a"]


def test_a_rollback_takes_back_the_compaction_inside(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a")
    told.start()
    told.asks("ask b")
    told.compacts(said("user", "ask a"), said("user", "ask b"), sealed())
    told.replies("say b")
    told.event("thread_rolled_back", num_turns=1)
    told.turn("ask c", "say c")
    assert seen(hf, told, tmp_path) == ["ask a", "say a", "ask c", "say c"]


def test_a_rollback_leaves_the_compaction_before(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a")
    told.event("task_started")
    told.compacts(said("user", "ask a"), sealed())
    told.event("task_complete")
    told.turn("ask b", "say b")
    told.event("thread_rolled_back", num_turns=1)
    assert seen(hf, told, tmp_path) == ["ask a", "Σ"]
    assert [summary.trigger for summary in summaries(hf)] == ["manual"]


def test_a_rollback_past_a_compaction_shows_what_was_there(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a", "b")
    told.compacts(said("user", "ask a"), said("user", "ask b"), sealed())
    told.turn("ask c", "say c")
    told.event("thread_rolled_back", num_turns=2)
    told.turn("ask d", "say d")
    assert seen(hf, told, tmp_path) == ["ask a", "say a", "ask d", "say d"]


def test_a_rollback_beyond_all_turns_leaves_what_came_before_them(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = Rollout()
    told.says("user", CONTEXT)
    told.turn("ask a", "say a")
    told.turn("ask b", "say b")
    told.event("thread_rolled_back", num_turns=99)
    assert seen(hf, told, tmp_path) == [CONTEXT]
    bare = Rollout("019f5ccd-3d12-7ee2-b82d-f7e03a3a0004")
    bare.turn("ask a", "say a")
    bare.event("thread_rolled_back", num_turns=3)
    bare.turn("ask z", "say z")
    (report,) = bring(hf, bare.write(tmp_path / "q"))
    assert words(hf.session(report.sessions[0])) == ["ask z", "say z"]


def test_context_that_came_with_a_turn_goes_with_it(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a")
    told.says("developer", "New rules.")
    told.says("user", CONTEXT)
    told.turn("ask b", "say b")
    told.event("thread_rolled_back", num_turns=1)
    assert seen(hf, told, tmp_path) == ["ask a", "say a"]


def test_work_without_a_human_is_no_turn(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a", "b")
    told.event("task_started")
    told.replies("by myself")
    told.event("task_complete")
    told.event("thread_rolled_back", num_turns=1)
    assert seen(hf, told, tmp_path) == ["ask a", "say a"]


def test_what_another_agent_says_is_a_turn(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a")
    told.item("agent_message", author="/b", recipient="/a",
              content=[{"type": "input_text", "text": "news"}])  # fmt: skip
    told.replies("noted")
    old = '{"author": "/b", "recipient": "/a", "other_recipients": [], "content": "more"}'
    told.says("assistant", old)
    told.replies("noted too")
    told.event("thread_rolled_back", num_turns=1)
    assert seen(hf, told, tmp_path) == ["ask a", "say a", "news", "noted"]


def test_what_a_compaction_lays_again_is_no_turn(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a")
    told.compacts(said("user", "ask a… cut"), sealed())
    told.turn("ask b", "say b")
    told.event("thread_rolled_back", num_turns=2)
    assert seen(hf, told, tmp_path) == []


def test_a_rollback_of_nothing_changes_nothing(hf: Holdfast, tmp_path: Path) -> None:
    told = turns("a")
    told.event("thread_rolled_back", num_turns=0)
    told.event("thread_rolled_back", num_turns="two")
    assert seen(hf, told, tmp_path) == ["ask a", "say a"]


@pytest.mark.parametrize(("fill", "trigger"), [(1_000, "manual"), (240_000, "auto")])
def test_before_anybody_is_heard_a_full_window_is_compacted_by_itself(
    hf: Holdfast, tmp_path: Path, fill: int, trigger: str
) -> None:
    told = turns("a")
    told.uses(fill, 0, 10)
    told.event("task_started")
    told.compacts(said("user", "ask a"), sealed())
    seen(hf, told, tmp_path)
    assert [summary.trigger for summary in summaries(hf)] == [trigger]
