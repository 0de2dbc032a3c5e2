"""The short form of the board: every row passes, and catches the mutants it is there to catch."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.stores.sqlite.connection import Sqlite
from holdfast.stores.sqlite.store import SqliteStore
from tests.faults import __main__ as command
from tests.faults.board import SEED, Tally, Trial, Verdict
from tests.faults.rows import ROWS, caught, scratch
from tests.faults.workload import Say, steps

MUTANTS = [(row, mutant) for row in ROWS for mutant in ROWS[row].mutants]


@pytest.mark.parametrize("name", ROWS)
def test_every_fault_is_survived(name: str) -> None:
    with scratch() as folder:
        tally = ROWS[name].run(Trial(folder))
    assert tally.passed, tally.examples
    assert (tally.lost, tally.corrupt, tally.silent) == (0, 0, 0)


@pytest.mark.parametrize(("name", "mutant"), MUTANTS)
def test_a_row_catches_its_mutants(name: str, mutant: str) -> None:
    column = ROWS[name].mutants[mutant]
    with scratch() as folder:
        trial = Trial(folder, store=mutant, enough=lambda tally: caught(column, tally))
        tally = ROWS[name].run(trial)
    assert caught(column, tally), f"{mutant} went unnoticed in {tally.tried} faults"


def test_every_row_has_a_mutant() -> None:
    assert all(row.mutants for row in ROWS.values())


def test_the_usual_append_is_among_what_faults_strike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bool] = []
    attempt = Sqlite.attempt

    def watched(db: Sqlite, sql: str, values: Sequence[Any]) -> bool:
        kept.append(attempt(db, sql, values))
        return kept[-1]

    monkeypatch.setattr(Sqlite, "attempt", watched)
    store = SqliteStore.open(tmp_path / "store.db")
    for step in steps(SEED):
        step.run(store)
    store.close()
    assert kept == [True] * sum(isinstance(step, Say) for step in steps(SEED))


def test_a_deferred_writer_is_locked_out() -> None:
    with scratch() as folder:
        tally = ROWS["crowd"].run(Trial(folder, store="BEGIN for IMMEDIATE"))
    assert "is locked by another process" in tally.examples[0]


@pytest.mark.parametrize(
    ("verdict", "status"), [(Verdict(), 0), (Verdict("it is gone", lost=1), 1)]
)
def test_the_board_ends_well_only_if_every_row_does(
    verdict: Verdict, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(trial: Trial) -> Tally:
        tally = Tally()
        tally.count("a fault", verdict)
        return tally

    monkeypatch.setitem(ROWS, "clock", dataclasses.replace(ROWS["clock"], run=run))
    shown = CliRunner().invoke(command.main, ["--row", "clock", "--seed", "7"])
    assert shown.exit_code == status
    assert "seed 7" in shown.output
    assert ("a fault: it is gone" in shown.output) == bool(status)


def test_a_row_that_tried_nothing_has_not_passed() -> None:
    assert not Tally().passed
