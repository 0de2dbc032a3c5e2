"""`holdfast context` and `holdfast explain`: what is in the window, from where, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import completions
from holdfast.cli.context.fullness import of_window, remarks
from holdfast.cli.options import Asked, common, find, session_argument

if TYPE_CHECKING:
    from holdfast.core.window.explain import Absence, Difference, Line
    from holdfast.engine.client import Session
    from holdfast.engine.inspect.explain import Explained
    from holdfast.model.log import Entry

COLOURS = (
    "blue", "magenta", "cyan", "green", "yellow", "red", "bright_blue", "bright_magenta",
    "bright_cyan", "bright_green", "bright_yellow", "bright_red", "white",
)  # fmt: skip
MARKS = "█▓▒░"
"""Sections take turns with these, so that the picture can be read without colours too."""

SOURCES = {
    "estimate": "by estimate",
    "exact": "counted exactly",
    "provider": "as the provider counts",
    "reported": "as the provider reported",
}
"""How a number is known."""

NANO = 1_000_000_000
"""Money is kept in whole billionths of a dollar."""

NO_MODEL = (
    "Nobody has said which model this is for, so a small window is assumed: name one with "
    "`holdfast context SESSION -m MODEL`; `holdfast models --all` lists them."
)


CLEARED = "content cleared"
"""What is said of entries whose content a marker has cleared."""


@click.command()
@session_argument
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    shell_complete=completions.models,
    default="",
    help="As it would be for this model.",
)
@common
def context(asked: Asked, session: str, model: str) -> None:
    """Show what fills the window, as a picture and as a table."""
    from holdfast.cli.ui.entry_text import compaction
    from holdfast.cli.ui.terminal import emit, say
    from holdfast.cli.usage.models import unknown
    from holdfast.engine.inspect.explain import UNKNOWN
    from holdfast.engine.inspect.lookup import meant

    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        told = opened.explain_now(model)
        made = compactions(opened, told)
        profile = hf.catalogue.profile(told.model)
        near = meant(hf.catalogue, profile) if told.model != UNKNOWN else ()
    if asked.json:
        markers = [compaction(entry, opened.id) for entry in made.values()]
        emit({**as_value(told), "nearest": list(near), "markers": markers})
        return
    draw(told, made=made)
    if told.model != UNKNOWN and (line := unknown(profile, near)):
        say(line, "dim")


@click.command()
@session_argument
@click.option("--entry", metavar="ENTRY", default="",
              help="The reply whose call is explained, or an entry that is missing.")  # fmt: skip
@click.option("--against", metavar="ENTRY", default="",
              help="Another reply: where the two requests part, and what it cost.")  # fmt: skip
@common
def explain(asked: Asked, session: str, entry: str, against: str) -> None:
    """Say for each block of a call where it is from, what it took, and which rule kept it."""
    from holdfast.cli.ui.terminal import emit, say

    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        told = opened.explain(entry, against=against)
        gone = opened.why_absent(entry) if entry else None
    if asked.json:
        emit({**as_value(told), "entry": gone and {"seq": gone.seq, "why": gone.why}})
        return
    draw(told, blocks=True)
    if gone and gone.marker:
        say(f"Entry {gone.seq} is not in the window: {gone.why}.")


def compactions(session: Session, told: Explained) -> dict[int, Entry]:
    """The Summary and Clear markers that keep something out of the window, by their place."""
    from holdfast.model.log import Clear, Summary

    found = (session.entry(one.marker) for one in told.absent if one.marker)
    return {entry.seq: entry for entry in found if isinstance(entry.body, Summary | Clear)}


def as_value(told: Explained) -> dict[str, Any]:
    """An explanation as JSON: every key, always; money in US dollars."""
    return {
        "model": told.model,
        "tokens": told.tokens,
        "tier": told.count.tier,
        "error": told.count.error,
        "window": told.window or None,
        "window_from": told.source if told.window else "unknown",
        "room": told.room or None,
        "sent": told.sent or None,
        "program": told.program,
        "unrecorded": told.beside,
        "over": max(0, told.tokens - told.room) if told.window else 0,
        "call": told.call.id if told.call else None,
        "note": told.note,
        "matches": told.matches,
        "sections": sections(told.lines),
        "blocks": [_fields(line, cost="cost_usd") for line in told.lines],
        "difference": _fields(told.difference, price="price_usd") if told.difference else None,
        "absent": [_absence(one) for one in told.absent],
    }


def _fields(value: Any, **money: str) -> dict[str, Any]:
    """The fields of a value; those that are money in dollars, under the names that say so."""
    found = {name: getattr(value, name) for name in value.__struct_fields__}
    for name, told in money.items():
        nano = found.pop(name)
        found[told] = None if nano is None else nano / NANO
    return found


def _absence(one: Absence) -> dict[str, Any]:
    spans = [[span.first, span.last] for span in one.spans]
    return {"seq": one.seq, "marker": one.marker, "why": one.why, "spans": spans}


def sections(lines: tuple[Line, ...]) -> dict[str, int]:
    """Tokens by section, in the order of the window."""
    found: dict[str, int] = {}
    for line in lines:
        found[line.section] = found.get(line.section, 0) + line.tokens
    return found


def draw(told: Explained, *, blocks: bool = False, made: Mapping[int, Entry] | None = None) -> None:
    """The window as people look at it: a bar of its sections, and the table behind it."""
    from rich.padding import Padding
    from rich.text import Text

    from holdfast.cli.ui.terminal import console, neutral, one_line

    screen = console()
    full = f"  {of_window(told.tokens, told.window)}"
    known = (f" · {_known(told)}", "dim")
    screen.print(Text.assemble((one_line(told.model), "bold"), full, known))
    screen.print(bar(told, screen.width))
    screen.print(block_table(told) if blocks else section_table(told))
    noted = ((0, line) for note in _notes(told) for line in wrap(note, 80))
    for indent, line in (*_absent(told, made or {}), *noted):
        if screen.is_terminal:
            screen.print(Padding(Text(neutral(line), "dim"), (0, 0, 0, indent)))
        else:
            screen.print(" " * indent + neutral(line), soft_wrap=True)


def _known(told: Explained) -> str:
    """How a number is known, and by how much it may be off."""
    count = told.count
    off = f", ± {count.error:,}" if count.error else ""
    anchored = told.program and told.sent
    return f"{f'as {told.program} recorded' if anchored else SOURCES[count.tier]}{off}"


def bar(told: Explained, width: int) -> Any:
    """The sections side by side, each as wide as its share; what is free is dotted."""
    from rich.text import Text

    whole = max(told.window, told.tokens, 1)
    picture = Text()
    for index, (_, tokens) in enumerate(sections(told.lines).items()):
        columns = max(1, round(tokens / whole * (width - 1)))
        mark = MARKS[index % len(MARKS)]
        picture.append(mark * columns, style=COLOURS[index % len(COLOURS)])
    free = max(0, width - 1 - len(picture.plain))
    picture.append("·" * free, style="dim")
    return picture


def section_table(told: Explained) -> Any:
    """One row for each section."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, justify in (("", "left"), ("section", "left"), ("tokens", "right"),
                          ("share", "right"), ("blocks", "right")):  # fmt: skip
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for index, (name, tokens) in enumerate(sections(told.lines).items()):
        many = sum(line.section == name for line in told.lines)
        mark = Text(MARKS[index % len(MARKS)], style=COLOURS[index % len(COLOURS)])
        share = f"{tokens / max(told.tokens, 1):.1%}"
        table.add_row(mark, name, f"{tokens:,}", share, f"{many:,}")
    if not told.window:
        return table
    free = max(0, told.room - told.tokens)
    table.add_row(Text("·", style="dim"), "free", f"{free:,}", "", "")
    if (reply := told.window - max(told.room, told.tokens)) > 0:
        table.add_row("", "kept for the reply", f"{reply:,}", "", "")
    return table


