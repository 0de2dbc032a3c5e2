"""A store, a portable export and a policy file that an earlier version wrote behave the same."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import Holdfast, Session

OLD = Path(__file__).parent / "old"
TOLD: dict[str, Any] = json.loads((OLD / "expected.json").read_text("utf-8"))
TOOL = {
    "name": "bash",
    "description": "Run a command.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
}
GIVEN: dict[str, Any] = {
    "system": "You are a careful engineer.",
    "tools": [TOOL],
    "instructions": "Use tabs.",
}
"""What the earlier version gave its windows."""


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    path = tmp_path / "log.db"
    path.write_bytes(lzma.decompress((OLD / "log.db.xz").read_bytes()))
    path.chmod(0o600)
    with holdfast.open(path) as opened:
        yield opened


@pytest.fixture
def s(hf: Holdfast) -> Session:
    return hf.session(TOLD["id"])


def entries(s: Session) -> list[list[Any]]:
    return [[entry.seq, entry.id, type(entry.body).__name__] for entry in s.entries()]


def test_every_entry_of_an_old_store_is_there(s: Session) -> None:
    assert entries(s) == TOLD["entries"]
    assert [entry.seq for entry in s.visible()] == TOLD["view"]
    assert s.cost == TOLD["cost"]


def test_the_next_window_of_an_old_store_is_the_one_it_would_have_been(s: Session) -> None:
    made = s.preview(**GIVEN)
    assert made.request("anthropic") == TOLD["request"]
    assert made.tokens == TOLD["tokens"]
    assert s.window(**GIVEN).request("anthropic") == TOLD["request"]


def test_old_calls_are_rebuilt_as_they_were_sent(s: Session) -> None:
    told = [s.explain(seq) for seq in TOLD["seqs"]]
    assert [one.matches for one in told] == TOLD["matches"] == [True, True]
    assert [one.tokens for one in told] == TOLD["explained"]


def test_the_facts_of_an_old_store_are_the_same(s: Session) -> None:
    known = s.ledger()
    assert [one.text for one in known.constraints] == TOLD["constraints"]
    assert sorted(known.files) == TOLD["files"]
    assert len(known.commands) == TOLD["commands"]


def test_what_was_said_in_an_old_store_is_found(hf: Holdfast) -> None:
    assert {*TOLD["search"]} <= {hit.seq for hit in hf.search("part_3.py")}


def test_an_old_compaction_is_undone_and_done_again(s: Session) -> None:
    before = [entry.seq for entry in s.visible()]
    s.undo()
    assert [entry.seq for entry in s.visible()] != before
    s.redo()
    assert [entry.seq for entry in s.visible()] == before


def test_an_old_portable_export_is_the_same_session(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "new.db") as hf:
        (report,) = hf.import_from(OLD / "portable.jsonl")
        assert not report.problems
        s = hf.session(*report.sessions)
        assert entries(s) == TOLD["entries"]
        assert [entry.seq for entry in s.visible()] == TOLD["view"]
        assert s.preview(**GIVEN).request("anthropic") == TOLD["request"]


def test_an_old_policy_file_says_the_same(hf: Holdfast, s: Session) -> None:
    path = str(OLD / "careful.toml")
    read = hf.catalogue.policy(path).budget
    assert (read.output_reserve, read.pins_fraction) == (TOLD["policy"], TOLD["pins_fraction"])
    assert s.preview(**GIVEN, policy=path).window.budget.room == TOLD["by_policy"]
