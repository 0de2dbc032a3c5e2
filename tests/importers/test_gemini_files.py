"""Gemini CLI's files of real people: no crash, no loss, the same counts as others have."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.importing.transcript_file import FileMaterial
from holdfast.files import Root
from holdfast.importers.gemini_cli import GeminiCli
from holdfast.model.message import Reasoning, Record, ToolCall, ToolResult
from holdfast.model.reply import Usage
from holdfast.model.transcript_events import (
    CallRead,
    Kept,
    MessageRead,
    Problem,
    SessionStarted,
    TranscriptEvent,
)
from holdfast.testing.contracts.importer import WINDOWS
from tests.conftest import SHARED_DATA
from tests.importers.looking import bring, parts, texts

HOME = SHARED_DATA / "transcripts" / "gemini"
FILES = sorted(
    str(path.relative_to(HOME))
    for path in HOME.rglob("*.json*")
    if not path.name.endswith(".expected.json")
)

needs_data = pytest.mark.skipif(not HOME.is_dir(), reason="recorded data is missing")


def told(name: str) -> list[TranscriptEvent]:
    path = HOME / name
    return list(GeminiCli().read(FileMaterial(Root(path.parent), path.name)))


def left(items: list[TranscriptEvent]) -> list[Record]:
    """The records that are kept, whatever they stand with."""
    kept = [item.record for item in items if isinstance(item, Kept)]
    return [
        *kept,
        *(record for item in items if isinstance(item, MessageRead) for record in item.records),
    ]


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_what_is_told_agrees_with_the_oracle(name: str) -> None:
    known = json.loads((SHARED_DATA / "oracle.json").read_text()).get(f"transcripts/gemini/{name}")
    if known is None:
        pytest.skip("the oracle does not know it")
    items = told(name)
    assert not [item for item in items if isinstance(item, Problem)]
    (begun,) = [item for item in items if isinstance(item, SessionStarted)]
    assert begun.native == known["session"]
    kinds = Counter(ids(items).values())
    assert (dict(kinds), kinds.total()) == (known["types"], known["messages"])
    said = [part for item in items if isinstance(item, MessageRead) for part in item.message.parts]
    results = [part for part in said if isinstance(part, ToolResult)]
    assert sum(isinstance(part, ToolCall) for part in said) == known["tool_calls"]
    assert sum(not part.error for part in results) == known["tool_status"].get("success", 0)
    assert sum(isinstance(part, Reasoning) for part in said) == known["thoughts"]
    used = [item.usage for item in items if isinstance(item, CallRead)]
    assert sum(one.prompt for one in used) == known["tokens_in"]
    assert sum(one.output - one.reasoning for one in used) == known["tokens_out"]


def ids(items: list[TranscriptEvent]) -> dict[str, str]:
    """The messages that a file holds, by id, as they call themselves."""
    found: dict[str, str] = {}
    for record in left(items):
        fields: Any = json.loads(record.data)
        if "id" in fields:
            found[fields["id"]] = fields["type"]
    return found


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_it_imports_whole_once_and_goes_on_anywhere(name: str) -> None:
    with holdfast.open("memory:") as hf:
        (report,) = bring(hf, HOME / name)
        assert not report.troubles
        (id,) = report.sessions
        session = hf.session(id)
        many = len(list(session.entries()))
        assert many >= report.messages > 0
        session.user("Go on, please.")
        for model, format in WINDOWS:
            assert session.preview(model=model).request(format)
        fork = list(bring(hf, HOME / name))
        assert fork[0].unchanged
        values = [part for part in parts(session) if isinstance(part, Record)]
        assert {record.owner for record in values} == {"gemini-cli"}


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_every_value_of_a_file_is_somewhere_in_what_is_told(name: str) -> None:
    """Every text in the file is in a part or in a record."""
    items = told(name)
    there = {text for record in left(items) for text in texts(json.loads(record.data))}
    for item in items:
        if isinstance(item, MessageRead):
            for part in item.message.parts:
                there |= {part.output} if isinstance(part, ToolResult) else set()
                there |= {getattr(part, "text", "")}
                there |= set(texts(part.fields)) if isinstance(part, ToolCall) else set()
                there |= {part.id, part.name} if isinstance(part, ToolCall) else set()
    there |= {"image/png", "AAAA"}  # a picture is a part of its own
    data = (HOME / name).read_text()
    values = map(json.loads, data.splitlines()) if name.endswith(".jsonl") else [json.loads(data)]
    wanted = {text for value in values for text in texts(value)}
    assert not {text for text in wanted - there if not any(text in one for one in there)}


@needs_data
def test_totals_agree_with_the_tracker_s_golden() -> None:
    golden = json.loads((HOME / "vibecodingtracker" / "gemini.expected.json").read_text())
    wanted = golden["records"][0]["conversationUsage"]
    found: dict[str, Usage] = {}
    for item in told("vibecodingtracker/gemini.jsonl"):
        if isinstance(item, CallRead):
            found[item.model] = found.get(item.model, Usage()) + item.usage
    assert found.keys() == wanted.keys()
    for model, used in found.items():
        assert used.total == pytest.approx(wanted[model]["total_tokens"], rel=0.01)
        assert used.cache_read == wanted[model]["cache_read_input_tokens"]
        assert used.reasoning == wanted[model]["thoughts_tokens"]
        assert used.output - used.reasoning == wanted[model]["output_tokens"]


@needs_data
@pytest.mark.parametrize(
    "name", ["agent-sessions/jsonl_v040.jsonl", "agent-sessions/small.json"]
)  # fmt: skip
def test_cut_at_any_byte_what_is_whole_is_told(name: str, tmp_path: Path) -> None:
    data = (HOME / name).read_bytes()
    path = tmp_path / Path(name).name
    whole = [item for item in told(name) if isinstance(item, MessageRead)]
    said: list[MessageRead] = []
    for length in range(len(data)):
        path.write_bytes(data[:length])
        items = list(GeminiCli().read(FileMaterial(Root(tmp_path), path.name)))
        said = [item for item in items if isinstance(item, MessageRead)]
        ends = [
            length >= data.find(b'"%b"' % item.native.partition("#")[0].encode()) for item in whole
        ]
        assert len(said) <= sum(ends)
        assert [item.native for item in said] == [item.native for item in whole[: len(said)]]
    assert len(said) >= len(whole) - 1
