"""The rollouts of real people: no crash, no loss, and the same counts as others have."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.importing.transcript_file import FileMaterial
from holdfast.files import Root
from holdfast.importers.codex import Codex
from holdfast.model.log import Summary
from holdfast.model.message import Message, Reasoning, Record, Text, ToolCall, ToolResult
from holdfast.model.reply import Usage
from holdfast.model.transcript_events import (
    CallRead,
    Compacted,
    Kept,
    MessageRead,
    Problem,
    TranscriptEvent,
)
from holdfast.testing import StrictServer
from holdfast.testing.contracts.importer import WINDOWS
from tests.conftest import SHARED_DATA
from tests.importers.looking import bring
from tests.importers.posting import post
from tests.thorough import step

HOME = SHARED_DATA / "transcripts" / "codex"
FILES = sorted(str(path.relative_to(HOME)) for path in HOME.rglob("*.jsonl"))
ROLLOUTS = [name for name in FILES if not name.endswith("history.jsonl")]

FIXTURE = "agent-sessions/small.jsonl"
EXPLAINED = {
    # A fixture made of pieces of many sessions: totals that begin anew, ids that were cut out, and
    # pictures without their bytes.
    FIXTURE: {
        "input_tokens",
        "cached_input_tokens",
        "output_tokens",
        "reasoning_output_tokens",
        "images",
    },
}
"""What differs from the oracle, and why."""

SILENT = {f"agent-sessions/codex_05{n}" for n in ("0_legacy", "1_usage", "2_raw", "3_rate_limit")}
"""Fixtures in which nobody says anything: they make no session."""

needs_data = pytest.mark.skipif(not HOME.is_dir(), reason="recorded data is missing")


@pytest.fixture(scope="module")
def oracle() -> dict[str, Any]:
    return json.loads((SHARED_DATA / "oracle.json").read_text())


def told(name: str) -> list[TranscriptEvent]:
    path = HOME / name
    return list(Codex().read(FileMaterial(Root(path.parent), path.name)))


@needs_data
@pytest.mark.parametrize("name", ROLLOUTS)
def test_what_is_told_agrees_with_the_oracle(name: str, oracle: dict[str, Any]) -> None:
    items, known = told(name), oracle[f"transcripts/codex/{name}"]
    found, wanted = counted(items) | used(items), expected(known)
    differ = {key for key in wanted if found[key] != wanted[key]}
    assert differ == EXPLAINED.get(name, set())
    assert kinds(items) == Counter(known["types"]) or "legacy-meta" in known["types"]
    compactions = [item for item in items if isinstance(item, Compacted)]
    assert [one.before for one in compactions] == [
        one["pre_total_tokens"] for one in known["compactions"]
    ]
    assert not [item for item in items if isinstance(item, Problem) and item.severity == "damaged"]


def expected(known: dict[str, Any]) -> dict[str, int]:
    total = known["total_token_usage"] or {}
    names = ("tool_calls", "tool_outputs", "unanswered", "images", "user_turns", "records")
    usage = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
    return {name: known[name] for name in names} | {name: total.get(name, 0) for name in usage}


def counted(items: list[TranscriptEvent]) -> dict[str, int]:
    said = [part for item in items if isinstance(item, MessageRead) for part in item.message.parts]
    calls = {p.id for p in said if isinstance(p, ToolCall) and p.name != "tool_search"}
    results = [p for p in said if isinstance(p, ToolResult) and p.name != "tool_search"]
    events = [record for record in records(items) if record.type == "event_msg/user_message"]
    return {
        "tool_calls": len(calls),
        "tool_outputs": len({result.call for result in results}),
        "unanswered": len(calls - {result.call for result in results}),
        "images": sum(len(result.media) for result in results),
        "user_turns": len(events),
        "records": len({record.line for record in records(items)}),
    }


def used(items: list[TranscriptEvent]) -> dict[str, int]:
    usage = sum((item.usage for item in items if isinstance(item, CallRead)), Usage())
    return {
        "input_tokens": usage.prompt,
        "cached_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "reasoning_output_tokens": usage.reasoning,
    }


def records(items: list[TranscriptEvent]) -> list[Record]:
    alone = [item.record for item in items if isinstance(item, Kept)]
    beside = [
        r for item in items if isinstance(item, (MessageRead, Compacted)) for r in item.records
    ]
    return [*alone, *beside]


def kinds(items: list[TranscriptEvent]) -> Counter[str]:
    """How many records there are of each kind, whatever has become of them."""
    return Counter({record.line: record.type.split(".content")[0].split(".output")[0]
                    .split(".tools")[0] for record in records(items)}.values())  # fmt: skip


@needs_data
def test_every_file_imports_once_and_every_window_is_accepted(tmp_path: Path) -> None:
    with (
        holdfast.open(tmp_path / "store.db") as hf,
        StrictServer(lambda asked: "Well.", foreign=True) as server,
    ):
        reports = bring(hf, HOME)
        assert {Path(report.path) for report in reports} == {HOME / name for name in FILES}
        empty = {report.path for report in reports if not report.sessions}
        assert empty == {str(HOME / f"{name}.jsonl") for name in SILENT}
        before = {info.id: info.head for info in hf.every_session()}
        assert sum(report.entries for report in bring(hf, HOME)) == 0
        assert {info.id: info.head for info in hf.every_session()} == before
        chosen = list(before)[:: step(4)]
        for id in chosen:
            session = hf.session(id)
            session.user("Go on, please.")
            own = session.info.model or "gpt-5.1"
            for model, format in (*WINDOWS, (own, "openai-responses")):
                post(server, format, session.preview(model=model).request(format))
        assert [asked.rule for asked in server.refused] == []
        assert len(server.asked) == len(chosen) * 5


@needs_data
@pytest.mark.parametrize("name", [n for n in ROLLOUTS if "openprintkit/rollout-2025-10" not in n])
def test_what_is_visible_is_what_codex_would_send(name: str, tmp_path: Path) -> None:
    """By the records themselves: the newest replacement, and the items after it."""
    if name.removesuffix(".jsonl") in SILENT or "drift" in name:
        pytest.skip("nothing is said in it as Codex says it")
    lines = [json.loads(line) for line in (HOME / name).read_text().splitlines() if line.strip()]
    places = [place for place, one in enumerate(lines) if one["type"] == "compacted"]
    base = lines[places[-1]]["payload"]["replacement_history"] if places else []
    later = lines[places[-1] + 1 if places else 0 :]
    items = [one["payload"] for one in later if one["type"] == "response_item"]
    with holdfast.open(tmp_path / "store.db") as hf:
        (report,) = bring(hf, HOME / name)
        entries = list(hf.session(report.sessions[0]).visible())
    summaries = [place for place, entry in enumerate(entries) if isinstance(entry.body, Summary)]
    cut = summaries[-1] if summaries else -1
    assert len(summaries) == bool(places)
    assert [one for e in entries[cut + 1 :] for one in ours(e.body)] == theirs(items)
    kept = [one for e in entries[: max(cut, 0)] for one in ours(e.body)]
    assert Counter(kept) == Counter(theirs(base))
    if name != FIXTURE:  # in which all words are the same
        assert [one for one in kept if is_asked(one)] == [o for o in theirs(base) if is_asked(o)]


def is_asked(one: tuple[str, str]) -> bool:
    return one[0] == "user" and not one[1].startswith(("#", "<"))


def ours(body: Any) -> list[tuple[str, str]]:
    """What a message says, in the words of the wire."""
    assert isinstance(body, Message)
    texts = [part.text for part in body.parts if isinstance(part, Text)]
    calls = [("call", part.id) for part in body.parts if isinstance(part, ToolCall)]
    answers = [("answer", part.call) for part in body.parts if isinstance(part, ToolResult)]
    thoughts = [part for part in body.parts if isinstance(part, Reasoning)]
    assert all(part.text or part.seal for part in thoughts)
    return [*([(body.role, "\n".join(texts))] if texts else []), *calls, *answers]


def theirs(items: list[dict[str, Any]]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for item in items:
        kind = item["type"]
        if kind in ("message", "agent_message"):
            texts = [one["text"] for one in item["content"] if one.get("text")]
            found.append((item.get("role", "user"), "\n".join(texts)))
        elif kind.endswith("_output"):
            found.append(("answer", item["call_id"]))
        elif kind.endswith("_call") and item.get("call_id"):
            found.append(("call", item["call_id"]))
    return found


@needs_data
def test_the_golden_totals_of_another_tracker() -> None:
    golden = json.loads((HOME / "vibecodingtracker/codex.expected.json").read_text())
    (record,) = golden["records"]
    ((model, wanted),) = record["conversationUsage"].items()
    items = told("vibecodingtracker/codex.jsonl")
    total = wanted["total_token_usage"]
    assert used(items) == {name: total[name] for name in used([])}
    assert {item.model for item in items if isinstance(item, CallRead)} == {model}


@pytest.mark.seed("000", 33)
@needs_data
def test_the_prompts_that_were_typed_are_one_session(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "store.db") as hf:
        (report,) = bring(hf, HOME / "openprintkit/history.jsonl")
        assert report.messages == 115
        session = hf.session(report.sessions[0])
        assert session.info.title == "What was typed into Codex"
        first = next(iter(session.visible())).body
        assert isinstance(first, Message)
        assert first.text == "Can we continue from where we left off?"
