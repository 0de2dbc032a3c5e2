"""The files of real people: no crash, no loss, and the same counts as others have."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.engine.importing.transcript_file import FileMaterial
from holdfast.files import Root
from holdfast.importers.claude_code import ClaudeCode
from holdfast.model.message import Media, Message, Reasoning, Record, ToolCall, ToolResult
from holdfast.model.reply import Usage
from holdfast.model.transcript_events import (
    CallRead,
    Cleared,
    Compacted,
    Kept,
    MessageRead,
    Problem,
    TranscriptEvent,
)
from holdfast.testing.contracts.importer import WINDOWS
from tests.conftest import SHARED_DATA
from tests.importers.looking import bring, calls_of, parts
from tests.thorough import step

HOME = SHARED_DATA / "transcripts" / "claude"
FILES = sorted(
    str(path.relative_to(HOME)) for path in HOME.rglob("*.jsonl") if path.name != "journal.jsonl"
)

EXPLAINED = {
    # A fixture: its picture has no bytes, so it is none; a result that names no call is one all the
    # same; and it tells of an iteration of a kind that the API does not have, which adds.
    "agent-sessions/small.jsonl": {"images", "tool_result", "input_tokens", "output_tokens"},
    # One result is there twice; the oracle counts calls that are answered.
    "vibecodingtracker/claude_code.jsonl": {"tool_result"},
}
"""What differs from the oracle, and why."""

MORE = {"claude-code-log-edge/edge_cases.jsonl": 3}
"""Lines that are no JSON objects: kept, though the oracle does not count them."""

needs_data = pytest.mark.skipif(not HOME.is_dir(), reason="recorded data is missing")


@pytest.fixture(scope="module")
def oracle() -> dict[str, Any]:
    return json.loads((SHARED_DATA / "oracle.json").read_text())


def told(name: str) -> list[TranscriptEvent]:
    path = HOME / name
    return list(ClaudeCode().read(FileMaterial(Root(path.parent), path.name)))


@pytest.mark.seed("003", 1, 6, 7, 8, 14)
@needs_data
@pytest.mark.parametrize("name", FILES)
def test_what_is_told_agrees_with_the_oracle(name: str, oracle: dict[str, Any]) -> None:
    items, known = told(name), oracle[f"transcripts/claude/{name}"]
    found = counted(items) | used(items)
    wanted = {key: known.get(key, 0) for key in counted([])} | known["usage_dedup"]
    wanted["boundaries"] = len(known["boundaries"])
    differ = {key for key in found if found[key] != wanted.get(key, 0)}
    assert differ == EXPLAINED.get(name, set())
    lines = len(kept_lines(items)) - MORE.get(name, 0)
    assert lines == known["records"]


def counted(items: list[TranscriptEvent]) -> dict[str, int]:
    said = [part for item in items if isinstance(item, MessageRead) for part in item.message.parts]
    calls = {part.id for part in said if isinstance(part, ToolCall)}
    results = [part for part in said if isinstance(part, ToolResult)]
    pictures = sum(isinstance(part, Media) for part in said)
    return {
        "tool_use": len([part for part in said if isinstance(part, ToolCall)]),
        "tool_result": len(results),
        "tool_use_unanswered": len(calls - {result.call for result in results}),
        "thinking": sum(isinstance(part, Reasoning) for part in said),
        "images": pictures + sum(len(result.media) for result in results),
        "boundaries": sum(isinstance(item, (Compacted, Cleared)) for item in items),
    }


def used(items: list[TranscriptEvent]) -> dict[str, int]:
    best: dict[str, Usage] = {}
    for item in items:
        if isinstance(item, CallRead):
            best[item.request] = max(
                best.get(item.request, item.usage), item.usage, key=lambda one: one.total
            )
    return {
        "input_tokens": sum(one.input for one in best.values()),
        "output_tokens": sum(one.output for one in best.values()),
        "cache_creation_input_tokens": sum(one.cache_write for one in best.values()),
        "cache_read_input_tokens": sum(one.cache_read for one in best.values()),
    }


def kept_lines(items: list[TranscriptEvent]) -> set[int]:
    """The lines that are kept in some form."""
    alone = {item.record.line for item in items if isinstance(item, Kept)}
    return alone | {
        record.line
        for item in items
        if isinstance(item, (MessageRead, Compacted))
        for record in item.records
    }


@needs_data
def test_every_file_imports_once_and_every_window_is_valid(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "store.db") as hf:
        reports = bring(hf, HOME)
        assert {Path(report.path) for report in reports} >= {HOME / name for name in FILES}
        damaged = [p for report in reports for p in report.problems if p.severity == "damaged"]
        assert damaged == []
        before = {info.id: info.head for info in hf.every_session()}
        usage = total(hf)
        assert sum(report.entries for report in bring(hf, HOME)) == 0
        assert {info.id: info.head for info in hf.every_session()} == before
        assert total(hf) == usage
        for id in list(before)[:: step(4)]:
            for model, format in WINDOWS:
                assert hf.session(id).preview(model=model).request(format)


def total(hf: Holdfast) -> Usage:
    sessions = [hf.session(info.id) for info in hf.every_session()]
    return sum((call.usage for one in sessions for call in calls_of(hf, one)), Usage())


@pytest.mark.seed("003", 45)
@needs_data
def test_the_golden_totals_of_another_tracker(tmp_path: Path) -> None:
    """VibeCodingTracker adds up every line, however often a reply repeats its usage, and answers,
    of which one is there twice: so can we."""
    golden = json.loads((HOME / "vibecodingtracker/claude_code.expected.json").read_text())
    (record,) = golden["records"]
    (wanted,) = record["conversationUsage"].values()
    with holdfast.open(tmp_path / "store.db") as hf:
        (report,) = bring(hf, HOME / "vibecodingtracker/claude_code.jsonl")
        found = parts(hf.session(report.sessions[0]))
    records = [part for part in found if isinstance(part, Record) and part.type == "assistant"]
    usages = [json.loads(record.data)["message"]["usage"] for record in records]
    for name in wanted:
        if name.endswith("_tokens"):
            assert sum(usage.get(name, 0) for usage in usages) == wanted[name]
    names = {part.id: part.name for part in found if isinstance(part, ToolCall)}
    tools = Counter(names[part.call] for part in found if isinstance(part, ToolResult))
    assert {name: tools[name] for name in record["toolCallCounts"]} == record["toolCallCounts"]


@needs_data
def test_nothing_of_a_real_file_is_lost_in_the_store(tmp_path: Path) -> None:
    name = "cli/d5-99f72ee73a-0.jsonl"
    with holdfast.open(tmp_path / "store.db") as hf:
        (report,) = bring(hf, HOME / name)
        (id,) = report.sessions
        found = {part.line for part in parts(hf.session(id)) if isinstance(part, Record)}
        messages = [e for e in hf.session(id).entries() if isinstance(e.body, Message)]
    assert found == set(range(1, len((HOME / name).read_bytes().splitlines()) + 1))
    assert len(messages) == report.messages
    assert not [item for item in told(name) if isinstance(item, Problem)]
