"""`holdfast search`: what was said, wherever it was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import completions
from holdfast.cli.options import COUNTABLE, Asked, common, completed, find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from holdfast.engine.client import Holdfast
    from holdfast.model.search import Hit, Where

ROLES = ("user", "assistant", "tool", "system", "developer")
"""Who may have said it."""

STEP = 1000
"""How many parts are indexed before a terminal is told that it takes a while."""

NARROWEST = 24
"""Columns that a snippet has at least."""

AROUND = 3
"""How many entries are shown on either side of one that is opened."""

HEADING = ("", "session", "entry", "project", "when", "role")

PROJECT = 14
"""Letters of a project's name, where there is a screen to fit."""


@click.command()
@click.argument("query", nargs=-1)
@click.option("--session", metavar="SESSION", default="", shell_complete=completed,
              help="Only in this session.")  # fmt: skip
@click.option(
    "--project",
    metavar="PATH",
    shell_complete=completions.projects,
    default="",
    help="Only in this project, or its name.",
)
@click.option(
    "--agent",
    metavar="NAME",
    shell_complete=completions.agents,
    default="",
    help="Only imported from this program.",
)
@click.option(
    "--model",
    metavar="NAME",
    shell_complete=completions.models,
    default="",
    help="Only what this model said, as opus.",
)
@click.option("--tool", metavar="NAME", default="", help="Only calls of this tool, and answers.")
@click.option("--path", metavar="PATH", default="", help="Only calls that name this file, and "
              "their answers.")  # fmt: skip
@click.option("--role", type=click.Choice(ROLES), help="Only what they said.")
@click.option("--since", metavar="DAY", default="", help="Only from this day on, as 2026-03-31.")
@click.option("--until", metavar="DAY", default="", help="Only up to this day, and with it.")
@click.option("--prefix", is_flag=True, help="The last word may be the beginning of one.")
@click.option("--any/--exact", default=True, help="Where little has every word, what has some "
              "follows; or never.")  # fmt: skip
@click.option("--meaning", is_flag=True, help="Also what says the same in other words.")
@click.option("--limit", metavar="N", type=click.IntRange(1, 10_000), default=20, show_default=True,
              help="How many to show.")  # fmt: skip
@click.option("--page", metavar="N", type=click.IntRange(1, 10_000), default=1,
              help="The second so many, the third…")  # fmt: skip
@click.option("--open", "opened", metavar="N", type=click.IntRange(1, COUNTABLE),
              help="Show what is around the one of this number.")  # fmt: skip
@click.option("--live", is_flag=True, help="Search while you type; Enter opens what was found.")
@common
def search(
    asked: Asked, query: tuple[str, ...], limit: int, page: int, opened: int | None, live: bool,
    **given: Any,
) -> None:  # fmt: skip
    """Find what was said: every word of QUERY, in any session."""
    from holdfast.cli.ui.terminal import emit, say
    from holdfast.errors import InvalidRequest

    words = " ".join(query)
    if live:
        _live(asked, words, given)
        return
    if not query:
        raise InvalidRequest("search for what? give a word, or say --live and type it")
    with asked.open() as hf:
        where = narrowed(hf, given)
        catch_up(hf, meaning=given["meaning"])
        first = where["offset"] = (page - 1) * limit if opened is None else opened - 1
        where["limit"] = limit + 1 if opened is None else 1
        hits = _hits(hf, words, where, given, asked)
        if opened is None and asked.json:
            for hit in hits[:limit]:
                emit(as_value(hit))
        elif opened is None and hits:
            draw(hf, hits[:limit], first, page + 1 if len(hits) > limit else 0, asked.again)
        elif not hits and not asked.json:
            say(nothing(hf, words, first, prefix=given["prefix"]))
    if hits and opened is not None:
        show_around(asked, hits[0])


def _hits(
    hf: Holdfast, words: str, where: Where, given: dict[str, Any], asked: Asked
) -> tuple[Hit, ...]:
    """What is found. A mistyped word is put right before some of the words will do; and a filter
    that could not fit anything is told."""
    from holdfast.cli.name_filters import check

    exact: Where = {**where, "any": False}
    said = given["meaning"] or hf.search(words, **{**exact, "limit": 1, "offset": 0})
    if not said and (hits := _meant(hf, words, exact, given, asked)):
        return hits
    hits = hf.search(words, meaning=given["meaning"], **where)
    if not hits and not where.get("offset"):
        check(hf, given["project"], given["tool"], given["model"])
    return hits


def _meant(
    hf: Holdfast, words: str, where: Where, given: dict[str, Any], asked: Asked
) -> tuple[Hit, ...]:
    """Where nothing has a word as it is typed: what has the nearest that were said. A program is
    told of them only."""
    from holdfast.cli.ui.terminal import say

    meant = "" if where.get("offset") else hf.respelled(words)
    if not meant:
        return ()
    say(f"Nothing is found for {words!r}; did you mean {meant!r}?", error=True)
    return () if asked.json else hf.search(meant, meaning=given["meaning"], **where)


def _live(asked: Asked, words: str, given: dict[str, Any]) -> None:
    """What is found while somebody types; what they choose is opened."""
    from holdfast.cli.sessions.live_search import check, chosen

    check()
    with asked.open() as hf:
        where = narrowed(hf, given)
        catch_up(hf, meaning=given["meaning"])
        for hit in chosen(hf, words, where, meaning=given["meaning"]):
            show_around(asked, hit)


