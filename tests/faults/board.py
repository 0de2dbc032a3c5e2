"""The board: one row for each kind of fault, and what became of what was stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

SEED = 20_261_115
EXAMPLES = 5
"""How many failures of a row are told in words."""


def _no_progress(done: int, total: int) -> None:
    pass


def _never(tally: Tally) -> bool:
    return False


@dataclass(frozen=True)
class Trial:
    """How to run a row: from which seed, where, how much of it, and against which store."""

    folder: Path
    seed: int = SEED
    long: bool = False
    store: str = "holdfast"
    """A name in `stores.STORES`: Holdfast's own, or a mutant of it."""
    progress: Callable[[int, int], None] = _no_progress
    enough: Callable[[Tally], bool] = _never
    """When to stop early: a mutant need not be caught twice."""


@dataclass
class Tally:
    """What a row found."""

    tried: int = 0
    survived: int = 0
    lost: int = 0
    """Acknowledged, and not there afterwards."""
    corrupt: int = 0
    """Damaged, or other than what was written."""
    silent: int = 0
    """Success was told without the data, or a failure in words that are not ours."""
    examples: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return self.survived == self.tried > 0

    def count(self, what: str, *verdicts: Verdict) -> None:
        """Count one fault, with everything that was found wrong after it."""
        self.tried += 1
        wrong = [verdict for verdict in verdicts if not verdict.good]
        self.survived += not wrong
        self.lost += sum(verdict.lost for verdict in wrong)
        self.corrupt += any(verdict.corrupt for verdict in wrong)
        self.silent += any(verdict.silent for verdict in wrong)
        for verdict in wrong:
            if len(self.examples) < EXAMPLES:
                self.examples.append(f"{what}: {verdict.why}")

    def add(self, other: Tally) -> None:
        for name in ("tried", "survived", "lost", "corrupt", "silent"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.examples = (self.examples + other.examples)[:EXAMPLES]


@dataclass(frozen=True)
class Verdict:
    """What one look at a store says; empty when all is well."""

    why: str = ""
    lost: int = 0
    corrupt: bool = False
    silent: bool = False

    @property
    def good(self) -> bool:
        return not self.why


GOOD = Verdict()


def show(console: Console, seed: int, rows: Sequence[tuple[str, Tally]]) -> None:
    """Print the board, then what went wrong in words."""
    title = f"fault board · seed {seed}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1))
    table.add_column("fault", no_wrap=True)
    for name in ("tried", "survived", "acked\nand lost", "corrupt", "silent"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name, tally in rows:
        numbers = (tally.tried, tally.survived, tally.lost, tally.corrupt, tally.silent)
        mark = "[green]held[/green]" if tally.passed else "[red]FAILED[/red]"
        table.add_row(name, *(f"{number:,}" for number in numbers), mark)
    console.print(table)
    for name, tally in rows:
        for example in tally.examples:
            console.print(f"{name}: {example}", style="red", markup=False, soft_wrap=True)
