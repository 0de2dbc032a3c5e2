"""One process that fuzzes one format: `python -m tests.fuzz.child ENGINE FORMAT RUNS SEED FOLDER`.

Rule 1: memory is bounded from outside, as it would be by a machine that has no more.
Rule 2: atheris is told which branches of the importers were taken; the other two see only outcomes.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from random import Random
from typing import Any

MEMORY = 256 << 20
"""How many bytes may be taken beyond what the process has when it begins."""

COVERED = ("holdfast.importers", "holdfast.codecs.anthropic", "holdfast.codecs.openai_responses")


def main(engine: str, name: str, runs: int, seed: int, folder: Path) -> None:
    """Fuzz until so many inputs have been tried."""
    fuzzer: Any = import_module("atheris") if engine == "atheris" else None
    with fuzzer.instrument_imports(include=list(COVERED)) if fuzzer else nullcontext():
        for place in COVERED:
            package = import_module(place)
            for module in walk_packages(package.__path__, f"{place}."):
                import_module(module.name)
    from tests.fuzz.forms import FORMS
    from tests.fuzz.judging import Judge
    from tests.fuzz.ledger import Ledger, Trier

    work = folder / "work"
    work.mkdir(exist_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    tempfile.tempdir = str(folder / "tmp")
    form = FORMS[name]
    seeds = form.seeds
    trier = Trier(Judge(form, work), Ledger(folder / "ledger"), folder / "findings")
    for data in seeds:
        trier(data)
    confine()
    rng = Random(seed)
    ENGINES[engine](form, trier, runs, rng)


def confine(memory: int = MEMORY) -> None:
    """Take no more memory than this, beyond what is taken already."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def blind(form: Any, trier: Any, runs: int, rng: Random) -> None:
    """Mutations of the seeds, and of what came of them, without looking where they lead."""
    from tests.fuzz.mutating import mutated

    held = list(form.starts)
    while trier.ledger.executions < runs:
        data = mutated(form, rng.choice(held), rng)
        trier(data)
        if rng.randrange(20) == 0:
            held = [*form.starts, *held[-30:], data]


def guided(form: Any, trier: Any, runs: int, rng: Random) -> None:
    """Mutations of whatever reached a branch that nothing had reached before."""
    from tests.fuzz.mutating import MOST, mutated

    atheris: Any = import_module("atheris")

    def change(data: bytes, most: int, seed: int) -> bytes:
        choose = Random(seed)
        if choose.randrange(6) == 0:
            return atheris.Mutate(data, most)
        return mutated(form, data, choose)[:most]

    def one(data: bytes) -> None:
        trier(data)
        if trier.ledger.executions >= runs:
            sys.stdout.flush()
            os._exit(0)  # libFuzzer has no other end but its own count, and that is another

    with tempfile.TemporaryDirectory() as corpus:
        for number, data in enumerate(form.starts):
            (Path(corpus) / str(number)).write_bytes(data)
        options = (f"-max_len={MOST}", f"-seed={1 + rng.randrange(1 << 30)}", "-rss_limit_mb=0",
                   "-timeout=100000", "-print_final_stats=0", "-verbosity=0")  # fmt: skip
        atheris.Setup(["fuzz", *options, corpus], one, custom_mutator=change)
        atheris.Fuzz()


def proposed(form: Any, trier: Any, runs: int, rng: Random) -> None:
    """What Hypothesis proposes, in portions: it remembers all of one."""
    from tests.fuzz.proposing import propose

    while (left := runs - trier.ledger.executions) > 0:
        propose(form, trier, min(left, 100), rng.randrange(1 << 32))


ENGINES: dict[str, Callable[[Any, Any, int, Random], None]] = {
    "atheris": guided,
    "hypothesis": proposed,
    "blind": blind,
}

if __name__ == "__main__":
    engine, name, runs, seed, folder = sys.argv[1:]
    main(engine, name, int(runs), int(seed), Path(folder))
