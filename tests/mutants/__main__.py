"""`python -m tests.mutants --seed N`: small mistakes in the code, and how many the tests catch.

The first run collects which tests reach which statement, which takes about as long as the suite;
later runs collect only what changed. Results are kept in `.mutants`, and a run that was interrupted
is resumed.
"""

from __future__ import annotations

import difflib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from tests.mutants import equivalents, reach, tree
from tests.mutants.choosing import Choice
from tests.mutants.operators import Mutant
from tests.mutants.running import Results, Verdict, run
from tests.mutants.sampling import PACKAGES, sample

FOLDER = tree.ROOT / ".mutants"
STATES = ("caught", "survived", "unreached", "equivalent")


@click.command()
@click.option("--seed", type=int, required=True, help="Chooses the mutants.")
@click.option("--count", default=300, show_default=True, help="How many, over all packages.")
@click.option("--package", "packages", multiple=True, type=click.Choice(PACKAGES))
@click.option("--jobs", default=1, show_default=True, help="How many at the same time.")
@click.option(
    "--seconds",
    default=20.0,
    show_default=True,
    help="Of tests for each mutant: the nearest of those that reach it, as many as fit.",
)
@click.option("--collect/--no-collect", default=True, show_default=True,
              help="Run new and changed tests first, to see what they reach.")  # fmt: skip
@click.option(
    "--quick", is_flag=True, help="Leave out tests that are slow, and judge by the others."
)
@click.option("--survivors", is_flag=True, help="Try again only what survived before.")
@click.option("--show", is_flag=True, help="Only show the results of an earlier run.")
def main(
    seed: int, count: int, packages: tuple[str, ...], jobs: int, seconds: float, collect: bool,
    quick: bool, survivors: bool, show: bool,
) -> None:  # fmt: skip
    """Try mutants of the current tree, and say which of them no test notices."""
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    sources = tree.sources()
    chosen = sample(sources, seed, count, packages or PACKAGES)
    known = equivalents.load()
    results = Results(FOLDER / f"seed-{seed}.jsonl", sources)
    due = [one for one in chosen if _due(one, results, survivors)]
    for mutant in due:
        if mutant.key in known:
            results.add(Verdict(mutant.key, mutant.line, "equivalent", known[mutant.key]))
    due = [one for one in due if one.key not in known]
    if due and not show:
        if collect:
            reach.collect(FOLDER, jobs, quick=quick)
        choice = Choice(reach.Map(FOLDER), sources, seconds)
        with tempfile.TemporaryDirectory(prefix="holdfast-mutants-") as folder:
            for verdict in run(due, choice, Path(folder), jobs=jobs, seconds=seconds):
                results.add(verdict)
                _say(console, verdict)
    verdicts = [results.verdicts[one.key] for one in chosen if one.key in results.verdicts]
    for mutant in chosen:
        if results.verdicts.get(mutant.key, LEFT).state in ("survived", "unreached"):
            console.print("\n" + difference(mutant, sources[mutant.path]), markup=False)
    console.print(table(verdicts))


LEFT = Verdict("", 0, "left")


def _due(mutant: Mutant, results: Results, survivors: bool) -> bool:
    state = results.verdicts.get(mutant.key, LEFT).state
    return state in ("survived", "unreached") if survivors else state == "left"


def _say(console: Console, verdict: Verdict) -> None:
    path, function, operator, *_ = verdict.key.split("|")
    words = (
        f"{verdict.state:<9} {verdict.seconds:6.1f} s  {path}:{verdict.line} {function} {operator}"
    )
    console.print(words, verdict.by, markup=False, soft_wrap=True)


def difference(mutant: Mutant, source: bytes) -> str:
    """The mutant as a change to its file, with its key, by which an equivalent one is known."""
    lines: Iterator[str] = difflib.unified_diff(
        source.decode().splitlines(), mutant.apply(source).decode().splitlines(),
        mutant.path, f"{mutant.path} ({mutant.operator} in {mutant.function or 'the module'})",
        lineterm="", n=2,
    )  # fmt: skip
    return "\n".join([*lines, f"key: {mutant.key!r}"])


def table(verdicts: list[Verdict]) -> Table:
    """What came of the mutants of each package; the score leaves out those that are equivalent."""
    made = Table("package", *STATES, "score")
    for package in PACKAGES:
        own = [one for one in verdicts if one.package == package]
        if own:
            made.add_row(*_row(package, own))
    made.add_section()
    made.add_row(*_row("all", verdicts))
    return made


def _row(name: str, verdicts: list[Verdict]) -> list[str]:
    states = Counter(one.state for one in verdicts)
    judged = len(verdicts) - states["equivalent"]
    return [
        name,
        *(str(states[state]) for state in STATES),
        f"{states['caught'] / judged:.1%}" if judged else "",
    ]


if __name__ == "__main__":
    main()
