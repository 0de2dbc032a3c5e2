"""Several imports of the same files at the same time: all of it, once, and counted once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.model.log import Summary
from tests.exporters.carried import exported
from tests.importers.looking import bring, calls_of, words
from tests.importers.writing import Transcript, text

MANY = 3


def long(folder: Path, number: int) -> None:
    """A session of several batches, with compactions and calls."""
    told = Transcript(f"5d1a2b3c-0000-4000-8000-{number:012d}")
    for turn in range(700):
        told.user(f"Question {turn} of {number}?")
        told.reply(f"msg_{number}_{turn}", text(f"Answer {turn}."))
        if turn % 300 == 299:
            told.compact(f"Up to {turn}.")
    told.write(folder)


def portable(folder: Path) -> None:
    """The same as portable lines, and one whose entries have keys."""
    with holdfast.open("memory:") as hf:
        bring(hf, folder)
        lines = [exported(hf.session(one.id), raw=True) for one in hf.every_session()]
    for path in folder.iterdir():
        path.unlink()
    (folder / "all.ndjson").write_bytes(b"".join(lines))


def at_once(folder: Path, store: Path) -> list[dict[str, Any]]:
    """What several processes report that import a folder together."""
    command = [sys.executable, "-m", "holdfast.cli", "import", str(folder), "--json"]
    with holdfast.open(store):
        running = [
            subprocess.Popen([*command, "--store", str(store)], stdout=subprocess.PIPE)
            for _ in range(MANY)
        ]
        said = [json.loads(line) for one in running for line in one.communicate()[0].splitlines()]
    assert [one.returncode for one in running] == [0] * MANY
    return said


@pytest.mark.parametrize("form", ["claude-code", "portable"])
def test_what_several_add_is_all_that_is_added(form: str, tmp_path: Path) -> None:
    folder, store = tmp_path / "p", tmp_path / "store.db"
    for number in range(2):
        long(folder, number)
    if form == "portable":
        portable(folder)
    said = at_once(folder, store)
    assert len(said) == MANY * len(list(folder.iterdir()))
    assert [problem for report in said for problem in report["problems"]] == []
    with holdfast.open(store) as hf, holdfast.open("memory:") as other:
        bring(other, folder)
        found = {info.id: words(hf.session(info.id)) for info in hf.every_session()}
        assert found == {info.id: words(other.session(info.id)) for info in other.every_session()}
        logs = [entry for id in found for entry in hf.session(id).entries()]
        added = {
            "entries": len(logs),
            "messages": sum(entry.is_message for entry in logs),
            "compactions": sum(isinstance(entry.body, Summary) for entry in logs),
            "calls": sum(len(calls_of(hf, hf.session(id))) for id in found),
        }
        assert {name: sum(report.get(name, 0) for report in said) for name in added} == added
