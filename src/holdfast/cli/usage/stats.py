"""`holdfast stats`: what the sessions of every agent took, and what filled their windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import Asked, common

if TYPE_CHECKING:
    from collections import Counter

    from rich.table import Table

    from holdfast.core.stats import Compaction, Stats

GROUPS = ("agent", "project", "model")

WIDTH = 32
"""How wide the longest bar is."""

COLUMNS = ("sessions", "calls", "sent", "cached", "output", "USD", "compacted", "full", "reads",
           "again")  # fmt: skip
NARROW = {"sessions": "sess.", "compacted": "comp."}
"""What each group is told with, and how that is called where there is little room."""

SPARED = ("again", "reads", "full", "calls", "compacted", "cached", "output", "sessions")
"""Which of it is left out first where a terminal is too narrow for all."""

DEEDS = {
    "read": "reading files", "look": "searching files", "run": "commands", "script": "commands",
    "delegate": "subtasks", "ask": "questions", "propose": "plans",
    **dict.fromkeys(("plan", "task-new", "task-set"), "plans"),
    **dict.fromkeys(("write", "edit", "delete", "move", "patch"), "changing files"),
}  # fmt: skip
"""What tools do, as charts call it: each agent has names of its own for the same."""

ALIKE = {"webfetch": "the web", "websearch": "the web", "googlewebsearch": "the web"}
"""Tools that say nothing of files or commands, by their names in small letters."""

STAR = "* no price is known of some calls: what they cost is not in it"

SOURCES, FILES = 12, 5
"""Of how many sources and files it is told."""


@click.command()
@click.option("--by", type=click.Choice(GROUPS), default="agent", show_default=True,
              help="How sessions are grouped.")  # fmt: skip
@click.option("--since", metavar="DAY", default="", help="Only from this day on, as 2026-03-31.")
@click.option("--picture", metavar="FILE", default="", help="Draw it: a .png or .svg file.")
@common
def stats(asked: Asked, by: str, since: str, picture: str) -> None:
    """What sessions took, how full their windows were, what filled them, what was read again."""
    from holdfast.cli.days import times
    from holdfast.cli.ui.terminal import emit, say

    drawn = _picture(picture) if picture else None
    with asked.open() as hf:
        found = hf.stats(by, **times(since, ""))  # type: ignore[arg-type]
    if asked.json:
        for one in found:
            emit(value(one, by))
    elif not found and since:
        say(f"Nothing was said since {since}.")
    elif not found:
        say("No session is there yet; holdfast import brings those of other agents.")
    else:
        _draw(found, by)
    if drawn and found:
        from holdfast.engine.exporting.output_path import placing
        from holdfast.files import write_atomic

        with placing(picture):
            write_atomic(picture, drawn(found, by))
        if not asked.json:
            say(f"Drawn to {picture}.")


def _picture(file: str) -> Any:
    """What draws a picture; refused before anything is read where it cannot be drawn."""
    from holdfast.errors import InvalidRequest

    kind = file.rpartition(".")[2].lower()
    if kind not in ("png", "svg"):
        raise InvalidRequest(
            f"{file!r} is no picture that can be drawn; let it end in .png or .svg"
        )
    try:
        from holdfast.cli.usage.charts import chart
    except ImportError as missing:
        what = "pip install 'holdfast[pictures]'"
        raise InvalidRequest(f"pictures are drawn with matplotlib ({missing}); {what}") from None
    return lambda found, by: chart(found, by, kind)


def value(one: Stats, by: str) -> dict[str, Any]:
    """One group as JSON."""
    usage = one.usage
    return {
        by: one.name, "sessions": one.sessions, "calls": one.calls,
        "cost_usd": one.cost / 1e9 if one.cost or one.calls > one.unpriced else None,
        "unpriced_calls": one.unpriced, "input_tokens": usage.input,
        "cache_read_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
        "output_tokens": usage.output, "cache_hit_rate": one.hit_rate,
        "compactions": [_compaction(each) for each in one.compactions], "filled": one.filled,
        "reads": one.reads, "rereads": one.again, "rereads_after_compaction": one.after,
        "reread_files": one.files, "begun": one.begun or None, "ended": one.ended or None,
    }  # fmt: skip


def _compaction(one: Compaction) -> dict[str, Any]:
    return {
        "session": one.session, "seq": one.seq, "created": one.created, "model": one.model,
        "trigger": one.trigger, "tokens": one.tokens, "window": one.window, "share": one.share,
    }  # fmt: skip


def _draw(found: list[Stats], by: str) -> None:
    from collections import Counter

    from holdfast.cli.ui.terminal import print_table, say

    print_table(_table(found, by))
    if any(one.unpriced for one in found):
        say(f"{STAR}.", "dim")
    if period := lasted(found):
        say(f"Said {period}.", "dim")
    files: Counter[str] = Counter()
    for one in found:
        files.update(one.files)
    bars("What filled the windows, in tokens", sources(found).most_common(SOURCES))
    fullness = spread([each for one in found for each in one.compactions])
    bars("How full a window was when it was compacted", fullness)
    bars("Read again most often", files.most_common(FILES))


def lasted(found: list[Stats]) -> str:
    """From which day to which all of it was said; empty where nobody told."""
    from holdfast.cli.ui.format import date

    days = [date(when) for one in found for when in (one.begun, one.ended) if when]
    return f"from {min(days)} to {max(days)}" if days else ""


def sources(found: list[Stats]) -> Counter[str]:
    """What filled windows, with tools that do the same under one name, whoever calls them what."""
    from collections import Counter

    from holdfast.core.ledger.facts.tool_dialects import TOOLS

    said: Counter[str] = Counter()
    for one in found:
        for name, tokens in one.filled.items():
            known = TOOLS.get(name)
            plain = name.lower().replace("_", "")
            said[DEEDS.get(known.deed, name) if known else ALIKE.get(plain, name)] += tokens
    return said


def _table(found: list[Stats], by: str) -> Table:
    """A line for each group; a narrow terminal is shown tokens rounded."""
    from rich.table import Table

    from holdfast.cli.ui.terminal import console, is_narrow

    screen, narrow = console(), is_narrow()
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    heads = (by, *(NARROW.get(name, name) if narrow else name for name in COLUMNS))
    rows = [heads, *(_row(one, narrow=narrow) for one in found)]
    kept = _fitting(rows, screen.width if screen.is_terminal else 0)
    for place in kept:
        table.add_column(heads[place], justify="right" if place else "left", no_wrap=True)
    for row in rows[1:]:
        table.add_row(*(row[place] for place in kept))
    return table


def _fitting(rows: list[tuple[str, ...]], width: int) -> list[int]:
    """The columns that fit into a width, by their places; all of them where it is 0."""
    from rich.cells import cell_len

    widths = [1 + max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    kept = list(range(len(widths)))
    for name in SPARED:
        if not width or sum(widths[place] for place in kept) - 1 <= width:
            break
        kept.remove(1 + COLUMNS.index(name))
    return kept


def _row(one: Stats, *, narrow: bool) -> tuple[str, ...]:
    from holdfast.cli.ui.format import number, rounded
    from holdfast.cli.ui.terminal import short

    tokens = rounded if narrow else number
    shares = [share for each in one.compactions if (share := each.share) is not None]
    full = f"{sum(shares) / len(shares):.0%}" if shares else ""
    hits = one.hit_rate
    return (
        short(one.name, 18 if narrow else 30), number(one.sessions), number(one.calls),
        tokens(one.usage.prompt), "" if hits is None else f"{hits:.0%}", tokens(one.usage.output),
        _money(one, narrow=narrow), number(len(one.compactions)),
        full, number(one.reads), number(one.again),
    )  # fmt: skip


def _money(one: Stats, *, narrow: bool) -> str:
    """What it cost, starred where no price is known of some calls; unknown where of none."""
    from holdfast.cli.ui.terminal import NOTHING

    if not one.calls:
        return NOTHING
    if one.unpriced and not one.cost:
        return "?*" if narrow else "unknown*"
    return f"{one.cost / 1e9:,.2f}" + ("*" if one.unpriced else "")


def priced(one: Stats) -> str:
    """What it cost as a picture says it."""
    told = _money(one, narrow=False)
    return f"${told}" if told[:1].isdigit() else told


def spread(compactions: list[Compaction]) -> list[tuple[str, int]]:
    """How many compactions there were at each tenth of a window."""
    tenths = [0] * 11
    unknown = 0
    for one in compactions:
        if one.share is None:
            unknown += 1
        else:
            tenths[min(int(one.share * 10), 10)] += 1
    named = [(f"{at * 10}–{at * 10 + 10} %", many) for at, many in enumerate(tenths[:10])]
    named = [*named, ("beyond", tenths[10]), ("unknown window", unknown)]
    return [(name, many) for name, many in named if many]


def bars(title: str, rows: list[tuple[str, int]]) -> None:
    """Bars with their numbers; nothing where there are none."""
    from rich.table import Table

    from holdfast.cli.ui.format import number
    from holdfast.cli.ui.terminal import print_table, say, short

    if not rows:
        return
    say(f"\n{title}", "bold")
    most = max(many for _, many in rows)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    for name, many in rows:
        table.add_row(short(name, 40), number(many), "█" * max(round(many / most * WIDTH), 1))
    print_table(table)
