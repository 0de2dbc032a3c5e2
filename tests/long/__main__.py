"""`python -m tests.long`: conversations far past their windows, with every format; a table."""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from holdfast.providers.weights import place
from tests.long import embedded
from tests.long.driving import WHO, Outcome, Trial, play

WINDOWS = (8_192, 32_768, 200_000)
PEERS = ("claude-code", "codex")
COLUMNS = ("format", "window", "policy", "turns", "requests", "refused", "kills", "compactions",
           "followed", "by search", "largest", "s")  # fmt: skip


@click.group(invoke_without_command=True)
@click.option("--turns", default=400, show_default=True)
@click.option("--kills", default=10, show_default=True, help="How often each process is killed.")
@click.option("--seed", default=1, show_default=True)
@click.option("--format", "formats", multiple=True, type=click.Choice(list(WHO)))
@click.option("--window", "windows", multiple=True, type=int)
@click.option("--policy", "policies", multiple=True, help="holdfast everywhere, peers at 32,768.")
@click.option("--jobs", default=2, show_default=True, help="How many at the same time.")
@click.pass_context
def main(
    ctx: click.Context, turns: int, kills: int, seed: int, formats: tuple[str, ...],
    windows: tuple[int, ...], policies: tuple[str, ...], jobs: int,
) -> None:  # fmt: skip
    """Hold long conversations, and say what came of each."""
    if ctx.invoked_subcommand:
        return
    trials = [
        Trial(format=format, window=window, turns=turns, kills=kills, seed=seed, policy=policy)
        for policy in policies or ("holdfast", *PEERS)
        for format in formats or WHO
        for window in windows or (WINDOWS if policy == "holdfast" else WINDOWS[1:2])
    ]
    console = Console(width=None if sys.stdout.isatty() else 170)
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(once, trial) for trial in trials]):
            outcomes.append(done.result())
            told(console, outcomes[-1])
    console.print(table(sorted(outcomes, key=lambda one: trials.index(one.trial))))
    sys.exit(not all(fine(outcome) for outcome in outcomes))


@main.command("embedded")
@click.option("--turns", default=60, show_default=True)
@click.option("--weights", default="", help="A GGUF file; the one that was pulled if left out.")
def talk(turns: int, weights: str) -> None:
    """Talk to the small real model, offline, and say who wrote the summaries."""
    with tempfile.TemporaryDirectory() as folder, embedded.model(weights or place()) as model:
        told = embedded.talk(Path(folder), model, turns, lambda line: print(line, flush=True))
    print("\n".join(told.lines()))


def fine(outcome: Outcome) -> bool:
    """Whether all is well; what other policies forget is theirs to forget, and only shown."""
    if outcome.trial.policy == "holdfast":
        return outcome.fine
    return not outcome.wrong and not outcome.refused


def once(trial: Trial) -> Outcome:
    """One conversation in a directory of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return play(trial, Path(folder))


def told(console: Console, outcome: Outcome) -> None:
    """Say that one is done, and what is wrong with it."""
    cells = zip(COLUMNS, row(outcome), strict=True)
    console.print(" · ".join(f"{name} {cell}" for name, cell in cells), highlight=False)
    for line in (*outcome.wrong[:5], *outcome.refused[:5], *outcome.lost):
        console.print(f"  {line}", markup=False, style="red")


def table(outcomes: list[Outcome]) -> Table:
    """Everything side by side."""
    made = Table(*COLUMNS)
    for one in outcomes:
        made.add_row(*row(one), style="" if fine(one) else "red")
    return made


def row(one: Outcome) -> tuple[str, ...]:
    """One conversation in the words of the table."""
    trial = one.trial
    kinds = ", ".join(f"{many} {kind}" for kind, many in sorted(one.compactions.items()))
    return (
        trial.format, f"{trial.window:,}", trial.policy, f"{one.turns}", f"{one.requests:,}",
        f"{len(one.refused)}", f"{one.kills}", kinds,
        f"{sum(one.followed.values())} of {len(one.followed)}", f"{one.searched}",
        f"{one.largest:,} ({one.largest / trial.window:.0%})", f"{one.seconds:,.0f}",
    )  # fmt: skip


if __name__ == "__main__":
    main()