def block_table(told: Explained) -> Any:
    """One row for each block, with its price where one is known."""
    from rich.table import Table

    from holdfast.cli.ui.terminal import one_line

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("tokens", justify="right")
    table.add_column("cached")
    table.add_column("cost", justify="right")
    for name in ("section", "role", "source", "rule"):
        table.add_column(name, overflow="fold")
    for line in told.lines:
        cost = "" if line.cost is None else f"${line.cost / NANO:.6f}"
        cached = "yes" if line.cached else ""
        words = map(one_line, (line.section, line.role, line.source, line.rule))
        table.add_row(f"{line.tokens:,}", cached, cost, *words)
    return table


def _notes(told: Explained) -> list[str]:
    from holdfast.engine.inspect.explain import UNKNOWN

    notes = [told.note, *remarks(told)] if told.note else [*remarks(told)]
    if told.model == UNKNOWN:
        notes.append(NO_MODEL)
    if told.matches is not None:
        same = "is byte for byte" if told.matches else "differs from"
        notes.append(f"The request rebuilt from the log {same} the one that was sent.")
    if told.difference:
        notes.append(_parted(told.difference))
    if told.window and told.tokens > told.room:
        over = f"about {told.tokens - told.room:,} tokens over"
        notes.append(f"It is {over}: something leaves before the next window is made.")
    return notes


def _absent(told: Explained, made: Mapping[int, Entry]) -> Iterator[tuple[int, str]]:
    """What is not in the window, why, by what it was compacted, and how to take that back."""
    from holdfast.cli.ui.entry_text import details
    from holdfast.cli.ui.format import program
    from holdfast.cli.ui.terminal import one_line

    for alike in _alike(told.absent):
        yield 0, _away(alike)
        if entry := made.get(alike[-1].marker):
            body: Any = entry.body
            facts = filter(None, (body.step, body.trigger, details(body)))
            yield 2, one_line(" · ".join(facts) if len(alike) == 1 else body.step)
            rest = "" if len(alike) == 1 else " the newest of them"
            yield 2, f"`{program()} undo {entry.session} {entry.seq}` takes{rest or ' it'} back"


def _alike(absent: tuple[Absence, ...]) -> list[list[Absence]]:
    """What is said of markers, those together that cleared content for the same reason."""
    found: dict[str, list[Absence]] = {}
    for one in absent:
        what, mark, why = one.why.partition(f" by entry {one.marker}: ")
        same = f"{what}{mark and why}" if what == CLEARED else f"#{one.marker}"
        found.setdefault(same, []).append(one)
    return list(found.values())


def _away(alike: list[Absence]) -> str:
    """What is not in the window, and why: one marker, or several that say the same."""
    from holdfast.cli.ui.entry_text import spans
    from holdfast.model.span import Span, normal

    first, where = alike[0], normal(span for one in alike for span in one.spans)
    alone = len(where) == 1 and where[0].first == where[0].last
    why = first.why
    if len(alike) > 1:
        markers = spans(normal(Span(one.marker, one.marker) for one in alike))
        why = why.replace(f"entry {first.marker}", f"entries {markers}", 1)
    return f"{'Entry' if alone else 'Entries'} {spans(where)}: {why}."


def _parted(found: Difference) -> str:
    if not found.lost:
        return "Everything the other request sent is a prefix of this one."
    price = "" if found.price is None else f", ${found.price / NANO:.6f} more than from the cache"
    return (
        f"It parts from the other request at block {found.block} (byte {found.byte:,}): "
        f"{found.lost:,} tokens were read afresh{price}."
    )
