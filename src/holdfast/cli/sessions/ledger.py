"""`holdfast ledger`: the exact facts of a session, section by section."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.options import Asked, common, find, session_argument

if TYPE_CHECKING:
    from holdfast.engine.client import Holdfast
    from holdfast.model.ledger import Ledger, Tally

NEWEST, LETTERS = 8, 300
"""How many items of a section a terminal shows, and how much of each, unless all is asked for."""

ENDING = 60
"""An outcome takes fewer letters than this."""

COLOURS = {
    "Open requests": "bold yellow",
    "Interrupted requests": "yellow",
    "Constraints": "cyan",
    "Corrections": "cyan",
    "Files changed": "green",
    "Commands that failed": "red",
    "Problems not resolved": "red",
    "Subtasks running": "yellow",
    "Requests answered": "green",
}
"""Sections by what they say of the session: what waits, what failed, what is done."""


@click.command()
@session_argument
@click.option("--full", is_flag=True, help="Every item in full, as when piped.")
@common
def ledger(asked: Asked, session: str, full: bool) -> None:
    """Show what the log says exactly, by sections."""
    from holdfast.cli.ui.json_values import plain
    from holdfast.cli.ui.terminal import console, emit, say

    with asked.open() as hf:
        found = hf.session(find(hf, session).id)
        _gather(hf, found.id, found.info.head)
        known = found.ledger()
    if asked.json:
        emit(plain(known))
        return
    if not draw(known, whole=full or not console().is_terminal):
        say("Nothing is known of it yet: nobody asked for anything, and no tool was used.")


def _gather(hf: Holdfast, session: str, head: int) -> None:
    """Gather the facts of a session of which nothing was frozen; a terminal shows how far it is."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from holdfast.cli.ui.terminal import console
    from holdfast.engine.client import drive
    from holdfast.engine.inspect.ledger import Ledgers

    known = Ledgers(hf.engine.store, hf.engine.secrets)
    left = drive(known.catch_up(session, head))
    if not left:
        return
    screen = console(error=True)
    words = TextColumn("Gathering facts"), BarColumn(), MofNCompleteColumn()
    with Progress(*words, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("", total=head, completed=head - left)
        while left := drive(known.catch_up(session, head)):
            bar.update(task, completed=head - left)


def draw(known: Ledger, *, whole: bool) -> bool:
    """Print every section that has something to tell; whether any has."""
    from holdfast.cli.ui.terminal import console, hint
    from holdfast.core.ledger.render import sections

    cut = drawn = False
    for title, lines in sections(known):
        if drawn:
            console().print()
        drawn = True
        cut |= _section(title, lines, known.earlier.folded.get(title), whole=whole)
    if cut:
        hint("Shown are the newest of each, shortened; --full shows all.")
    return drawn


def _section(title: str, lines: list[tuple[int, str]], older: Tally | None, *, whole: bool) -> bool:
    """One section; whether anything of it was left out."""
    from rich.text import Text

    from holdfast.cli.ui.format import number
    from holdfast.cli.ui.terminal import console

    many = older.count if older else 0
    style = COLOURS.get(title, "bold")
    console().print(Text.assemble((title, style), (f" · {number(len(lines) + many)}", "dim")))
    if older:
        where = f"#{older.first}–#{older.last}"
        console().print(Text(f"  … {number(many)} older ones are only counted, in {where}", "dim"))
    shown = lines if whole else lines[-NEWEST:]
    if len(shown) < len(lines):
        console().print(Text(f"  … {number(len(lines) - len(shown))} earlier", "dim"))
    cut = [seq for seq, text in shown if _item(seq, text, whole=whole)]
    return bool(cut) or len(shown) < len(lines)


def _item(seq: int, text: str, *, whole: bool) -> bool:
    """One item beside the entry it comes from; whether it was cut."""
    from rich.table import Table
    from rich.text import Text

    from holdfast.cli.ui.terminal import console, neutral, one_line

    if not console().is_terminal:
        console().print(f"  #{seq}  {one_line(text)}", soft_wrap=True)
        return False
    words = text.strip()
    cut = not whole and len(words) > LETTERS
    told = _shortened(words) if cut else neutral(words)
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=8, justify="right", style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(f"#{seq}", Text(told, _colour(words)))
    console().print(grid)
    return cut


def _shortened(text: str) -> str:
    """The beginning of an item, and how it ended where it says so."""
    from holdfast.cli.ui.terminal import one_line

    beginning, arrow, ended = text.rpartition(" → ")
    if arrow and len(ended) < ENDING < len(beginning):
        return f"{one_line(text[: LETTERS - ENDING])} … → {one_line(ended)}"
    return f"{one_line(text[:LETTERS])}…"


def _colour(text: str) -> str:
    """How an item is coloured by the status it ends or begins with."""
    for mark, style in (
        ("→ failed", "red"),
        ("→ refused", "red"),
        ("→ interrupted", "yellow"),
        ("[completed]", "green"),
        ("[in_progress]", "yellow"),
        ("[cancelled]", "dim"),
    ):
        if mark in text:
            return style
    return ""
