"""Processes that fuzz, watched: restarted when they die, ended when they stand still, counted."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from tests.fuzz.judging import Outcome
from tests.fuzz.ledger import Ledger, save

STILL = 120.0
"""After so many seconds without an execution a process hangs where no signal reaches it."""

MOST_DEATHS = 10

LIMIT = 256
"""How many MiB a process may take at its peak."""


class Task(Struct, frozen=True):
    """So many executions of one format, by one engine."""

    engine: str
    form: str
    runs: int
    seed: int

    @property
    def name(self) -> str:
        return f"{self.form.replace(' ', '_')}-{self.engine}"


class Score(Struct):
    """What came of a task."""

    task: Task
    executions: int = 0
    refused: int = 0
    crashes: int = 0
    hangs: int = 0
    peak: int = 0
    """The most memory that a process took, in MiB."""
    seconds: float = 0.0
    found: list[str] = []

    @property
    def fine(self) -> bool:
        enough = self.executions >= self.task.runs
        return enough and not (self.crashes or self.hangs) and self.peak <= LIMIT


def shares(total: int, forms: list[str], engines: list[str], seed: int) -> list[Task]:
    """So many executions over formats and engines; Hypothesis, which is slow, gets a twentieth."""
    weights = {engine: 1 if engine == "hypothesis" else 19 for engine in engines}
    each, more = divmod(total, len(forms))
    made: list[Task] = []
    for number, form in enumerate(forms):
        own = each + (number < more)
        left = own
        for engine in sorted(engines, key=lambda one: weights[one]):
            runs = left if engine == max(engines, key=lambda one: weights[one]) else (
                own * weights[engine] // sum(weights.values()))  # fmt: skip
            left -= runs
            made.append(Task(engine, form, runs, seed))
    return made


class Runner:
    """One task at a time, in a process of its own."""

    def __init__(self, task: Task, folder: Path, findings: Path) -> None:
        self.task, self._folder, self._findings = task, folder / task.name, findings
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self.ledger = Ledger(self._folder / "ledger")
        self.score = Score(task, found=[])
        self._began = time.monotonic()
        self._deaths = 0
        self._process = self._start()
        self._moved, self._seen = time.monotonic(), 0

    def _start(self) -> subprocess.Popen[bytes]:
        task = self.task
        seed = task.seed + self._deaths * 1_000_003
        words = (task.engine, task.form, str(task.runs), str(seed), str(self._folder))
        with (self._folder / "said").open("ab") as said:
            return subprocess.Popen([sys.executable, "-m", "tests.fuzz.child", *words],
                                    stdout=said, stderr=said)  # fmt: skip

    def poll(self) -> bool:
        """Whether it is over; starts it again where a process ended before its time."""
        self.ledger = Ledger(self._folder / "ledger")
        now = time.monotonic()
        if self.ledger.executions != self._seen:
            self._moved, self._seen = now, self.ledger.executions
        code = self._process.poll()
        if code is None:
            if now - self._moved > STILL:
                self._process.kill()
                self._moved = now
            return False
        return self._ended(code)

    def _ended(self, code: int) -> bool:
        if self.ledger.executions >= self.task.runs and code == 0:
            return self._scored()
        self._deaths += 1
        data = self.ledger.unfinished
        kind = "hang" if code == -signal.SIGKILL else "crash"
        said = (self._folder / "said").read_bytes()[-4_000:].decode("utf-8", "replace")
        outcome = Outcome(kind, f"the process ended with {code}\n{said}")
        save(self._folder / "findings", self.task.form, data, outcome)
        self.ledger.end(outcome)
        if self._deaths > MOST_DEATHS:
            return self._scored()
        self._process = self._start()
        return False

    def _scored(self) -> bool:
        score, ledger = self.score, self.ledger
        score.executions, score.refused = ledger.executions, ledger.refused
        score.crashes, score.hangs, score.peak = ledger.crashes, ledger.hangs, ledger.peak
        score.seconds = time.monotonic() - self._began
        for path in sorted((self._folder / "findings").glob("*")):
            self._findings.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, self._findings)
            score.found += [str(self._findings / path.name)] if path.suffix != ".txt" else []
        shutil.rmtree(self._folder)
        return True

    def stop(self) -> None:
        """End it, whatever it is doing."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()


def run(tasks: list[Task], folder: Path, findings: Path, jobs: int) -> Iterator[Score | int]:
    """Every task, so many at the same time: each score as it comes, and executions meanwhile."""
    waiting, running, done = list(tasks), list[Runner](), 0
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Runner(waiting.pop(0), folder, findings))
            time.sleep(0.5)
            for runner in [one for one in running if one.poll()]:
                running.remove(runner)
                done += runner.score.executions
                yield runner.score
            yield done + sum(one.ledger.executions for one in running)
    finally:
        for runner in running:
            runner.stop()
