"""Which tests judge a mutant: those that reach its statement, the nearest first.

A third of the time is for those that see little else, a third for the near ones that see most, and
what is left for any that see most: a whole session may tell what no test beside it does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from tests.mutants.operators import Mutant
from tests.mutants.reach import Map, Test, places

STAGES = (2, 6, 20, 1000)
"""How many test files are collected at a time: most mutants are caught by the first."""


class Choice:
    """Chooses tests out of what each was seen to reach."""

    def __init__(self, reached: Map, sources: dict[str, bytes], seconds: float) -> None:
        self._tests = reached.tests
        self._numbers = reached.places
        self._functions = reached.by_function()
        self._seconds = seconds
        self._places = [
            (place, statement)
            for path, source in sources.items()
            for place, statement in places(path, source, ast.parse(source))
        ]
        self._sizes = {test.name: test.reached.bit_count() for test in self._tests}

    def tests(self, mutant: Mutant, without: Collection[str] = ()) -> list[list[str]]:
        """The names of tests, in stages, as many as fit the seconds that a mutant is given."""
        bits = self._bits(mutant)
        near = sorted(
            (
                one for one in self._tests
                if one.reached & bits and one.name not in without
            ),
            key=lambda test: (_distance(mutant, test), self._sizes[test.name], test.name),
        )  # fmt: skip
        third = self._seconds / 3
        chosen = _fitting(near, third)
        rest = [one for one in near if one not in chosen]
        rest.sort(key=lambda test: (_distance(mutant, test), -self._sizes[test.name]))
        chosen += _fitting([one for one in rest if one.seconds <= third / 2], third, not chosen)
        rest = [one for one in rest if one not in chosen]
        rest.sort(key=lambda test: -self._sizes[test.name])
        left = self._seconds - sum(one.seconds for one in chosen)
        return _stages([*chosen, *_fitting(rest, left, not chosen)])

    def files(self, mutants: Sequence[Mutant]) -> list[str]:
        """The test files that any of them needs."""
        stages = (stage for mutant in mutants for stage in self.tests(mutant))
        return sorted({test.partition("::")[0] for stage in stages for test in stage})

    def _bits(self, mutant: Mutant) -> int:
        """The places whose tests can tell the mutant from the source."""
        if not mutant.function or mutant.statement.startswith("class "):
            return self._mentions(mutant)
        bits = 0
        for place, number in self._numbers.items():
            if place[:3] == (mutant.path, mutant.function, mutant.statement):
                bits |= 1 << number
        return bits or self._functions.get((mutant.path, mutant.function)) or self._mentions(mutant)

    def _mentions(self, mutant: Mutant) -> int:
        """What is bound at the top of a module or a class is reached where its name is used."""
        names = [*re.findall(r"^\w+", mutant.statement), *mutant.function.split(".")]
        word = re.compile(rf"\b({'|'.join(re.escape(name) for name in names if name)})\b")
        bits = 0
        for place, _ in self._places:
            if word.search(place.text):
                bits |= 1 << self._numbers[place] if place in self._numbers else 0
        return bits


def _distance(mutant: Mutant, test: Test) -> tuple[bool, bool]:
    """Tests of the same module come before those of the same package, and these before others."""
    path, file = PurePosixPath(mutant.path), PurePosixPath(test.file)
    words = {path.stem, *(part for part in path.parts[3:-1])}
    module = any(word in file.stem or word in file.parts for word in words)
    return not module, path.parts[2] not in file.parts


def _fitting(tests: list[Test], seconds: float, first: bool = True) -> list[Test]:
    """As many as fit; the first in any case, where that is wanted."""
    chosen: list[Test] = []
    spent = 0.0
    for test in tests:
        if spent + test.seconds <= seconds or (first and not chosen):
            spent += test.seconds
            chosen.append(test)
    return chosen


def _stages(tests: list[Test]) -> list[list[str]]:
    stages: list[list[str]] = [[] for _ in STAGES]
    files: dict[str, int] = {}
    for test in tests:
        nth = files.setdefault(test.file, len(files))
        stage = next(n for n in range(len(STAGES)) if nth < sum(STAGES[: n + 1]))
        stages[stage].append(test.name)
    return [
        sorted(stage, key=lambda name: files[name.partition("::")[0]]) for stage in stages if stage
    ]
