"""OpenCode's files of real people: no crash, no loss, the same counts as others have."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.importing.discovery import find
from holdfast.engine.importing.transcript_file import FileMaterial
from holdfast.files import Root
from holdfast.importers.opencode import OpenCode
from holdfast.model.message import Record, Text, ToolCall, ToolResult
from holdfast.model.transcript_events import (
    CallRead,
    Cleared,
    Compacted,
    Kept,
    MessageRead,
    Problem,
    SessionStarted,
    TranscriptEvent,
)
from holdfast.testing.contracts.importer import WINDOWS
from tests.conftest import SHARED_DATA
from tests.importers.looking import bring, texts

HOME = SHARED_DATA / "transcripts" / "opencode"
EXPORTS = sorted(
    str(path.relative_to(HOME)) for path in HOME.rglob("*.json") if "storage" not in str(path)
)
needs_data = pytest.mark.skipif(not HOME.is_dir(), reason="recorded data is missing")


def told(path: Path) -> list[TranscriptEvent]:
    (source,) = find([path], ["opencode"])
    with closing(FileMaterial(Root(source.root), source.name)) as material:
        return list(OpenCode().read(material))


def left(items: list[TranscriptEvent]) -> list[Record]:
    """The records that are kept, whatever they stand with."""
    kept = [item.record for item in items if isinstance(item, Kept)]
    held = [item for item in items if isinstance(item, (MessageRead, Compacted))]
    return [*kept, *(record for item in held for record in item.records)]


@needs_data
@pytest.mark.parametrize("name", EXPORTS)
def test_what_is_told_agrees_with_the_oracle(name: str) -> None:
    known = json.loads((SHARED_DATA / "oracle.json").read_text())[f"transcripts/opencode/{name}"]
    items = told(HOME / name)
    assert not [item for item in items if isinstance(item, Problem)]
    (begun,) = [item for item in items if isinstance(item, SessionStarted)]
    assert (begun.native, begun.parent) == (known["session"], known["parent"] or "")
    records = left(items)
    infos = [json.loads(record.data) for record in records if record.type == "message"]
    assert Counter(info["role"] for info in infos) == known["roles"]
    assert len(infos) == known["messages"]
    kinds = Counter(record.type.removeprefix("part/") for record in records)
    assert {kind: kinds[kind] for kind in known["parts"]} == known["parts"]
    errors = {info["error"]["name"] for info in infos if "error" in info}
    assert sorted(errors) == sorted(known["errors"])
    assert statuses(items) == known["tool_status"]
    assert totals(items) == {
        key: known[key] for key in ("pruned_tools", "compactions", "summaries", "cost", "tokens")
    }


def statuses(items: list[TranscriptEvent]) -> dict[str, int]:
    said = [part for item in items if isinstance(item, MessageRead) for part in item.message.parts]
    results = Counter("error" if part.error else "completed" for part in said
                      if isinstance(part, ToolResult))  # fmt: skip
    assert sum(isinstance(part, ToolCall) for part in said) == results.total()
    return dict(results)


def totals(items: list[TranscriptEvent]) -> dict[str, Any]:
    used = [item.usage for item in items if isinstance(item, CallRead)]
    compactions = sum(isinstance(item, Compacted) for item in items)
    return {
        "pruned_tools": sum(len(item.calls) for item in items if isinstance(item, Cleared)),
        "compactions": compactions,
        "summaries": compactions,
        "cost": sum(item.cost or 0 for item in items if isinstance(item, CallRead)),
        "tokens": {
            "input": sum(one.input for one in used),
            "output": sum(one.output - one.reasoning for one in used),
            "reasoning": sum(one.reasoning for one in used),
        },
    }


@needs_data
@pytest.mark.parametrize("name", EXPORTS)
def test_every_text_of_a_file_is_somewhere_in_what_is_told(name: str) -> None:
    items = told(HOME / name)
    there = {text for record in left(items) for text in texts(json.loads(record.data))}
    for item in items:
        there |= {item.text} if isinstance(item, Compacted) else set()
        for part in item.message.parts if isinstance(item, MessageRead) else ():
            there |= {getattr(part, "text", ""), getattr(part, "output", "")}
            there |= set(texts(part.fields)) if isinstance(part, ToolCall) else set()
    assert not set(texts(json.loads((HOME / name).read_text()))) - there


@needs_data
@pytest.mark.parametrize("name", EXPORTS)
def test_it_imports_whole_once_and_goes_on_anywhere(name: str) -> None:
    with holdfast.open("memory:") as hf:
        (report,) = bring(hf, HOME / name)
        assert not report.troubles
        (again,) = bring(hf, HOME / name)
        assert again.unchanged
        session = hf.session(report.sessions[0])
        session.user("Go on, please.")
        for model, format in WINDOWS:
            assert session.preview(model=model).request(format)


@needs_data
def test_the_trees_import_whole() -> None:
    with holdfast.open("memory:") as hf:
        reports = bring(hf, HOME / "agent-sessions")
        assert [report.troubles for report in reports] == [0, 0, 0]
        sessions = {one.title: hf.session(one.id) for one in hf.every_session()}
        assert sessions.keys() == {"OpenCode Small", "OpenCode Large", "OpenCode Drift"}


@needs_data
def test_parts_that_lie_in_one_directory_are_found() -> None:
    items = told(HOME / "agent-sessions/storage_legacy/session/proj_test/ses_s_stage0_drift.json")
    said = [part for item in items if isinstance(item, MessageRead) for part in item.message.parts]
    assert [type(part) for part in said] == [ToolCall, Text, ToolResult]
