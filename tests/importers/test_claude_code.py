"""Claude Code's transcripts: the tree, compactions, subagents, and the files of real people."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.engine.client import Holdfast
from holdfast.importers.claude_code import ClaudeCode
from holdfast.model.log import Clear, Summary
from holdfast.model.message import Message, Subtask, Text, ToolResult
from holdfast.testing.contracts import ImporterContract
from tests.importers.looking import bring, only, parts, said, words
from tests.importers.writing import MODEL, SESSION, Transcript, call, story, text


def test_a_subagent_is_a_session_that_its_parent_names(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("Have it looked at.")
    told.reply("msg_1", call("toolu_9", "Task", prompt="Look."))
    told.result("toolu_9", "All well.", toolUseResult={"agentId": "a1b2", "status": "completed"})
    agent = Transcript()
    agent.user("Look.", isSidechain=True, agentId="a1b2", uuid="s1")
    agent.reply("msg_2", text("All well."), isSidechain=True, agentId="a1b2")
    home = tmp_path / "p" / SESSION / "subagents"
    agent.write(home, name="agent-a1b2.jsonl")
    (home / "agent-a1b2.meta.json").write_text('{"description": "Look at it"}')
    told.write(tmp_path / "p")
    bring(hf, tmp_path / "p")
    child = next(session for session in hf.every_session() if session.parent)
    parent = hf.session(child.parent)
    assert (child.title, child.fork) == ("subtask: Look at it", 0)
    assert [part.session for part in parts(parent) if isinstance(part, Subtask)] == [child.id]
    assert words(hf.session(child.id)) == ["Look.", "All well."]
    request = parent.preview(model=MODEL).request("anthropic")
    assert request["messages"][-1]["content"][0]["type"] == "tool_result"


def test_results_that_a_microcompaction_dropped_are_cleared(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("Look.")
    told.reply("msg_1", call("toolu_1", command="ls"))
    told.result("toolu_1", "much " * 50)
    told.add("system", subtype="microcompact_boundary",
             microcompactMetadata={"trigger": "auto", "preTokens": 900, "tokensSaved": 100,
                                   "compactedToolIds": ["toolu_1", "toolu_nobody"]})  # fmt: skip
    told.reply("msg_2", text("Seen."))
    bring(hf, told.write(tmp_path / "p"))
    (clear,) = [e.body for e in only(hf).entries() if isinstance(e.body, Clear)]
    assert [(ref.seq, ref.ordinal) for ref in clear.parts] == [(3, 0)]
    assert (clear.step, clear.tokens_before, clear.tokens_after) == ("microcompact", 900, 800)
    shown = only(hf).preview(model=MODEL).request("anthropic")
    assert "much much" not in str(shown)
    assert isinstance(only(hf).entry(3).body.parts[0], ToolResult)  # type: ignore[union-attr]


@pytest.mark.seed("003", 5, 41)
def test_a_preserved_tail_stays_visible_and_what_hangs_on_it_is_no_rewind(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = Transcript()
    told.user("One.")
    told.reply("msg_1", text("Two."))
    kept = told.user("Three.")
    tail = told.reply("msg_2", text("Four."))
    told.compact("One and two.", postTokens=9, preservedMessages={"uuids": [kept, tail]})
    told.user("Five.", parent=tail)
    bring(hf, told.write(tmp_path / "p"))
    assert words(only(hf)) == ["Three.", "Four.", "Σ One and two.", "Five."]
    (summary,) = [e.body for e in only(hf).entries() if isinstance(e.body, Summary)]
    assert (summary.kept, summary.trigger, summary.tokens_before) == ((3, 4), "auto", 155_116)
    assert summary.tokens_after == 9


@pytest.mark.seed("003", 4)
def test_a_file_that_begins_with_a_compaction_begins_with_its_summary(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = Transcript()
    told.compact("What was before.")
    told.user("On.")
    bring(hf, told.write(tmp_path / "p"))
    first, second = only(hf).visible()
    assert isinstance(first.body, Message)
    assert first.body.parts[0].text == "What was before."  # type: ignore[union-attr]
    assert said(second) == "On."


@pytest.mark.seed("003", 2)
def test_a_compaction_without_its_summary_stands_with_an_extract(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = Transcript()
    told.user("Mend src/roof.py, please.")
    told.reply("msg_1", text("I mended src/roof.py."))
    told.compact(None)
    told.user("On.")
    (report,) = bring(hf, told.write(tmp_path / "p"))
    assert [problem.what for problem in report.problems] == ["a compaction without its summary"]
    summary, last = words(only(hf))
    assert "roof.py" in summary
    assert last == "On."


class TestContract(ImporterContract):
    def importer(self) -> ClaudeCode:
        return ClaudeCode()

    def example(self, place: Path) -> Path:
        return story().write(place)


def test_a_result_that_was_spilled_is_kept_whole(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("Look.")
    told.reply("msg_1", call("toolu_1", command="ls"))
    where = f"/home/me/.claude/projects/p/{SESSION}/tool-results/b1.txt"
    shown = f"<persisted-output>\nOutput too large (35.1KB). Full output saved to: {where}\n\n…"
    told.result("toolu_1", shown)
    whole = tmp_path / "a" / "p" / SESSION / "tool-results" / "b1.txt"
    whole.parent.mkdir(parents=True)
    whole.write_text("all of it")
    bring(hf, told.write(tmp_path / "a" / "p"))
    kept = [part.data for part in parts(only(hf)) if getattr(part, "type", "") == "tool-result"]
    assert kept == [b"all of it"]
    assert words(only(hf))[-1].startswith("<persisted-output>")


def test_nothing_outside_is_read_though_a_file_names_it(hf: Holdfast, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("treasure")
    told = Transcript()
    told.user("Look.")
    told.reply("msg_1", call("toolu_1", command="ls"))
    for way in ("../../../../secret.txt", "/etc/passwd", ".."):
        told.result("toolu_1", f"<persisted-output>\nFull output saved to: {way}\n")
    bring(hf, told.write(tmp_path / "a" / "p"))
    assert "treasure" not in str(parts(only(hf)))
    assert "root:" not in str(parts(only(hf)))


@pytest.mark.parametrize("tool", ["Task", "Agent"])
def test_a_sidechain_in_the_file_is_a_session_that_its_answer_names(
    hf: Holdfast, tmp_path: Path, tool: str
) -> None:
    told = Transcript()
    told.user("Have it looked at.")
    asking = told.reply("msg_1", call("toolu_1", tool, prompt="Look."))
    told.user("Look.", isSidechain=True, parent=None)
    told.reply("msg_2", text("All well."), isSidechain=True)
    told.result("toolu_1", "All well.", parent=asking)
    told.reply("msg_3", text("It is well."))
    bring(hf, told.write(tmp_path / "p"))
    main, side = sorted(hf.every_session(), key=lambda info: info.parent)
    assert side.parent == main.id
    assert words(hf.session(main.id)) == ["Have it looked at.", "", "All well.", "It is well."]
    assert words(hf.session(side.id)) == ["Look.", "All well."]
    named = [part for part in parts(hf.session(main.id)) if isinstance(part, Subtask)]
    assert [part.session for part in named] == [side.id]


@pytest.mark.parametrize("parents", [("self",), ("b", "a"), ("c", "a", "b"), (None, None, None)])
def test_a_tree_that_is_none_is_told_in_the_order_of_the_file(
    hf: Holdfast, tmp_path: Path, parents: tuple[str | None, ...]
) -> None:
    told = Transcript()
    for name, parent in zip("abc", parents, strict=False):
        told.user(f"I am {name}.", uuid=name, parent=name if parent == "self" else parent)
    told.reply("msg_1", text("I see."), parent="nowhere")
    bring(hf, told.write(tmp_path / "p"))
    assert words(only(hf))[-1] == "I see."
    assert len(words(only(hf))) == len(parents) + 1


def test_the_program_s_own_words_name_no_model(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("Go.")
    told.reply("msg_1", text("Gone."))
    said = {"id": "x", "role": "assistant", "model": "<synthetic>",
            "content": [text("API Error: 529")], "usage": {"input_tokens": 0}}  # fmt: skip
    told.add("assistant", message=said, isApiErrorMessage=True)
    bring(hf, told.write(tmp_path / "p"))
    assert only(hf).info.model == MODEL
    assert words(only(hf))[-1] == "API Error: 529"


def test_context_that_was_attached_is_told_and_is_nobody_s_request(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = Transcript()
    told.user("Read it.")
    told.add("attachment", attachment={"type": "file", "filename": "a.py",
             "content": {"type": "text", "file": {"content": "x = 1"}}})  # fmt: skip
    told.add("attachment", attachment={"type": "queued_command", "prompt": "And b.py."})
    told.add("attachment", attachment={"type": "plan_mode", "planExists": True})
    bring(hf, told.write(tmp_path / "p"))
    assert words(only(hf)) == ["Read it.", "x = 1", "And b.py."]
    _, context, queued = [part for part in parts(only(hf)) if isinstance(part, Text)]
    assert (context.scaffold, queued.scaffold) == ("system-reminder", "")


def test_an_attachment_that_says_what_it_became_is_told_so(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("Go.")
    told.add("attachment", attachment={"type": "date", "date": "2026-01-02"},
             rendered=[{"content": "It is Friday."}, {"content": [text("And late.")]}])  # fmt: skip
    told.add("attachment", attachment={"type": "model", "text": "old words"},
             rendered=[{"content": "You are a model."}, "nobody", {"content": 7}])  # fmt: skip
    bring(hf, told.write(tmp_path / "p"))
    assert words(only(hf)) == ["Go.", "It is Friday. And late.", "You are a model."]
    context = [part for part in parts(only(hf)) if isinstance(part, Text)][1:]
    assert {part.scaffold for part in context} == {"system-reminder"}


def test_a_session_is_where_its_first_record_with_a_place_says(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = Transcript()
    told.bare(type="queue-operation", sessionId=told.session, operation="enqueue")
    told.bare(type="mode", sessionId=told.session, mode="default")
    told.user("Go.")
    told.bare(type="cost-state", sessionId=told.session, totalCostUSD=0.5)
    (report,) = bring(hf, told.write(tmp_path / "p"))
    assert report.problems == ()
    assert report.kept == {"queue-operation": 1, "mode": 1, "cost-state": 1}
    assert [one.directory for one in hf.every_session()] == ["/home/me/project"]


def test_going_on_from_inside_a_preserved_tail_leaves_the_rest_of_it(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = Transcript()
    told.user("Long ago.")
    told.reply("msg_1", text("Yes."))
    first = told.user("Tail one.")
    second = told.reply("msg_2", text("Tail two."))
    told.user("Tail three.")
    last = told.reply("msg_3", text("Tail four."))
    told.compact("It was so.", preservedSegment={"headUuid": first, "tailUuid": last})
    told.user("Behind the whole tail.", parent=last)
    bring(hf, told.write(tmp_path))
    whole = ["Tail one.", "Tail two.", "Tail three.", "Tail four.", "Σ It was so."]
    assert words(only(hf)) == [*whole, "Behind the whole tail."]
    told.user("Behind it once more.", parent=last)
    bring(hf, told.write(tmp_path))
    assert words(only(hf)) == [*whole, "Behind it once more."]
    told.user("Instead of three.", parent=second)
    told.reply("msg_4", text("Then so."))
    bring(hf, told.write(tmp_path))
    assert words(only(hf)) == [*whole[:2], whole[-1], "Instead of three.", "Then so."]
    told.user("Back to the whole tail.", parent=last)
    bring(hf, told.write(tmp_path))
    assert words(only(hf)) == [*whole, "Back to the whole tail."]
    (report,) = bring(hf, told.write(tmp_path / "again"))
    assert report.entries == 0
