"""A crash at any moment of keeping notes: nothing is lost, and nothing is there twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.failpoints import POINTS

EXTRACTION = ("asking", "answered", "decided", "file_written", "before_record")

STAGES = ("rollout_leased", "rollout_kept", "laid_out", "consolidated")
"""Those of test_two_stages.py."""

PROGRAM = """
import os, sys
from holdfast import failpoints
failpoints.arm_from(os.environ)
import holdfast
from holdfast.engine.knowledge.extraction import Limits
from holdfast.model.message import assistant
from tests.engine.knowledge.obedient import Obedient

with holdfast.open(sys.argv[1]) as hf:
    s = hf.session("s", create=True, model="gpt-4o", directory=sys.argv[2], summariser=Obedient())
    if not s.info.head:
        for words in ("I always want the tests run against a real database.",
                      "We use the cluster kestrel for staging."):
            s.user(words)
            s.append(assistant("Understood."))
    made = hf.memory(sys.argv[2]).extract(s, Limits(cap=10**12))
    assert not made.error, made
"""

ROOT = Path(__file__).resolve().parents[3]


def run(store: Path, project: Path, failing: str = "") -> int:
    env = {**os.environ, "HOLDFAST_FAILPOINTS": failing, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(store), str(project)], env=env, timeout=100,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, -9), done.stderr.decode()
    return done.returncode


def state(hf: Holdfast, project: Path) -> tuple[list[str], list[str], int]:
    """The notes, the changes that made them, and how far the session was read."""
    memory = hf.memory(project)
    texts = [one.note.body.splitlines()[0] for one in memory.notes().values()]
    made = [one.file for one in memory.history()]
    return sorted(texts), sorted(made), holdfast_cursor(hf)


def holdfast_cursor(hf: Holdfast) -> int:
    from holdfast.engine.bridge import drive

    return drive(hf.session("s").store.notes.cursor("s"))


@pytest.mark.seed("004", 118, 129)
@pytest.mark.parametrize("when", [1, 2])
@pytest.mark.parametrize("point", EXTRACTION)
def test_after_a_crash_an_extraction_is_done_once(tmp_path: Path, point: str, when: int) -> None:
    project, store = tmp_path / "p", tmp_path / "log.db"
    (project / ".git").mkdir(parents=True)
    crashed = run(store, project, f"memory.{point}=kill:{when}")
    if when == 1:
        assert crashed == -9, "the point was not passed"
    run(store, project)
    with holdfast.open(store) as hf:
        texts, changes, cursor = state(hf, project)
    assert texts == [
        "I always want the tests run against a real database.",
        "We use the cluster kestrel for staging.",
    ]
    assert len(changes) == 2, "each note was made once"
    assert cursor == 4


def test_every_point_of_an_extraction_is_crashed_at() -> None:
    named = {f"memory.{one}" for one in EXTRACTION}
    named |= {f"memory.{one}" for one in STAGES}
    assert {point for point in POINTS if point.startswith("memory.")} == named


WRITER = """
import sys
import holdfast

store, project, name, many = sys.argv[1:]
with holdfast.open(store) as hf:
    notes = hf.memory(project)
    for n in range(int(many)):
        notes.add(f"{name} says number {n}.", name=f"{name} {n}")
"""


@pytest.mark.parametrize("stores", ["one", "two"])
def test_two_processes_write_one_directory_and_both_edits_survive(
    tmp_path: Path, stores: str
) -> None:
    project = tmp_path / "p"
    (project / ".git").mkdir(parents=True)
    places = {"a": tmp_path / "a.db", "b": tmp_path / ("a.db" if stores == "one" else "b.db")}
    with holdfast.open(places["a"]):
        pass
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(place), str(project), name, "8"])
        for name, place in places.items()
    ]
    assert [one.wait(100) for one in running] == [0, 0]
    with holdfast.open(places["a"]) as hf:
        memory = hf.memory(project)
        assert len(memory.notes()) == 16
        index = memory.index()
        assert all(f"project_{name}_{n}.md" in index for name in "ab" for n in range(8))


def test_of_two_edits_of_one_note_both_survive(tmp_path: Path) -> None:
    """The one that comes late waits for approval."""
    from holdfast.engine.bridge import drive
    from holdfast.engine.knowledge.notes import Decided

    with holdfast.open(tmp_path / "log.db") as hf:
        memory = hf.memory(tmp_path)
        first = memory.add("We deploy on Mondays.", name="deploys")
        memory.edit(first.file, first.text.replace("Mondays", "Fridays"))
        late = Decided(
            file=first.file, text=first.text.replace("Mondays", "Sundays"), before=first.text,
            cause="extraction",
        )  # fmt: skip
        drive(memory.inner.decide([late]))
        assert "Fridays" in memory.note(first.file).text
        (waiting,) = memory.inbox()
        assert "Sundays" in waiting.text
        assert "meanwhile" in waiting.reason
        memory.accept(waiting.id)
        assert "Sundays" in memory.note(first.file).text
