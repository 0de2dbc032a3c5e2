"""`python -m tests.fuzz`: every importer against inputs that mean harm; a table, and findings.

The long form is a million executions. `--replay FILE` reads a finding again and says what happens.
"""

from __future__ import annotations

import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from tests.fuzz.board import Score, run, shares
from tests.fuzz.forms import FORMS
from tests.fuzz.judging import Judge

COLUMNS = ("format", "executions", "by", "refused", "crashes", "hangs", "peak MiB", "per s")
FINDINGS = Path("fuzz-findings")
QUICK = Path("/dev/shm")
"""Where files cost no disk, on systems that have it."""


@click.command()
@click.option("--executions", default=1_000_000, show_default=True, help="Over all formats.")
@click.option("--format", "forms", multiple=True, type=click.Choice(list(FORMS)))
@click.option(
    "--engine",
    "engines",
    multiple=True,
    type=click.Choice(["atheris", "hypothesis", "blind"]),
    help="atheris and hypothesis if left out; blind is our own mutations, unguided.",
)
@click.option("--seed", default=1, show_default=True)
@click.option("--jobs", default=2, show_default=True, help="How many processes at the same time.")
@click.option("--findings", type=click.Path(path_type=Path), default=FINDINGS, show_default=True)
@click.option("--replay", type=click.Path(path_type=Path, exists=True), help="Read this again.")
def main(
    executions: int, forms: tuple[str, ...], engines: tuple[str, ...], seed: int, jobs: int,
    findings: Path, replay: Path | None,
) -> None:  # fmt: skip
    """Fuzz the importers, and say what came of it."""
    if replay:
        sys.exit(again(replay))
    engines = engines or ("atheris", "hypothesis")
    if "atheris" in engines and not find_spec("atheris"):
        raise click.ClickException(
            "atheris is not installed here: `make fuzz` brings it; "
            "--engine blind --engine hypothesis goes without it"
        )
    console = Console(width=None if sys.stdout.isatty() else 120)
    tasks = shares(executions, list(forms or FORMS), list(engines), seed)
    scores: list[Score] = []
    told = 0
    place = QUICK if QUICK.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="holdfast-fuzz-", dir=place) as folder:
        for event in run(tasks, Path(folder), findings, jobs):
            if isinstance(event, Score):
                scores.append(event)
                console.print(" · ".join(_row(event.task.form, [event])), highlight=False)
            elif event - told >= executions // 50:
                told = event
                console.print(f"{event:,} of {executions:,}", highlight=False)
    console.print(table(scores))
    for score in scores:
        for path in score.found:
            console.print(f"python -m tests.fuzz --replay {path}", style="red", markup=False)
    sys.exit(not all(score.fine for score in scores))


def table(scores: list[Score]) -> Table:
    """Every format, its engines together."""
    made = Table(*COLUMNS)
    for form in dict.fromkeys(score.task.form for score in scores):
        own = [score for score in scores if score.task.form == form]
        made.add_row(*_row(form, own), style="" if all(one.fine for one in own) else "red")
    made.add_section()
    made.add_row(*_row("all", scores))
    return made


def _row(form: str, scores: list[Score]) -> tuple[str, ...]:
    executions = sum(one.executions for one in scores)
    engines = dict.fromkeys(one.task.engine for one in scores)
    by = ", ".join(
        f"{engine} {sum(one.executions for one in scores if one.task.engine == engine):,}"
        for engine in engines
    )
    return (
        form, f"{executions:,}", by, f"{sum(one.refused for one in scores):,}",
        f"{sum(one.crashes for one in scores):,}", f"{sum(one.hangs for one in scores):,}",
        f"{max(one.peak for one in scores):,}",
        f"{executions / max(sum(one.seconds for one in scores), 0.001):,.0f}",
    )  # fmt: skip


def again(path: Path) -> int:
    """Read a finding again; whether it still goes wrong."""
    form = next(form for form in FORMS.values() if path.name.startswith(_file(form.name)))
    with tempfile.TemporaryDirectory() as folder:
        outcome = Judge(form, Path(folder))(path.read_bytes())
    print(f"{form.name}: {outcome.verdict}\n{outcome.why}")
    return bool(outcome.why)


def _file(form: str) -> str:
    return f"{form.replace(' ', '_')}-"


if __name__ == "__main__":
    main()
