"""Pi's sessions: the tree, compactions that keep a tail, branches, commands, pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.client import Holdfast
from holdfast.importers.pi import Pi
from holdfast.model.log import Rewind, Summary
from holdfast.model.message import Media, Reasoning, Record, SummaryText, Text, ToolResult
from holdfast.testing.contracts import ImporterContract
from tests.importers.looking import bring, calls_of, only, parts, words
from tests.importers.pi_writing import MODEL, PIXEL, Story, call, text


def test_what_hangs_elsewhere_is_a_rewind(hf: Holdfast, tmp_path: Path) -> None:
    story = Story()
    story.user("One.")
    first = story.reply(text("Two."))
    story.user("A mistake.")
    story.reply(text("Gone."))
    story.add("model_change", parent=first, provider="openai", modelId="gpt-5.1")
    story.add("branch_summary", fromId="e004", summary="A mistake was made.")
    story.user("Three.")
    bring(hf, story.write(tmp_path))
    assert words(only(hf)) == ["One.", "Two.", "A mistake was made.", "Three."]
    (rewind,) = [e.body for e in only(hf).entries() if isinstance(e.body, Rewind)]
    assert rewind.to == 2
    assert [p.text for p in parts(only(hf)) if isinstance(p, SummaryText)] == [
        "A mistake was made."
    ]


@pytest.mark.parametrize("ids", [True, False])
def test_a_compaction_keeps_what_lies_behind_its_first(
    ids: bool, hf: Holdfast, tmp_path: Path
) -> None:
    story = Story(ids=ids)
    story.user("One.")
    story.reply(text("Two."))
    kept = story.user("Three.")
    story.reply(text("Four."))
    named: dict[str, Any] = {"firstKeptEntryId": kept} if ids else {"firstKeptEntryIndex": 3}
    story.add("compaction", summary="One and two.", tokensBefore=155_000, **named)
    story.user("Five.")
    bring(hf, story.write(tmp_path))
    assert words(only(hf)) == ["Three.", "Four.", "Σ One and two.", "Five."]
    (summary,) = [e.body for e in only(hf).entries() if isinstance(e.body, Summary)]
    assert (summary.tokens_before, summary.kept) == (155_000, (3, 4))


def test_what_a_reply_used_and_cost_is_what_it_says(hf: Holdfast, tmp_path: Path) -> None:
    story = Story()
    story.user("One.")
    story.reply(text("Two."), responseId="msg_1")
    story.reply(stop="aborted", responseId="msg_2", usage={"input": 9, "cost": {"total": 0}})
    bring(hf, story.write(tmp_path))
    one, two = calls_of(hf, only(hf))
    assert (one.usage.prompt, one.usage.output, one.cost) == (21, 5, 12_500_000)
    assert (one.request, one.model, one.stop) == ("msg_1", MODEL, "end")
    assert (two.stop, two.price_version) == (
        "aborted",
        one.price_version.replace("told", two.price_version),
    )
    assert two.cost == 27_000  # nine tokens at our own price: nobody there knew one


def test_everything_else_that_is_said_has_its_place(hf: Holdfast, tmp_path: Path) -> None:
    story = Story()
    story.say("user", [text("See."), {"type": "image", "data": PIXEL, "mimeType": "image/png"}])
    story.reply(
        {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "c2ln"}, call("c1", path="a")
    )
    story.say("toolResult", [text("a")], toolCallId="c1", toolName="read", isError=True)
    story.say("bashExecution", None, command="ls", output="a.py")
    story.say("bashExecution", None, command="env", output="secret", excludeFromContext=True)
    story.add("custom_message", customType="todo", content="Two things.", display=True)
    story.add("custom", customType="state", data={"a": 1})
    story.add("session_info", name="A name")
    story.add("brand_new", more=1)
    (report,) = bring(hf, story.write(tmp_path))
    assert words(only(hf)) == ["See.", "Hm.", "a", "$ ls\na.py", "Two things."]
    assert only(hf).info.title == "A name"
    found = parts(only(hf))
    (result,) = [part for part in found if isinstance(part, ToolResult)]
    assert (result.call, result.name, result.error) == ("c1", "read", True)
    (thought,) = [part for part in found if isinstance(part, Reasoning)]
    assert thought.seal
    assert json.loads(thought.seal.data) == {"signature": "c2ln"}
    assert [part.type for part in found if isinstance(part, Media)] == ["image/png"]
    tags = {part.text: part.scaffold for part in found if isinstance(part, Text)}
    assert (tags["$ ls\na.py"], tags["Two things."]) == ("user_shell_command", "system-reminder")
    assert b"secret" in b"".join(part.data for part in found if isinstance(part, Record))
    assert [(p.line, p.severity) for p in report.problems] == [(10, "unknown")]
    assert report.kept["brand_new"] == 1


class TestPi(ImporterContract):
    def importer(self) -> Pi:
        return Pi()

    def example(self, place: Path) -> Path:
        story = Story()
        story.user("One.")
        first = story.reply(text("Two."), call("c1", path="a"))
        story.say("toolResult", [text("a")], toolCallId="c1", toolName="read")
        story.add("compaction", summary="So far.", firstKeptEntryId=first, tokensBefore=9)
        story.say("user", "Three.", parent=first)
        story.add("session_info", name="A name")
        return story.write(place)
