"""Real histories of Aider, Pi and Copilot CLI: whole, once, and ready to be gone on with."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast
from holdfast.engine.importing import discovery
from holdfast.engine.importing.source import Importing
from holdfast.engine.importing.transcript_file import FileMaterial
from holdfast.engine.plugins import importer
from holdfast.files import Root
from holdfast.model.message import Record, ToolCall, ToolResult
from holdfast.model.reply import Usage
from holdfast.model.transcript_events import CallRead, MessageRead, SessionStarted
from holdfast.testing import StrictServer
from tests.conftest import SHARED_DATA
from tests.engine.test_sdks import CLIENTS, script
from tests.importers.looking import bring, log, parts
from tests.thorough import share, step

PLACES = {"aider": "aider", "other-pi": "pi", "other-copilot": "copilot-cli"}
FILES = [
    (name, path.relative_to(SHARED_DATA))
    for place, name in PLACES.items()
    for path in sorted((SHARED_DATA / "transcripts" / place).rglob("*"))
    if path.suffix in (".md", ".jsonl")
]
SMALLEST = {
    "aider": "aider/ai-text-detector/aider.chat.history.md",
    "pi": "other-pi/agent-sessions/small.jsonl",
    "copilot-cli": "other-copilot/agent-sessions/schema_drift.jsonl",
}

CUTS = 3_000
"""How many cuts are made, over the whole of a file: each is read from its beginning."""

real = pytest.mark.parametrize(("name", "path"), FILES, ids=lambda value: str(value))


def sessions(hf: Holdfast) -> list[Any]:
    return [hf.session(one.id) for one in hf.every_session()]


@real
def test_a_real_file_is_imported_once_and_whole(
    name: str, path: Path, shared_data: Path, tmp_path: Path
) -> None:
    with holdfast.open(tmp_path / "store.db") as hf:
        (first,) = bring(hf, shared_data / path)
        assert first.importer == name
        assert [problem for problem in first.problems if problem.severity != "notice"] == []
        before = [log(session) for session in sessions(hf)]
        (again,) = bring(hf, shared_data / path)
        assert again.unchanged
        source = discovery.Source(name, str((shared_data / path).parent), path.name)
        read = drive(Importing(hf.engine, source).run(again=True))
        assert (read.entries, read.messages, read.calls) == (0, 0, 0)
        assert [log(session) for session in sessions(hf)] == before


@real
@pytest.mark.filterwarnings("ignore")  # the SDKs' own
def test_every_provider_takes_what_was_imported(
    name: str, path: Path, shared_data: Path, tmp_path: Path
) -> None:
    with holdfast.open(tmp_path / "store.db") as hf, StrictServer(script) as server:
        bring(hf, shared_data / path)
        for session in sessions(hf)[:: step(4)]:
            session.user("Go on, please.")
            for format, (model, connect, method) in CLIENTS.items():
                with connect(server) as client:
                    method(client)(**session.preview(model=model).request(format))
        assert server.refused == []


@real
def test_a_growing_file_ends_as_the_whole_one(
    name: str, path: Path, shared_data: Path, tmp_path: Path
) -> None:
    data = (shared_data / path).read_bytes()
    lines = data.splitlines(keepends=True)
    file = tmp_path / path.name
    with holdfast.open(tmp_path / "grown.db") as hf:
        for share in (0.2, 0.5, 0.77, 1):
            file.write_bytes(b"".join(lines[: max(round(len(lines) * share), 1)]))
            bring(hf, file)
        seen = [[entry.native for entry in one.visible()] for one in sessions(hf)]
        used = drive(hf.engine.store.calls.spent())
    with holdfast.open(tmp_path / "whole.db") as hf:
        bring(hf, file)
        assert [[entry.native for entry in one.visible()] for one in sessions(hf)] == seen
        assert drive(hf.engine.store.calls.spent()) == used


@pytest.mark.parametrize("name", SMALLEST)
def test_cut_all_over_it_is_read_to_its_end(name: str, shared_data: Path, tmp_path: Path) -> None:
    data = (shared_data / "transcripts" / SMALLEST[name]).read_bytes()
    file = tmp_path / "cut.jsonl"
    told = 0
    for length in range(0, len(data), max(len(data) // share(CUTS, 5), 1)):
        file.write_bytes(data[:length])
        items = list(importer(name).read(FileMaterial(Root(tmp_path), file.name)))
        said = sum(isinstance(item, MessageRead) for item in items)
        assert said >= told - 1  # of what is cut, no more is missing than what it is cut in
        told = max(told, said)
    assert told


def told_of(path: Path) -> list[Any]:
    (source,) = discovery.find([path])
    root = Root(source.root)
    return list(importer(source.importer).read(FileMaterial(root, source.name)))


@pytest.mark.parametrize("path", [path for name, path in FILES if name == "aider"], ids=str)
def test_aider_agrees_with_what_was_counted(path: Path, shared_data: Path) -> None:
    counted = json.loads((shared_data / "oracle.json").read_text())[str(path)]
    text = (shared_data / path).read_text(encoding="utf-8")
    told = told_of(shared_data / path)
    said = [item.message for item in told if isinstance(item, MessageRead)]
    replies = [message.text for message in said if message.role == "assistant"]
    own = [m for m in said if m.role == "user" and not m.parts[0].scaffold]  # type: ignore[union-attr]
    headings = len(re.findall(r"^#### .*(?<!  )$", text, re.MULTILINE))  # counted as the user's
    assert sum(isinstance(item, SessionStarted) for item in told) == counted["sessions"]
    assert len(own) == counted["user_blocks"] - headings
    assert sum(m.text.count("\n") + 1 for m in own) == counted["user_lines"] - headings
    blocks = sum(len(re.findall(r"^<<<<<<< SEARCH", reply, re.MULTILINE)) for reply in replies)
    assert blocks == counted["search_replace"]
    quoted = sum(line.startswith("> ") for reply in replies for line in reply.split("\n"))
    assert quoted == 0  # none of the models quoted anything: all of it is the console's
    used = re.findall(r"(\d+) prompt tokens, (\d+) completion tokens, \$([\d.]+)", text)
    calls = [item for item in told if isinstance(item, CallRead)]
    assert [(c.usage.input, c.usage.output) for c in calls] == [
        (int(a), int(b)) for a, b, _ in used
    ]
    assert sum(c.cost or 0 for c in calls) == sum(round(float(c) * 1e9) for *_, c in used)


@pytest.mark.parametrize("path", [path for name, path in FILES if name == "pi"], ids=str)
def test_pi_tells_all_that_stands_in_the_file(
    path: Path, shared_data: Path, tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in (shared_data / path).read_text().splitlines()]
    messages = [line["message"] for line in lines if line["type"] == "message"]
    kinds = Counter(b["type"] for m in messages if m["role"] == "assistant" for b in m["content"])
    with holdfast.open(tmp_path / "store.db") as hf:
        bring(hf, shared_data / path)
        (session,) = sessions(hf)
        found = parts(session)
        assert sum(isinstance(part, ToolCall) for part in found) == kinds["toolCall"]
        answers = sum(message["role"] == "toolResult" for message in messages)
        assert sum(isinstance(part, ToolResult) for part in found) == answers
        assert sum(isinstance(part, Record) for part in found) == len(lines)
        (spent,) = drive(hf.engine.store.calls.spent())
        used = [message["usage"] for message in messages if "usage" in message]
        names = {"input": "input", "output": "output", "cache_read": "cacheRead",
                 "cache_write": "cacheWrite"}  # fmt: skip
        for ours, theirs in names.items():
            assert getattr(spent.usage, ours) == sum(one[theirs] for one in used)
        cost = sum(one["cost"]["total"] for one in used)
        assert spent.cost == pytest.approx(cost * 1e9, abs=len(used))


def test_copilot_agrees_with_another_program_s_totals(shared_data: Path, tmp_path: Path) -> None:
    place = shared_data / "transcripts/other-copilot/vibecodingtracker"
    golden = json.loads((place / "copilot.expected.json").read_text())["records"][0]
    (theirs,) = golden["conversationUsage"].values()
    with holdfast.open(tmp_path / "store.db") as hf:
        bring(hf, place / "copilot.jsonl")
        (session,) = sessions(hf)
        (spent,) = drive(hf.engine.store.calls.spent(by=("model",)))
        assert spent.model == "claude-sonnet-4.6"
        assert spent.usage.prompt == theirs["input_tokens"]  # theirs holds the cache's
        assert spent.usage.cache_read == theirs["cache_read_input_tokens"]
        thought = theirs["reasoning_output_tokens"]  # and they count it beside the output
        assert spent.usage.output == theirs["output_tokens"] + thought
        assert session.info.directory == golden["folderPath"]
        calls = [part for part in parts(session) if isinstance(part, ToolCall)]
        views = [call.fields["path"] for call in calls if call.name == "view"]
        assert sorted(set(views)) == sorted(one["filePath"] for one in golden["readFileDetails"])
        ran = [call.fields["command"] for call in calls if call.name == "bash"]
        assert ran == [one["command"] for one in golden["runCommandDetails"]]


def test_nothing_but_a_history_is_taken_for_one(tmp_path: Path) -> None:
    (tmp_path / ".aider.input.history").write_text("\n# 2026-01-02 03:04:05.0\n+Hello.\n")
    (tmp_path / "README.md").write_text("# A project\n\n> A quote.  \n")
    (tmp_path / "other.jsonl").write_text('{"type": "event", "data": {}}\n')
    assert list(discovery.find([tmp_path])) == []


def test_usage_is_told_in_disjoint_buckets() -> None:
    from holdfast.importers.aider import spent

    line = "Tokens: 12k sent, 1.5k cache write, 9,200 cache hit, 1.2k received. Cost: $0.04 message"
    used = Usage(input=1_300, cache_write=1_500, cache_read=9_200, output=1_200)
    assert spent(line) == (used, 40_000_000)
    assert spent("Tokens: 512 sent, 7 received.") == (Usage(input=512, output=7), None)
    assert spent("Tokens everywhere") == (None, None)


def test_a_head_of_nothing_but_lines_is_looked_at_in_a_moment() -> None:
    for name in SMALLEST:
        for head in (b"\n" * 65_536, b" " * 65_536, b'{"type":"message",' * 3_000):
            assert not importer(name).recognises(head, "a.jsonl")
