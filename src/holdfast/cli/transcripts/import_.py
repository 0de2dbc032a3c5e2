"""`holdfast import`: the transcripts of other programs, brought into the store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from holdfast.cli.options import Asked, common, missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.engine.client import Holdfast
    from holdfast.engine.importing.discovery import Source
    from holdfast.engine.importing.source import Reading
    from holdfast.model.import_report import ImportReport


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(readable=False))
@click.option("--agent", "agents", metavar="NAME", multiple=True,
              help="Only this program's, by its name above.")  # fmt: skip
@click.option("--again", is_flag=True, help="Read what has not changed too, and tell of it anew.")
@click.option("--watch", is_flag=True, help="Go on looking, and import what is added.")
@common
def import_command(
    asked: Asked, paths: tuple[str, ...], agents: tuple[str, ...], again: bool, watch: bool
) -> int:
    """Import the transcripts of other programs: files, directories, or the usual places.

    What was imported before is not imported again; what has been added to it is. Where something
    cannot be read, or one of several paths is no transcript, the others are imported and the exit
    code is 1.

    \b
    Without a PATH these are looked through, each beneath your home:
      claude-code  .claude/projects, .config/claude/projects
      codex        .codex/sessions, .codex/archived_sessions,
                   .codex/history.jsonl, .codex/session_index.jsonl
      gemini-cli   .gemini/tmp
      opencode     .local/share/opencode/opencode.db,
                   .local/share/opencode/storage/session
      aider        .aider.chat.history.md
      pi           .pi/agent/sessions
      copilot-cli  .copilot/session-state, .copilot/history-session-state
      portable     nothing: name the file that was exported
    """
    from holdfast.cli.transcripts.report import nothing_found
    from holdfast.cli.transcripts.watch import follow
    from holdfast.errors import InvalidRequest

    if missing(asked.url) and not watch:
        _refuse_nothing(paths, agents)
    with _opened(asked, watch=watch) as hf:
        sources, others = _found(hf, paths, agents)
        reports = _brought(hf, sources, asked, fresh=watch, again=again)
        _told(asked, reports, others, paths, again=again)
        if watch:
            return follow(hf, asked, paths, agents, reports)
        if not sources:
            raise InvalidRequest(nothing_found(hf, paths, agents))
    return int(any(one.named for one in sources))


def _refuse_nothing(paths: tuple[str, ...], agents: tuple[str, ...]) -> None:
    """Look before a store is made for what is not there."""
    from holdfast.cli.transcripts.report import nothing_found
    from holdfast.engine import client
    from holdfast.errors import InvalidRequest

    with client.open("memory:") as hf:
        if not any(_found(hf, paths, agents)):
            raise InvalidRequest(nothing_found(hf, paths, agents))


@contextmanager
def _opened(asked: Asked, *, watch: bool) -> Iterator[Holdfast]:
    """The store; one that was only made for this is removed where nothing was brought."""
    from holdfast.engine.plugins import file_of

    file = file_of(asked.url) if missing(asked.url) and not watch else None
    empty = False
    try:
        with asked.open(make=True) as hf:
            try:
                yield hf
            finally:
                empty = not (hf.sessions(limit=1) or hf.sessions(archived=True, limit=1))
    finally:
        # Whoever else has it open by now has a journal beside it
        if file and empty and not os.path.exists(f"{file}-wal"):
            with suppress(OSError):
                os.unlink(file)


def _found(
    hf: Holdfast, paths: tuple[str, ...], agents: tuple[str, ...]
) -> tuple[list[Source], list[Source]]:
    """The transcripts, and the files that are none: all of them where a place was named.

    In the usual places only what is named as a transcript would be is worth telling.
    """
    from holdfast.engine.importing.discovery import UNNAMED

    found = hf.transcripts(*paths, agents=agents, others=not agents)
    sources = [one for one in found if one.named or not one.why]
    return sources, [
        one for one in found if one.why and not one.named and (paths or one.why != UNNAMED)
    ]


def _told(
    asked: Asked, reports: list[ImportReport], others: list[Source], paths: tuple[str, ...],
    *, again: bool,
) -> None:  # fmt: skip
    """What was brought, and what was no transcript."""
    from holdfast.cli.transcripts.report import Report, unread
    from holdfast.cli.ui.terminal import emit

    left = unread(others, reports)
    if not asked.json:
        Report(reports, left, paths, again=again, store=asked.again).tell()
        return
    for one in left:
        emit({"path": one.path, "left_aside": one.why})


def _brought(
    hf: Holdfast, sources: list[Source], asked: Asked, *, fresh: bool, again: bool
) -> list[ImportReport]:
    """Import them, with a bar for whoever sits before a terminal."""
    from holdfast.cli.transcripts.problems import as_value
    from holdfast.cli.ui.terminal import emit

    reports: list[ImportReport] = []
    with _bar(sum(source.size for source in sources)) as (reading, advance):
        for report in hf.import_sources(sources, fresh=fresh, again=again, reading=reading):
            advance(report)
            if asked.json:
                emit(as_value(report))
            reports.append(report)
    return reports


@contextmanager
def _bar(total: int) -> Iterator[tuple[Reading, Callable[[ImportReport], None]]]:
    """A bar that moves while a file is read, and by what is left of it when it is done."""
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    from holdfast.cli.ui.terminal import console, fitted

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

        def advance(report: ImportReport) -> None:
            nonlocal done
            done += report.size
            show(report.path, done)

        def show(path: str, completed: int) -> None:
            name = fitted(os.path.basename(path), 24)
            progress.update(task, completed=completed, description=name)

        yield reading, advance
