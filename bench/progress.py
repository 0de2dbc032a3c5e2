"""Bars that show how far a benchmark is; silent where nobody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Stage = Callable[[str, int], Callable[[], None]]
"""Begins a stage of so many steps; what it returns says that one step is done."""


def silent(title: str, steps: int) -> Callable[[], None]:
    """A stage that shows nothing."""
    return lambda: None


@contextmanager
def bars() -> Iterator[Stage]:
    """Stages drawn one below the other."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=2) as shown:

        def stage(title: str, steps: int) -> Callable[[], None]:
            task = shown.add_task(title, total=steps)
            return lambda: shown.advance(task)

        yield stage
