"""What an import has brought: a row for each file, every problem, what was kept, what was no
transcript, and what it all comes to.

A pipe is told everything, with whole paths; a terminal what fits it, beneath a common directory.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from holdfast.engine.client import Holdfast
    from holdfast.engine.importing.discovery import Source
    from holdfast.model.import_report import ImportReport

ROWS = 40
"""How many files a terminal shows: those with problems first, then those that brought most."""

KINDS = 8
"""How many kinds of records a terminal shows, the most frequent first."""

NAMED = 5
"""How many files that are no transcripts are named, of those with the same reason."""

NUMBERS = 60
"""Columns that every number takes: shown where a terminal has so many beside the names."""


class Report:
    """How the files of one import are told."""

    def __init__(
        self,
        reports: Sequence[ImportReport],
        others: Sequence[Source],
        paths: Sequence[str] = (),
        *,
        again: bool = False,
        store: str = "",
    ) -> None:
        from holdfast.cli.transcripts.problems import troubles
        from holdfast.cli.ui.terminal import console

        screen = console()
        self._width = screen.width if screen.is_terminal else 0
        self._reports = reports
        self._news = again or any(one.entries or troubles(one) for one in reports)
        worth = [one for one in reports if one.entries or one.troubles or again]
        self._worth = sorted(worth, key=lambda one: one.path)
        self._cut = False
        self._anew = shlex.join(["holdfast", "import", "--again", *paths]) + store
        self._store = store
        self._others = others
        paths = [one.path for one in (*self._worth, *others)]
        self._common = common(paths) if self._width else ""

    def tell(self) -> None:
        """All of it; where nothing is new, only that."""
        from holdfast.cli.ui.format import path
        from holdfast.cli.ui.terminal import hint, say

        if self._common and (self._news or not self._reports):
            say(f"in {path(self._common)}", "dim")
        if self._news:
            self._files()
        if self._news or not self._reports:
            self._left_aside()
        if self._reports:
            say(self._total())
        if self._cut:
            hint(f"Every file by name:  {self._anew} | less")
        if any(one.entries for one in self._reports):
            hint(f"See them with  holdfast sessions{self._store}")

    def _files(self) -> None:
        """A row for each, the problems, and what was kept."""
        from holdfast.cli.transcripts.problems import tell
        from holdfast.cli.ui.format import many
        from holdfast.cli.ui.terminal import print_table, say

        rows = chosen(self._worth, ROWS if self._width else len(self._worth))
        print_table(self._table(rows))
        if left := len(self._worth) - len(rows):
            self._cut = True
            say(f"… {many(left, 'file')} more", "dim")
        self._cut |= tell(self._worth, self._named, self._width)
        self._kept()

    def _total(self) -> str:
        from holdfast.cli.ui.format import many

        reports = self._reports
        unchanged = sum(one.unchanged for one in reports)
        copies = sum(bool(one.copy_of) for one in reports)
        silent = sum(_silent(one) for one in reports)
        aside = f"{many(len(self._others), 'other file')} left aside" if self._others else ""
        facts = (
            many(len(reports), "file"),
            f"{unchanged:,} unchanged" if unchanged else "",
            f"{many(copies, 'copy', 'copies')} handed over that did not go on" if copies else "",
            f"{silent:,} without a conversation" if silent else "",
            *(self._brought() if self._news else ("nothing new", aside)),
        )
        return " · ".join(filter(None, facts))

    def _brought(self) -> tuple[str, ...]:
        """What is new, in numbers."""
        from holdfast.cli.transcripts.problems import troubles
        from holdfast.cli.ui.format import many

        reports = self._reports
        sessions = {id for one in reports if not one.unchanged for id in one.sessions}
        return (
            many(len(sessions), "session"),
            f"{many(sum(one.entries for one in reports), 'entry', 'entries')} new",
            many(sum(one.compactions for one in reports), "compaction"),
            many(sum(map(troubles, reports)), "problem"),
        )

    def _named(self, place: str) -> str:
        from holdfast.cli.ui.format import path
        from holdfast.cli.ui.terminal import one_line

        return one_line(os.path.relpath(place, self._common) if self._common else path(place))

    def _table(self, rows: Sequence[ImportReport]) -> Table:
        from rich.table import Table

        from holdfast.cli.transcripts.problems import middle

        columns = list(self._columns())
        made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        made.add_column("file", no_wrap=True)
        for name, _ in columns:
            made.add_column(name, no_wrap=True, justify="left" if name == "program" else "right")
        cells = [[tell(one) for _, tell in columns] for one in rows]
        room = self._width
        for place, (name, _) in enumerate(columns):
            room -= 2 + max(len(name), *(len(row[place]) for row in cells))
        for one, row in zip(rows, cells, strict=True):
            name = self._named(one.path)
            made.add_row(middle(name, max(room - 2, 16)) if self._width else name, *row)
        return made

    def _columns(self) -> Iterator[tuple[str, Any]]:
        """What is told of each file: on a narrow terminal not every number."""
        from holdfast.cli.transcripts.problems import troubles
        from holdfast.cli.ui.format import number
        from holdfast.cli.ui.terminal import NOTHING

        longest = max((len(self._named(one.path)) for one in self._worth), default=0)
        everything = not self._width or self._width >= longest + NUMBERS
        if everything or len({one.importer for one in self._worth}) > 1:
            yield "program", lambda one: one.importer
        yield "entries", lambda one: number(one.entries)
        yield "compactions", lambda one: number(one.compactions)
        if everything:
            yield "calls", lambda one: number(one.calls)
            yield "kept", lambda one: number(sum(one.kept.values()))
        yield "problems", lambda one: number(troubles(one)) if troubles(one) else NOTHING

    def _kept(self) -> None:
        """Which records have no place in the model, and were kept as they are."""
        from holdfast.cli.ui.format import many
        from holdfast.cli.ui.terminal import one_line, say

        kinds: Counter[str] = Counter()
        for report in self._worth:
            kinds.update(report.kept)
        if not kinds:
            return
        shown = kinds.most_common(KINDS) if self._width else sorted(kinds.items())
        told = ", ".join(f"{count:,} {kind}" for kind, count in shown)
        left = len(kinds) - len(shown)
        self._cut |= bool(left)
        more = f" and {many(left, 'kind')} more" if left else ""
        say(one_line(f"Kept as they are, beside what was said: {told}{more}"), "dim")

    def _left_aside(self) -> None:
        """The files that are no transcripts, with why."""
        from holdfast.cli.transcripts.problems import middle
        from holdfast.cli.ui.format import many
        from holdfast.cli.ui.terminal import say

        reasons: dict[str, list[str]] = {}
        for other in self._others:
            reasons.setdefault(other.why, []).append(self._named(other.path))
        for why, names in reasons.items():
            say(f"Left aside: {why}", "dim")
            shown = sorted(names)[: NAMED if self._width else len(names)]
            for name in shown:
                say(f"  {middle(name, self._width - 2) if self._width else name}", "dim")
            if left := len(names) - len(shown):
                self._cut = True
                say(f"  and {many(left, 'file')} more", "dim")


def _silent(report: ImportReport) -> bool:
    """Whether a file was read, and holds no conversation."""
    if report.unchanged or report.copy_of or report.sessions:
        return False
    return bool(report.kept) or not _broken(report)


def _broken(report: ImportReport) -> bool:
    from holdfast.cli.transcripts.problems import troubles

    return bool(troubles(report))


def common(paths: Sequence[str]) -> str:
    """The directory that all files are beneath; empty where that would say nothing."""
    if not paths:
        return ""
    found = os.path.commonpath([os.path.dirname(one) for one in paths])
    return found if found != os.sep else ""


def chosen(reports: Sequence[ImportReport], most: int) -> list[ImportReport]:
    """So many of them, in their order: with problems first, then those that brought most."""
    order = sorted(
        range(len(reports)), key=lambda at: (not _broken(reports[at]), -reports[at].entries)
    )
    return [reports[at] for at in sorted(order[:most])]


def unread(others: Sequence[Source], reports: Sequence[ImportReport]) -> list[Source]:
    """The files that were read with no transcript either.

    What an importer looks for beside a transcript is part of it. A directory that was listed counts
    for all in it, unless it is the transcript's own.
    """
    asked = {place for one in reports for place in one.beside}
    own = {os.path.dirname(one.path) for one in reports}
    listed = asked - own
    return [
        one for one in others
        if one.path not in asked and os.path.dirname(one.path) not in listed
    ]  # fmt: skip


def nothing_found(hf: Holdfast, paths: tuple[str, ...], agents: tuple[str, ...]) -> str:
    """That nothing was found, and what to do."""
    from holdfast.engine.plugins import importers

    wanted = ", ".join(agents or importers())
    if not paths:
        return (
            f"no transcripts are in the usual places of {wanted}: {', '.join(_usual(agents))}; "
            "name a file or a directory"
        )
    where = ", ".join(paths)
    if there := _others(hf, paths) if agents else "":
        return (
            f"no transcript of {wanted} was found in {where}, but {there}; "
            "name that program with --agent, or leave --agent out"
        )
    return (
        f"no transcript was found in {where}; looked for those of {wanted}, by the names and the "
        "first bytes of all files there; name another place, or none to look in the usual ones"
    )


def _usual(agents: tuple[str, ...]) -> list[str]:
    """Where programs keep their transcripts."""
    from holdfast.engine.plugins import importer, importers

    return [
        f"~/{place}" for name in agents or importers() for place in importer(name).default_paths()
    ]


def _others(hf: Holdfast, paths: tuple[str, ...]) -> str:
    """How many transcripts of which programs are there."""
    found = Counter(one.importer for one in hf.transcripts(*paths) if not one.why)
    return ", ".join(f"{many:,} of {name}" for name, many in found.most_common())
