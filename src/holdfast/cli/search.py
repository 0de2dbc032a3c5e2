"""`holdfast search`: what was said, wherever it was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import Asked, common, completed, find

if TYPE_CHECKING:
    from rich.table import Table

    from holdfast.engine.doors import Holdfast
    from holdfast.model.search import Hit

ROLES = ("user", "assistant", "tool", "system", "developer")
"""Who may have said it."""

STEP = 1000
"""How many parts are indexed before a terminal is told that it takes a while."""


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--session", metavar="SESSION", default="", shell_complete=completed,
              help="Only in this session.")  # fmt: skip
@click.option("--role", type=click.Choice(ROLES), help="Only what they said.")
@click.option("--limit", metavar="N", type=click.IntRange(1, 10_000), default=20, show_default=True,
              help="How many to show.")  # fmt: skip
@common
def search(
    asked: Asked, query: tuple[str, ...], session: str, role: str | None, limit: int
) -> None:
    """Find what was said: every word of QUERY, in any session."""
    from holdfast.cli.terminal import emit, say

    words = " ".join(query)
    with asked.open() as hf:
        inside = find(hf, session).id if session else ""
        catch_up(hf)
        hits = hf.search(words, session=inside, role=role or "", limit=limit)
        if asked.json:
            for hit in hits:
                emit(as_value(hit))
        elif hits:
            draw(hf, hits)
        else:
            say(f"Nothing is found for {words!r}.")


def catch_up(hf: Holdfast) -> None:
    """Index what was appended since; a terminal is shown how far it is."""
    from rich.progress import Progress, SpinnerColumn, TextColumn

    from holdfast.cli.terminal import console

    done = hf.catch_up(STEP)
    if done < STEP:
        return
    screen = console(error=True)
    words = TextColumn("Indexing · {task.completed:,} parts")
    with Progress(SpinnerColumn(), words, console=screen, transient=True,
                  disable=not screen.is_terminal) as bar:  # fmt: skip
        task = bar.add_task("", total=None, completed=done)
        while step := hf.catch_up(STEP):
            bar.advance(task, step)


def as_value(hit: Hit) -> dict[str, Any]:
    """A hit as JSON: every key, always."""
    return {name: getattr(hit, name) for name in hit.__struct_fields__}


def draw(hf: Holdfast, hits: tuple[Hit, ...]) -> None:
    """A table that fits, and how to open one."""
    from holdfast.cli.listing import shortened
    from holdfast.cli.terminal import console, hint, print_table

    short = shortened(hf, list(dict.fromkeys(hit.session for hit in hits)))
    print_table(table(hits, short, whole=not console().is_terminal))
    best = hits[0]
    hint(f"Open one with  holdfast show {short[best.session]} --at {best.seq}")


def table(hits: tuple[Hit, ...], short: dict[str, str], *, whole: bool) -> Table:
    """Hits as rows; what was said takes what room is left."""
    from rich.table import Table

    from holdfast.cli.terminal import NOTHING, fitted, one_line
    from holdfast.cli.wording import ago, number

    made = Table(box=None, pad_edge=False, expand=not whole, header_style="dim",
                 padding=(0, 2, 0, 0))  # fmt: skip
    made.add_column("session", no_wrap=True, style="cyan")
    made.add_column("entry", no_wrap=True, justify="right")
    made.add_column("when", no_wrap=True)
    made.add_column("role", no_wrap=True)
    made.add_column("what was said", ratio=None if whole else 1, no_wrap=True)
    for hit in hits:
        said = one_line(hit.snippet) if whole else fitted(hit.snippet, 200)
        made.add_row(
            short[hit.session], number(hit.seq), ago(hit.created), hit.role or hit.kind or NOTHING,
            said,
        )  # fmt: skip
    return made
