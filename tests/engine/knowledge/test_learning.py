"""Learning from sessions that are there: priced first, resumable, and waiting for approval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.bridge import drive, drive_all
from holdfast.engine.client import Holdfast
from holdfast.engine.knowledge.learning import PIECE, Learning
from holdfast.failpoints import arm, disarm, fail_at
from holdfast.model.message import assistant
from tests.cli.running import run, values
from tests.engine.knowledge.obedient import Obedient

RULE = "Always run the linter before you commit anything."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "p"
    (place / ".git").mkdir(parents=True)
    return place


def talk(hf: Holdfast, project: Path, *said: str) -> str:
    s = hf.session(model="gpt-4o", directory=project)
    for words in said:
        s.user(words)
        s.append(assistant("Understood."))
    return s.id


def learn(hf: Holdfast, project: Path, model: Any, **more: Any) -> list[Any]:
    learning = Learning(hf.engine, str(project))
    return list(drive_all(learning.run("gpt-4o", model, cap=10**12, **more)))


def test_without_a_model_what_recurs_over_sessions_is_proposed(
    tmp_path: Path, project: Path
) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        talk(hf, project, "Fix the parser.", RULE)
        talk(hf, project, "Please always run the linter before you commit anything, again!")
        talk(hf, project, "Never touch the generated files in this project.")
        learning = Learning(hf.engine, str(project))
        (found,) = drive(learning.by_rules())
        assert "linter" in found
        (waiting,) = hf.memory(project).inbox()
        assert (waiting.cause, waiting.reason) == ("learn", "said in 2 sessions")
        assert len(waiting.evidence) == 2
        assert hf.memory(project).notes() == {}
        assert drive(learning.by_rules()) == [], "it is not proposed again"


def test_with_a_model_all_waits_and_nothing_is_read_twice(tmp_path: Path, project: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        talk(hf, project, RULE)
        model = Obedient()
        (one,) = learn(hf, project, model)
        assert one.waiting
        assert not one.kept
        memory = hf.memory(project)
        assert memory.notes() == {}
        assert any(one.reason == "in the user's own words" for one in memory.inbox())
        asked = len(model.asked)
        learn(hf, project, model)
        assert len(model.asked) == asked


def test_own_words_are_kept_at_once_where_that_was_asked_for(tmp_path: Path, project: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        talk(hf, project, RULE)
        (one,) = learn(hf, project, Obedient(), keep=True)
        assert one.kept == 1
        assert any(RULE in one.text for one in hf.memory(project).notes().values())


def test_what_was_interrupted_goes_on_where_it_stood(tmp_path: Path, project: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        said = [f"I always want the check number {n} to be run first." for n in range(PIECE)]
        id = talk(hf, project, *said)
        arm("memory.decided", fail_at(2))
        try:
            with pytest.raises(RuntimeError):
                learn(hf, project, Obedient())
        finally:
            disarm()
        done = drive(hf.engine.store.notes.cursor(id))
        assert done == 2 * PIECE
        first = len(hf.memory(project).inbox())
        learn(hf, project, Obedient())
        texts = [one.text for one in hf.memory(project).inbox()]
        assert len(texts) >= first
        assert len(set(texts)) == len(texts), "nothing waits twice"


def test_what_it_costs_is_told_first_and_agreed_to(tmp_path: Path, project: Path) -> None:
    with holdfast.open() as hf:
        talk(hf, project, RULE, "Fix the parser.")
        found = drive(Learning(hf.engine, str(project)).estimate("gpt-4o"))
        assert (found.sessions, found.entries) == (1, 4)
        assert found.cost
    done = run("memory", "learn", "--model", "gpt-4o", "--project", str(project))
    assert "1 session, 4 entries" in done.stdout
    assert "at most $" in done.stdout
    assert "--yes" in done.stderr


def test_the_command_proposes_by_rules_without_a_model(project: Path) -> None:
    with holdfast.open() as hf:
        talk(hf, project, RULE)
        talk(hf, project, RULE)
    (one,) = values("memory", "learn", "--project", str(project))
    assert one["text"] == RULE
    assert "Nothing recurs" in run("memory", "learn", "--project", str(project)).stdout
