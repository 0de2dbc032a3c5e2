"""`python -m tests.faults`: the long form of the board, with progress, a seed and chosen rows."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tests.faults.board import SEED, Tally, Trial, show
from tests.faults.rows import ROWS, scratch


@click.command()
@click.option("--seed", default=SEED, show_default=True, help="Where the workloads begin.")
@click.option("--row", "names", multiple=True, type=click.Choice(list(ROWS)), help="Only this row.")
@click.option("--short", is_flag=True, help="What `make test` runs.")
def main(seed: int, names: tuple[str, ...], short: bool) -> None:
    """Try every fault, and say what became of what was stored."""
    console = Console()
    found: list[tuple[str, Tally]] = []
    columns = (
        TextColumn("{task.description:26}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        for name in names or ROWS:
            found.append((ROWS[name].name, run(name, seed, progress, long=not short)))
    show(console, seed, found)
    sys.exit(not all(tally.passed for _, tally in found))


def run(name: str, seed: int, progress: Progress, *, long: bool) -> Tally:
    task = progress.add_task(ROWS[name].name, total=None)

    def tell(done: int, total: int) -> None:
        progress.update(task, completed=done, total=total)

    with scratch() as folder:
        tally = ROWS[name].run(Trial(folder, seed, long, progress=tell))
    progress.update(task, completed=tally.tried, total=tally.tried)
    return tally


if __name__ == "__main__":
    main()
