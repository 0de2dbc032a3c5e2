"""The terminal: text that cannot act, colours that switch off, values as JSON, and questions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from holdfast.core.neutralise import neutral

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NOTHING = "–"
"""Stands where there is nothing to show."""

WIDE = 100
"""Columns from which on a table shows every digit."""

ENDLESS = 100_000
"""Columns of a pipe: more than any row has."""


def one_line(text: str) -> str:
    """The same text, neutral and with every run of white space as one blank."""
    return " ".join(neutral(text).split())


def fitted(text: str, width: int) -> str:
    """One line that takes at most `width` columns, whatever script it is in."""
    from rich.cells import cell_len, set_cell_size

    line = one_line(text[: width * 8])
    whole = cell_len(line) <= width and len(text) <= width * 8
    return line if whole else f"{set_cell_size(line, width - 1).rstrip()}…"


def is_narrow() -> bool:
    """Whether it is a terminal too narrow for every digit of a table."""
    screen = console()
    return screen.is_terminal and screen.width < WIDE


def short(name: str, width: int) -> str:
    """A name that fits: of a path its end, of another its beginning."""
    line = one_line(name)
    path = "/" in line or "\\" in line
    return f"…{line[1 - width :]}" if path and len(line) > width else fitted(line, width)


def emit(value: Any) -> None:
    """One value as one line of JSON, in ASCII: whatever text holds, it stays inert."""
    write_line(json.dumps(value, ensure_ascii=True))


def write_line(line: str) -> None:
    """One line for a program, flushed, so that a pipe shows each value as soon as it is known."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def be_tolerant() -> None:
    """Let a terminal that cannot show a character show a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


@lru_cache(maxsize=8)
def _console(stream: Any, plain: bool, columns: str) -> Console:
    from rich.console import Console

    return Console(
        file=stream,
        color_system=None if plain else "auto",
        markup=False,
        highlight=False,
        emoji=False,
    )


def console(*, error: bool = False) -> Console:
    """Where things are printed; without any colour when piped or when NO_COLOR is set."""
    stream = sys.stderr if error else sys.stdout
    plain = bool(os.environ.get("NO_COLOR"))
    return _console(stream, plain, os.environ.get("COLUMNS", ""))


def print_table(table: Table) -> None:
    """A table: as wide as a terminal, and in a pipe as wide as what is in it."""
    from rich.console import Console

    screen = console()
    if not screen.is_terminal:
        screen = Console(file=sys.stdout, width=ENDLESS, color_system=None, markup=False,
                         highlight=False, emoji=False)  # fmt: skip
    screen.print(table)


def say(words: str, style: str = "", *, error: bool = False, whole: bool = False) -> None:
    """A sentence, neutral; a terminal wraps it between words, a pipe takes it as it is.

    What is `whole` is never broken, so that it can be copied. Commands in it are written as they
    can be typed here.
    """
    from rich.text import Text

    from holdfast.cli.ui.format import runnable

    screen = console(error=error)
    screen.print(Text(neutral(runnable(words)), style), soft_wrap=whole or not screen.is_terminal)


def hint(words: str) -> None:
    """What to do next, for whoever sits before a terminal; a pipe is spared it."""
    if console().is_terminal:
        say(words, "dim")


def agreed(question: str) -> bool:
    """Whether a person says yes; where nobody can be asked, an error says what to do."""
    import click

    from holdfast.errors import InvalidRequest

    if not sys.stdin.isatty():
        raise InvalidRequest("nobody can be asked here, so nothing was done; say --yes to go on")
    return click.confirm(question, default=False, err=True, prompt_suffix=", then Enter: ")


@contextmanager
def busy(words: str) -> Iterator[None]:
    """A moving bar, and the time it has taken, while something runs that cannot say how far it is.

    Nothing where there is no terminal.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    screen = console(error=True)
    columns = (TextColumn(words), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        bar.add_task(words, total=None)
        yield
