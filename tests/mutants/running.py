"""Runs mutants one after the other in a private copy, and keeps what came of each in a file."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from queue import Queue
from typing import Any

from tests.mutants import tree
from tests.mutants.choosing import Choice
from tests.mutants.operators import Mutant


@dataclass(frozen=True)
class Verdict:
    key: str
    line: int
    state: str
    """caught, survived, unreached or equivalent"""
    by: str = ""
    """The test that failed, or the reason why no test can."""
    seconds: float = 0.0

    @property
    def package(self) -> str:
        return self.key.split("/")[2].split("|")[0]


class Judge:
    """A process that runs tests in a copy; warm, where it has collected test files beforehand."""

    def __init__(self, root: Path, files: Sequence[str] = ()) -> None:
        self._process = subprocess.Popen(
            [tree.interpreter(root), "-m", "tests.mutants.judge", *files],
            cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )  # fmt: skip
        self._heard()  # until then it reads the source, and no mutant may be there

    def _heard(self) -> str:
        assert self._process.stdout
        if not (line := self._process.stdout.readline()):
            raise RuntimeError("the process that runs the tests has died; see what it said above")
        return line

    def ask(self, **question: Any) -> tuple[str, float]:
        """What failed, and how long it took."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._heard())
        return answer["caught"], answer["seconds"]

    def close(self) -> None:
        self._process.communicate()


class Copy:
    """A private copy with the two processes that judge it."""

    def __init__(self, folder: Path, files: Sequence[str]) -> None:
        self.root = tree.copy(folder)
        self._edits = 0
        self._warm = Judge(self.root, files)

    def close(self) -> None:
        self._warm.close()
        if "_cold" in vars(self):
            self._cold.close()

    @cached_property
    def _cold(self) -> Judge:
        """Made where a mutant needs it: few do, and it imports much."""
        return Judge(self.root)

    def run(self, mutant: Mutant, stages: list[list[str]], seconds: float) -> tuple[str, float]:
        """What caught the mutant, and in which time."""
        file = self.root / mutant.path
        source = file.read_bytes()
        mutated = mutant.apply(source)
        try:
            self._write(file, mutated)
            if mutant.inside:
                graft = {"file": str(file), "source": source.decode(), "mutated": mutated.decode()}
                found = self._warm.ask(stages=stages, seconds=seconds, mutant=graft)
                if found[0] != "cold":
                    return found
            return self._cold.ask(stages=stages, seconds=seconds)
        finally:
            self._write(file, source)

    def unsteady(self, tests: list[str], seconds: float) -> set[str]:
        """Which of these tests fail without a mutant too."""
        found: set[str] = set()
        while left := [test for test in tests if test not in found]:
            by, _ = self._warm.ask(stages=[left], seconds=seconds)
            if not by:
                break
            found.add(named(by) or left[0])
        return found

    def _write(self, file: Path, source: bytes) -> None:
        """Each edit has a time of its own, so that no compiled module is taken for a newer one."""
        file.write_bytes(source)
        self._edits += 1
        when = 2_000_000_000 + self._edits
        os.utime(file, (when, when))


class Results:
    """A line for each verdict; a run that was broken off goes on where it was."""

    def __init__(self, file: Path, sources: dict[str, bytes]) -> None:
        digest = hashlib.sha256(b"".join(sources.values())).hexdigest()
        self._file = file
        self.verdicts: dict[str, Verdict] = {}
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        if lines and json.loads(lines[0]) == digest:
            for line in lines[1:]:
                verdict = Verdict(**json.loads(line))
                self.verdicts[verdict.key] = verdict
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(digest) + "\n", "utf-8")

    def add(self, verdict: Verdict) -> None:
        self.verdicts[verdict.key] = verdict
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(verdict)) + "\n")


def run(
    mutants: list[Mutant], choice: Choice, folder: Path, *, jobs: int, seconds: float
) -> Iterator[Verdict]:
    """A verdict on each mutant, as they come; at the end again on what an unsteady test caught."""
    files = choice.files([mutant for mutant in mutants if mutant.inside])
    free: Queue[Copy] = Queue()
    for nth in range(jobs):
        free.put(Copy(folder / str(nth), files))
    unsteady: set[str] = set()

    def judged(mutant: Mutant) -> tuple[Mutant, Verdict]:
        stages = choice.tests(mutant, unsteady)
        if not stages:
            return mutant, Verdict(mutant.key, mutant.line, "unreached")
        copy = free.get()
        try:
            by, spent = copy.run(mutant, stages, seconds)
        finally:
            free.put(copy)
        return mutant, Verdict(mutant.key, mutant.line, "caught" if by else "survived", by, spent)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            while mutants:
                caught: dict[str, list[Mutant]] = {}
                for done in as_completed([pool.submit(judged, mutant) for mutant in mutants]):
                    mutant, verdict = done.result()
                    caught.setdefault(named(verdict.by), []).append(mutant)
                    yield verdict
                copy = free.get()
                unsteady |= copy.unsteady([test for test in caught if test], EVERYTHING)
                free.put(copy)
                mutants = [one for test in unsteady for one in caught.get(test, [])]
        finally:
            pool.shutdown(cancel_futures=True)
            while not free.empty():
                free.get().close()


EVERYTHING = 120.0
"""Seconds that all tests which caught something may take together, without a mutant."""


def named(by: str) -> str:
    """The test in what is told of a catch."""
    found = re.search(r"\S+\.py::.*", by)
    return found[0] if found else ""