def narrowed(hf: Holdfast, given: dict[str, Any]) -> Where:
    """The filters that were given, as the library takes them."""
    import os

    from holdfast.cli.days import times
    from holdfast.cli.name_filters import check_agent

    named = ("agent", "model", "tool", "path", "role", "project")
    where: Where = {name: given[name] for name in named if given[name]}  # type: ignore[assignment]
    if given["agent"]:
        check_agent(hf, given["agent"])
    if given["session"]:
        where["session"] = find(hf, given["session"]).id
    if given["project"].startswith("."):
        where["project"] = os.path.abspath(given["project"])
    where["prefix"], where["any"] = given["prefix"], given["any"]
    return where | times(given["since"], given["until"])  # type: ignore[return-value]


def show_around(asked: Asked, hit: Hit) -> None:
    """What was found with what was said before and behind it, as `holdfast show` has it."""
    from holdfast.cli.sessions.show_around import show_around as show
    from holdfast.cli.ui.terminal import console

    full = asked.json or not console().is_terminal
    with asked.open() as hf:
        session = hf.session(hit.session)
        show(asked, session, session.view(str(hit.seq)), AROUND, full=full, sight=sight(hit))


def sight(hit: Hit) -> tuple[str, ...]:
    """What was found: all of it as it stands in what was said, or else its first words."""
    if not hit.marks:
        return ()
    (first, end), last = hit.marks[0], hit.marks[-1][1]
    return hit.snippet[first:last], hit.snippet[first:end]


def catch_up(hf: Holdfast, *, meaning: bool = False) -> None:
    """Index what was appended since; a terminal is shown how far it is."""
    from rich.progress import Progress, SpinnerColumn, TextColumn

    from holdfast.cli.ui.terminal import console

    done = hf.index(STEP, meaning=meaning)
    if done < STEP:
        return
    screen = console(error=True)
    words = TextColumn("Indexing · {task.completed:,} parts")
    with Progress(SpinnerColumn(), words, console=screen, transient=True,
                  disable=not screen.is_terminal) as bar:  # fmt: skip
        task = bar.add_task("", total=None, completed=done)
        while step := hf.index(STEP, meaning=meaning):
            bar.advance(task, step)


def as_value(hit: Hit) -> dict[str, Any]:
    """A hit as JSON: every key, always."""
    return {name: getattr(hit, name) for name in hit.__struct_fields__}


def nothing(hf: Holdfast, words: str, first: int, *, prefix: bool) -> str:
    """That there is nothing, and what else might find something."""
    if not hf.sessions(limit=1) and not hf.sessions(archived=True, limit=1):
        return "No session is there yet; `holdfast import` brings those of other agents."
    more = "" if first or prefix else " With --prefix, words that only begin so are found too."
    return f"Nothing {'more ' if first else ''}is found for {words!r}.{more}"


def draw(hf: Holdfast, hits: tuple[Hit, ...], first: int, following: int, again: str = "") -> None:
    """A table that fits, how to open one, and the page that follows."""
    from holdfast.cli.sessions.list import shortened
    from holdfast.cli.ui.terminal import console, hint, print_table

    short = shortened(hf, list(dict.fromkeys(hit.session for hit in hits)))
    screen = console()
    print_table(table(hits, short, first, screen.width if screen.is_terminal else 0))
    best = hits[0]
    more = f" · more with --page {following}" if following else ""
    place = f"{short[best.session]} --at {best.seq} --around {AROUND}{again}"
    hint(f"Open one with  holdfast show {place}{more}")


def table(hits: tuple[Hit, ...], short: dict[str, str], first: int, width: int) -> Table:
    """Hits as rows; what was said takes what room is left of a terminal, in a pipe all it needs."""
    from rich.table import Table

    from holdfast.cli.ui.snippets import highlighted

    made = Table(box=None, pad_edge=False, expand=bool(width), header_style="dim",
                 padding=(0, 2, 0, 0))  # fmt: skip
    heading, rows = fewer(HEADING, places(hits, short, first), width)
    for name in heading:
        right = name in ("", "entry")
        made.add_column(
            name,
            no_wrap=True,
            style="cyan" if name == "session" else "",
            justify="right" if right else "left",
        )
    made.add_column("what was said", ratio=1 if width else None, no_wrap=True)
    room = max(width - taken(heading, rows), 1) if width else 0
    for hit, row in zip(hits, rows, strict=True):
        made.add_row(*row, highlighted(hit, room))
    return made


def taken(heading: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> int:
    """How much of a line the columns before what was said take."""
    return sum(2 + max(map(len, column)) for column in zip(heading, *rows, strict=True))


def fewer(
    heading: tuple[str, ...], rows: list[tuple[str, ...]], width: int
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """As many columns, from the first on, as leave room for what was said; all in a pipe."""
    while width and len(heading) > 1 and width - taken(heading, rows) < NARROWEST:
        heading, rows = heading[:-1], [row[:-1] for row in rows]
    return heading, rows


def places(hits: tuple[Hit, ...], short: dict[str, str], first: int) -> list[tuple[str, ...]]:
    """Where each hit is, when it was said and by whom: the columns of HEADING."""
    from holdfast.cli.ui.format import ago, number, short_project
    from holdfast.cli.ui.terminal import NOTHING, fitted

    return [
        (number(first + place), short[hit.session], number(hit.seq),
         fitted(short_project(hit), PROJECT) or NOTHING, ago(hit.created),
         hit.role or hit.kind or NOTHING)
        for place, hit in enumerate(hits, 1)
    ]  # fmt: skip
