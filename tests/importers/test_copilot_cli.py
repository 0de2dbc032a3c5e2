"""Copilot CLI's events: replies and tools, subagents, truncation, compaction, what it used."""

from __future__ import annotations

from pathlib import Path

from holdfast.engine.client import Holdfast
from holdfast.importers.copilot_cli import CopilotCli
from holdfast.model.log import Summary
from holdfast.model.message import Reasoning, Record, Subtask, Text, ToolResult
from holdfast.testing.contracts import ImporterContract
from tests.importers.copilot_writing import MODEL, Story
from tests.importers.looking import bring, calls_of, only, parts, words


def test_replies_tools_and_thoughts(hf: Holdfast, tmp_path: Path) -> None:
    story = Story()
    story.user("Look.")
    story.add("assistant.reasoning", content="Hm.")
    story.reply("", ("c1", "view", {"path": "a"}), ("c2", "bash", '{"command":"ls"}'))
    story.add("tool.execution_start", toolCallId="c1", toolName="view", arguments={"path": "a"})
    story.result("c1", "content of a")
    story.add("tool.execution_complete", toolCallId="c2", success=False, error={"message": "no"})
    story.reply("Seen.", reasoningText="Well.")
    story.add("user.message", content="", transformedContent="Not finished yet.")
    bring(hf, story.write(tmp_path))
    assert words(only(hf)) == ["Look.", "Hm.", "content of a", "no", "Well. Seen.",
                               "Not finished yet."]  # fmt: skip
    found = parts(only(hf))
    one, two = [part for part in found if isinstance(part, ToolResult)]
    assert (one.name, one.error, one.started) == ("view", False, 1_767_323_044_000)
    assert (two.name, two.error) == ("bash", True)
    assert [part.text for part in found if isinstance(part, Reasoning)] == ["Hm.", "Well."]
    (told,) = [part for part in found if isinstance(part, Text) and part.scaffold]
    assert told.text == "Not finished yet."
    kept = b"".join(part.data for part in found if isinstance(part, Record))
    assert b"<now/>Look." in kept
    assert only(hf).info.directory == "/home/me/project"


def test_a_subagent_is_a_session_that_its_parent_names(hf: Holdfast, tmp_path: Path) -> None:
    story = Story()
    story.user("Have it looked at.")
    story.reply("", ("c1", "task", {"prompt": "Look at it."}))
    story.add("subagent.started", toolCallId="c1", agentName="explore")
    story.reply("", ("c2", "view", {"path": "a"}), parentToolCallId="c1")
    story.result("c2", "content of a", parentToolCallId="c1")
    story.result("c1", "All well.")
    bring(hf, story.write(tmp_path))
    child = next(session for session in hf.every_session() if session.parent)
    parent = hf.session(child.parent)
    assert words(hf.session(child.id)) == ["Look at it.", "", "content of a"]
    assert words(parent) == ["Have it looked at.", "", "All well."]
    assert [part.session for part in parts(parent) if isinstance(part, Subtask)] == [child.id]


def test_what_was_dropped_is_no_longer_seen(hf: Holdfast, tmp_path: Path) -> None:
    story = Story()
    for word in ("One.", "Two.", "Three."):
        story.user(word)
    story.add("session.truncation", messagesRemovedDuringTruncation=2,
              preTruncationTokensInMessages=900, postTruncationTokensInMessages=300)  # fmt: skip
    story.user("Four.")
    bring(hf, story.write(tmp_path))
    (summary,) = [e.body for e in only(hf).entries() if isinstance(e.body, Summary)]
    assert (summary.tokens_before, summary.tokens_after, summary.kept) == (900, 300, (3,))
    seen = words(only(hf))
    assert (seen[0], seen[-1]) == ("Three.", "Four.")
    assert "One." in seen[1]  # an extract of our own stands for it


def test_a_compaction_stands_for_all_before_it_and_is_paid(hf: Holdfast, tmp_path: Path) -> None:
    story = Story()
    story.user("One.")
    story.add("session.compaction_complete", success=False, error="no")
    story.add("session.compaction_complete", success=True, summaryContent="So far.",
              preCompactionTokens=90_000, postCompactionTokens=900, requestId="r1",
              compactionTokensUsed={"input": 100, "output": 20, "cachedInput": 60})  # fmt: skip
    story.user("Two.")
    bring(hf, story.write(tmp_path))
    assert words(only(hf)) == ["Σ So far.", "Two."]
    (paid,) = calls_of(hf, only(hf))
    assert (paid.usage.input, paid.usage.cache_read, paid.cause) == (40, 60, "summary")


def test_what_was_taken_back_is_no_longer_seen(hf: Holdfast, tmp_path: Path) -> None:
    story = Story()
    story.user("One.")
    back = story.user("Two.")
    story.reply("Gone.")
    story.add("session.snapshot_rewind", upToEventId=back, eventsRemoved=2)
    story.user("Three.")
    bring(hf, story.write(tmp_path))
    assert words(only(hf)) == ["One.", "Three."]


def test_replies_and_the_end_of_a_session_tell_one_sum(hf: Holdfast, tmp_path: Path) -> None:
    story = Story()
    story.user("One.")
    story.reply("Two.", outputTokens=30, messageId="m1")
    used = {"inputTokens": 300_000, "outputTokens": 100, "cacheReadTokens": 200_000,
            "cacheWriteTokens": 50_000, "reasoningTokens": 10}  # fmt: skip
    story.add("session.shutdown", modelMetrics={
        MODEL: {"requests": {"count": 2}, "usage": used}, "gpt-5-mini": {"requests": 1},
    })  # fmt: skip
    bring(hf, story.write(tmp_path))
    first, rest = calls_of(hf, only(hf))
    assert (first.usage.output, first.cause, rest.cause) == (30, "turn", "session")
    assert (rest.usage.input, rest.usage.cache_read, rest.usage.cache_write) == (
        50_000, 200_000, 50_000,
    )  # fmt: skip
    assert (rest.usage.output, [one.prompt for one in rest.iterations]) == (70, [150_000] * 2)
    assert rest.cost == 50_000 * 3_000 + 200_000 * 300 + 50_000 * 3_750 + 70 * 15_000


def test_unknown_events_are_kept_and_told(hf: Holdfast, tmp_path: Path) -> None:
    story = Story()
    story.user("One.")
    story.add("brand.new", more=1)
    story.add("brand.new", more=2)
    (report,) = bring(hf, story.write(tmp_path))
    assert [(p.line, p.severity) for p in report.problems] == [(3, "unknown")]
    assert report.kept["brand.new"] == 2


class TestCopilotCli(ImporterContract):
    def importer(self) -> CopilotCli:
        return CopilotCli()

    def example(self, place: Path) -> Path:
        story = Story()
        story.user("Look.")
        story.reply("", ("c1", "task", {"prompt": "Look at it."}), outputTokens=3)
        story.reply("So.", ("c2", "view", {}), parentToolCallId="c1")
        story.result("c2", "a", parentToolCallId="c1")
        back = story.result("c1", "All well.")
        story.add("session.truncation", messagesRemovedDuringTruncation=1)
        story.add("session.snapshot_rewind", upToEventId=back)
        story.add("session.compaction_complete", success=True, summaryContent="So far.")
        metrics = {MODEL: {"requests": {"count": 1}, "usage": {"inputTokens": 5}}}
        story.add("session.shutdown", modelMetrics=metrics)
        story.user("Go on.")
        return story.write(place)
