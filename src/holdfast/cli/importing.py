"""`holdfast import`: the transcripts of other programs, brought into the store."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import Asked, common

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.engine.doors import Holdfast
    from holdfast.engine.finding import Source
    from holdfast.engine.importing import Reading
    from holdfast.model.origin import Imported

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
) -> int:
    """Import the transcripts of other programs: files, directories, or the usual places.

    What was imported before is not imported again; what has been added to it is. Where several
    paths are named and one is no transcript, the others are imported and the exit code is 1.
    """
    with asked.open(make=True) as hf:
        sources, others = _found(hf, paths, agents)
        reports = _brought(hf, sources, asked, fresh=watch)
        _told(asked, reports, others)
        known = {one.path: one.troubles for one in reports}
        while watch:
            time.sleep(PAUSE)
            for report in hf.import_sources(_there(hf, paths, agents), fresh=True):
                changed = report.troubles != known.get(report.path, 0) and not report.unchanged
                if report.entries or changed:
                    _news(report, asked)
                    known[report.path] = report.troubles
    return int(any(one.named for one in sources))


def _there(hf: Holdfast, paths: tuple[str, ...], agents: tuple[str, ...]) -> list[Source]:
    """What is there now; a file that is being put in the place of another may be away."""
    from holdfast.errors import HoldfastError

    found: list[Source] = []
    for place in [(path,) for path in paths] or [()]:
        with suppress(HoldfastError):
            found += hf.transcripts(*place, agents=agents)
    return found


def _found(
    hf: Holdfast, paths: tuple[str, ...], agents: tuple[str, ...]
) -> tuple[list[Source], list[Source]]:
    """The transcripts, and the files that are none: all of them where a place was named.

    In the usual places only what is named as a transcript would be is worth telling.
    """
    from holdfast.engine.finding import UNNAMED
    from holdfast.errors import Misuse

    found = hf.transcripts(*paths, agents=agents, others=not agents)
    sources = [one for one in found if one.named or not one.why]
    if not sources and not paths:
        raise Misuse("no transcripts are in the usual places; name a file or a directory")
    return sources, [
        one for one in found if one.why and not one.named and (paths or one.why != UNNAMED)
    ]


def _told(asked: Asked, reports: list[Imported], others: list[Source]) -> None:
    """What was brought, and what was no transcript."""
    from holdfast.cli.import_report import Report, unread
    from holdfast.cli.terminal import emit

    left = unread(others, reports)
    if not asked.json:
        Report(reports, left).tell()
        return
    for one in left:
        emit({"path": one.path, "left_aside": one.why})


def _brought(hf: Holdfast, sources: list[Source], asked: Asked, *, fresh: bool) -> list[Imported]:
    """Import them, with a bar for whoever sits before a terminal."""
    from holdfast.cli.terminal import emit

    reports: list[Imported] = []
    with _bar(sum(source.size for source in sources)) as (reading, advance):
        for report in hf.import_sources(sources, fresh=fresh, reading=reading):
            advance(report)
            if asked.json:
                emit(as_value(report))
            reports.append(report)
    return reports


@contextmanager
def _bar(total: int) -> Iterator[tuple[Reading, Callable[[Imported], None]]]:
    """A bar that moves while a file is read, and by what is left of it when it is done."""
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
        done = 0

        def reading(source: Source, read: int) -> None:
            show(source.path, done + min(read, source.size))

        def advance(report: Imported) -> None:
            nonlocal done
            done += report.size
            show(report.path, done)

        def show(path: str, completed: int) -> None:
            name = fitted(os.path.basename(path), 24)
            progress.update(task, completed=completed, description=name)

        yield reading, advance


def as_value(report: Imported) -> dict[str, Any]:
    """A report as JSON: every key, always."""
    told = {name: getattr(report, name) for name in report.__struct_fields__}
    problems = [
        {"line": one.line, "what": one.what, "severity": one.severity} for one in report.problems
    ]
    del told["beside"]
    return told | {"problems": problems}


def _news(report: Imported, asked: Asked) -> None:
    """What --watch has found since."""
    from holdfast.cli.terminal import emit, one_line, say
    from holdfast.cli.wording import many, path

    if asked.json:
        emit(as_value(report))
        return
    new = many(report.entries, "entry", "entries")
    say(one_line(f"{path(report.path)}: {new} new, {many(report.troubles, 'problem')}"))
