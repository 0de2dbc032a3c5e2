"""`holdfast import` where not everything may be read: the rest is imported, and it is told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.importers.writing import story

AS_SOMEBODY = [] if os.geteuid() else ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]
"""Root reads everything, unless it gives up what lets it."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A directory of transcripts with one file and one directory that nobody may read."""
    if AS_SOMEBODY and not shutil.which("setpriv"):
        pytest.skip("root reads everything here, and there is no setpriv to give that up")
    place = tmp_path / "p"
    story().write(place, name="a.jsonl")
    story("6d1a2b3c-0000-4000-8000-000000000002").write(place / "shut")
    story("7d1a2b3c-0000-4000-8000-000000000003").write(place / "z")
    closed = story("8d1a2b3c-0000-4000-8000-000000000004").write(place, name="closed.jsonl")
    closed.chmod(0)
    (place / "shut").chmod(0)
    yield place
    (place / "shut").chmod(0o700)


def imported(*words: str) -> subprocess.CompletedProcess[str]:
    """An import by somebody to whom modes apply."""
    command = [*AS_SOMEBODY, sys.executable, "-m", "holdfast.cli", "import", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_what_cannot_be_read_is_a_problem_and_the_rest_is_imported(place: Path) -> None:
    done = imported(str(place))
    assert "26 entries new" in done.stdout, done.stdout + done.stderr
    assert "2 problems" in done.stdout
    assert f"{place / 'shut'}: this directory cannot be read" in done.stdout
    assert f"{place / 'closed.jsonl'}: it cannot be read (Permission denied)" in done.stdout
    assert "Left aside" not in done.stdout
    assert done.returncode == 1


def test_a_program_is_told_the_same(place: Path) -> None:
    done = imported(str(place), "--agent", "claude-code", "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    troubled = {Path(one["path"]).name for one in told if one["troubles"]}
    assert troubled == {"shut", "closed.jsonl"}
    assert sum(one["entries"] for one in told) == 26
    assert done.returncode == 1


def test_a_path_that_was_named_may_be_closed_too(place: Path) -> None:
    done = imported(str(place / "closed.jsonl"), str(place / "shut"), str(place / "a.jsonl"))
    assert done.returncode == 1
    assert "13 entries new" in done.stdout
