"""The short form of `python -m tests.fuzz`, and that it notices what it is there for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from holdfast.importers.codex import Codex
from holdfast.model.message import user
from holdfast.model.transcript_events import MessageRead, SessionStarted, TranscriptEvent
from holdfast.ports import TranscriptFile
from tests.fuzz.__main__ import again
from tests.fuzz.board import Runner, Task, run, shares
from tests.fuzz.forms import FORMS, pack, unpack
from tests.fuzz.judging import Judge, Outcome
from tests.fuzz.ledger import Ledger, Trier
from tests.fuzz.mutating import mutated
from tests.fuzz.proposing import propose

BLIND, PROPOSED = 150, 30

each_form = pytest.mark.parametrize("name", FORMS)


@each_form
def test_nothing_that_stands_in_a_file_is_an_error(name: str, tmp_path: Path) -> None:
    form, rng = FORMS[name], Random(6)
    (tmp_path / "work").mkdir()
    findings = tmp_path / "findings"
    trier = Trier(Judge(form, tmp_path / "work"), Ledger(tmp_path / "ledger"), findings)
    for seed in form.starts:
        trier(seed)
    for _ in range(BLIND):
        trier(mutated(form, rng.choice(form.starts), rng))
    propose(form, trier, PROPOSED, seed=6)
    assert trier.ledger.executions >= len(form.starts) + BLIND + PROPOSED // 2
    assert [path.read_text() for path in findings.glob("*.txt")] == []


@each_form
def test_the_first_seed_is_read_and_the_same_choices_make_the_same_input(
    name: str, tmp_path: Path
) -> None:
    form = FORMS[name]
    assert Judge(form, tmp_path)(form.seeds[0]).verdict == "read"
    one, two = (mutated(form, form.seeds[0], Random(3)) for _ in range(2))
    assert one == two


class Planted(Codex):
    """An importer that does one thing wrong."""

    def __init__(self, wrong: Callable[[], Iterator[TranscriptEvent]]) -> None:
        self._wrong = wrong

    def read(self, material: TranscriptFile) -> Iterator[TranscriptEvent]:
        return self._wrong()


def raises() -> Iterator[TranscriptEvent]:
    yield SessionStarted(native="s")
    raise KeyError("nobody thought of this")


def hangs() -> Iterator[TranscriptEvent]:
    yield SessionStarted(native="s")
    while True:
        pass


def swells() -> Iterator[TranscriptEvent]:
    yield SessionStarted(native="s")
    for _ in range(100):
        yield MessageRead(message=user("x" * 100_000))


def begins_nothing() -> Iterator[TranscriptEvent]:
    yield MessageRead(message=user("Hello."))


def has_no_time() -> Iterator[TranscriptEvent]:
    yield SessionStarted(native="s", created=-5)


@pytest.mark.parametrize(
    ("wrong", "verdict", "why"),
    [
        (raises, "crash", "KeyError"),
        (hangs, "hang", "Hang"),
        (swells, "crash", "bytes are told"),
        (begins_nothing, "crash", "of no session"),
        (has_no_time, "crash", "created is -5"),
    ],
)
def test_the_judge_notices(
    wrong: Callable[[], Iterator[TranscriptEvent]], verdict: str, why: str, tmp_path: Path
) -> None:
    form = FORMS["codex"]
    outcome = Judge(form, tmp_path, Planted(wrong), seconds=0.05)(form.seeds[0])
    assert (outcome.verdict, why in outcome.why) == (verdict, True), outcome.why


def test_what_goes_wrong_is_saved_once_and_can_be_read_again(tmp_path: Path) -> None:
    form, findings = FORMS["codex"], tmp_path / "findings"
    (tmp_path / "work").mkdir()
    judge = Judge(form, tmp_path / "work", Planted(raises))
    trier = Trier(judge, Ledger(tmp_path / "ledger"), findings)
    for seed in form.seeds:
        trier(seed)
    (found,) = (path for path in findings.iterdir() if path.suffix != ".txt")
    assert found.read_bytes() == form.seeds[0]
    assert trier.ledger.crashes == len(form.seeds)
    assert again(found) == 0  # by the importer that has nothing wrong with it


def test_an_input_that_ends_the_process_stands_in_the_ledger(tmp_path: Path) -> None:
    Ledger(tmp_path / "ledger").begin(b"the last one")
    left = Ledger(tmp_path / "ledger")
    assert (left.unfinished, left.executions) == (b"the last one", 0)
    left.end(Outcome("hang", "x"))
    after = Ledger(tmp_path / "ledger")
    assert (after.unfinished, after.executions, after.hangs) == (b"", 1, 1)


@pytest.mark.parametrize("total", [11, 1_000, 1_000_000])
def test_executions_are_shared_to_the_last_one(total: int) -> None:
    tasks = shares(total, list(FORMS), ["atheris", "hypothesis"], 1)
    assert sum(task.runs for task in tasks) == total
    assert {task.form for task in tasks} == {*FORMS}


def test_a_process_is_watched_and_one_that_dies_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = Task("blind", "pi", 20, 1)
    (score,) = [one for one in run([task], tmp_path, tmp_path / "f", 1) if not isinstance(one, int)]
    assert (score.executions, score.fine, score.found) == (20, True, [])
    assert 0 < score.peak < 256
    monkeypatch.setattr("tests.fuzz.board.MOST_DEATHS", 0)
    runner = Runner(Task("nobody", "pi", 20, 1), tmp_path, tmp_path / "f")
    while not runner.poll():
        pass
    assert (runner.score.crashes, runner.score.fine) == (1, False)
    assert "KeyError" in Path(f"{runner.score.found[0]}.txt").read_text()


def test_packed_files_come_out_as_they_went_in() -> None:
    files = {"a/b.json": b"{}\n", "c": b""}
    assert unpack(pack(files)) == files
