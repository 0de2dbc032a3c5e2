"""`holdfast import`: the transcripts of other programs, brought into the store."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import Asked, common

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.engine.doors import Holdfast
    from holdfast.engine.importing import Source
    from holdfast.model.origin import Imported

SHOWN = 20
"""How many problems of one file are shown; --json has a thousand."""

PAUSE = 2.0
"""How long --watch waits before it looks again, in seconds."""


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option("--agent", "agents", metavar="NAME", multiple=True,
              help="Only this program's: claude-code, …")  # fmt: skip
@click.option("--watch", is_flag=True, help="Go on looking, and import what is added.")
@common
def import_command(
    asked: Asked, paths: tuple[str, ...], agents: tuple[str, ...], watch: bool
) -> None:
    """Import the transcripts of other programs: files, directories, or the usual places.

    What was imported before is not imported again; what has been added to it is.
    """
    with asked.open(make=True) as hf:
        sources = _found(hf, paths, agents)
        reports = _brought(hf, sources, asked, fresh=watch)
        if not asked.json:
            _summed(reports, sources)
        while watch:
            time.sleep(PAUSE)
            for report in hf.import_sources(hf.transcripts(*paths, agents=agents), fresh=True):
                _news(report, asked)


def _found(hf: Holdfast, paths: tuple[str, ...], agents: tuple[str, ...]) -> list[Source]:
    from holdfast.errors import Misuse

    sources = hf.transcripts(*paths, agents=agents)
    if not sources and not paths:
        raise Misuse("no transcripts are in the usual places; name a file or a directory")
    return sources


def _brought(hf: Holdfast, sources: list[Source], asked: Asked, *, fresh: bool) -> list[Imported]:
    """Import them, with a bar for whoever sits before a terminal."""
    from holdfast.cli.terminal import emit

    reports: list[Imported] = []
    with _bar(sum(source.size for source in sources)) as advance:
        for report in hf.import_sources(sources, fresh=fresh):
            advance(report)
            if asked.json:
                emit(as_value(report))
            reports.append(report)
    return reports


@contextmanager
def _bar(total: int) -> Iterator[Callable[[Imported], None]]:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    from holdfast.cli.terminal import console, fitted

    screen = console(error=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(),
               TransferSpeedColumn(), TimeRemainingColumn())  # fmt: skip
    with Progress(
        *columns, console=screen, transient=True, disable=not screen.is_terminal
    ) as progress:
        task = progress.add_task("Importing", total=total)

        def advance(report: Imported) -> None:
            name = fitted(os.path.basename(report.path), 24)
            progress.update(task, advance=report.size, description=name)

        yield advance


def as_value(report: Imported) -> dict[str, Any]:
    """A report as JSON: every key, always."""
    told = {name: getattr(report, name) for name in report.__struct_fields__}
    problems = [
        {"line": one.line, "what": one.what, "severity": one.severity} for one in report.problems
    ]
    return told | {"problems": problems}


def _summed(reports: list[Imported], sources: list[Source]) -> None:
    """A row for each file that brought something or has a problem, and what it all comes to."""
    from holdfast.cli.terminal import hint, print_table, say
    from holdfast.cli.wording import many

    worth = [one for one in reports if one.entries or one.troubles]
    if worth:
        print_table(_table(worth))
        _problems(worth)
        _kept(worth)
    unchanged = sum(one.unchanged for one in reports)
    facts = [
        many(len(reports), "file"),
        f"{unchanged:,} unchanged" if unchanged else "",
        many(len({id for one in worth for id in one.sessions}), "session"),
        f"{many(sum(one.entries for one in reports), 'entry', 'entries')} new",
        many(sum(one.compactions for one in reports), "compaction"),
        many(sum(one.troubles for one in reports), "problem"),
    ]
    say(" · ".join(filter(None, facts)))
    if worth:
        hint("See them with  holdfast sessions")


def _table(reports: list[Imported]) -> Any:
    from rich.table import Table

    from holdfast.cli.terminal import NOTHING, console, one_line
    from holdfast.cli.wording import number, path

    whole = not console().is_terminal
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    made.add_column("file", no_wrap=True, overflow="ellipsis", ratio=None if whole else 1)
    made.add_column("program", no_wrap=True)
    for name in ("entries", "compactions", "calls", "kept", "problems"):
        made.add_column(name, no_wrap=True, justify="right")
    for one in reports:
        made.add_row(
            one_line(path(one.path)), one.importer, number(one.entries), number(one.compactions),
            number(one.calls), number(sum(one.kept.values())),
            number(one.troubles) if one.troubles else NOTHING,
        )  # fmt: skip
    return made


def _problems(reports: list[Imported]) -> None:
    from holdfast.cli.terminal import one_line, say
    from holdfast.cli.wording import path

    for report in reports:
        for one in report.problems[:SHOWN]:
            where = f"{path(report.path)}:{one.line}" if one.line else path(report.path)
            say(one_line(f"{where}: {one.what}"), "red" if one.severity == "damaged" else "yellow")
        more = report.troubles - min(len(report.problems), SHOWN)
        if more > 0:
            say(f"{one_line(path(report.path))}: {more:,} more; --json tells them", "dim")


def _kept(reports: list[Imported]) -> None:
    """Which records have no place in the model, and were kept as they are."""
    from holdfast.cli.terminal import one_line, say

    kinds: dict[str, int] = {}
    for report in reports:
        for kind, count in report.kept.items():
            kinds[kind] = kinds.get(kind, 0) + count
    if kinds:
        told = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
        say(one_line(f"Kept as they are, beside what was said: {told}"), "dim")


def _news(report: Imported, asked: Asked) -> None:
    """What --watch has found since."""
    from holdfast.cli.terminal import emit, one_line, say
    from holdfast.cli.wording import many, path

    if not report.entries and not (report.troubles and not report.unchanged):
        return
    if asked.json:
        emit(as_value(report))
        return
    new = many(report.entries, "entry", "entries")
    say(one_line(f"{path(report.path)}: {new} new, {many(report.troubles, 'problem')}"))
