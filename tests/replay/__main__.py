"""`python -m tests.replay`: every transcript under every policy in every window, with a table."""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from holdfast.policies import names
from tests.conftest import SHARED_DATA
from tests.faults.processes import scattered
from tests.replay.playing import WINDOWS, Outcome, Trial, play, sessions


@click.command()
@click.option("--policy", "policies", multiple=True, help="Only this policy.")
@click.option("--window", "windows", multiple=True, type=int, help="Only this window, in tokens.")
@click.option("--every", default=1, show_default=True, help="Take every so many-th transcript.")
@click.option("--processes", default=0, help="At most so many at once; 0: one a core.")
def main(policies: tuple[str, ...], windows: tuple[int, ...], every: int, processes: int) -> None:
    """Live through real transcripts, and say what went wrong."""
    if not SHARED_DATA.is_dir():
        raise click.ClickException(f"recorded data is missing: {SHARED_DATA}")
    trials = [
        Trial(kind, file, policy, window, temper)
        for (kind, file), policy, window, temper in itertools.product(
            sessions()[::every], policies or names(), windows or WINDOWS, ("", "obeys")
        )
    ]
    found: dict[tuple[str, int], Outcome] = defaultdict(Outcome)
    columns = (TextColumn("replays"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        outcomes = scattered(play, [(trial,) for trial in trials], processes)
        for trial, outcome in zip(trials, progress.track(outcomes, len(trials)), strict=True):
            found[trial.policy, trial.window].add(outcome)
    show(found)
    sys.exit(any(outcome.wrong for outcome in found.values()))


def show(found: dict[tuple[str, int], Outcome]) -> None:
    """Print the table, then what went wrong in words."""
    console = Console(width=max(Console().width, 100))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1))
    table.add_column("policy", no_wrap=True)
    heads = (
        "window",
        "made",
        "refused",
        "summaries",
        "covered\nrequests",
        "retained",
        "hidden",
        "handles",
        "wrong",
    )
    for name in heads:
        table.add_column(name, justify="right", no_wrap=True)
    for (policy, window), one in sorted(found.items()):
        numbers = (window, one.windows, one.refused, one.compactions, one.requests, one.retained)
        numbers = (*numbers, one.hidden, one.own)
        table.add_row(policy, *(f"{number:,}" for number in numbers), f"{len(one.wrong)}")
    console.print(table)
    for what in [what for one in found.values() for what in one.wrong][:20]:
        console.print(what, style="red", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
