"""The problems of an import: each told once, with how often it was met and where first.

A pipe is told them file by file, with whole paths; a terminal kind by kind, with what fits it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from holdfast.model.import_report import ImportReport

LINES = 5
"""How many line numbers are told of one file, and how many files of one problem."""

_NUMBER = re.compile(r"\d[\d,.]*")


class Met(Struct):
    """One problem: wherever it was met, in which words, and whether anything was lost by it."""

    words: str
    damaged: bool = False
    places: dict[str, list[int]] = {}

    @property
    def times(self) -> int:
        """How often it was met."""
        return sum(map(len, self.places.values()))

    def told(self) -> str:
        """The problem, and how often it was met if more than once."""
        return f"{self.words} ({self.times:,} times)" if self.times > 1 else self.words


def as_value(report: ImportReport) -> dict[str, Any]:
    """A report as JSON: every key, always."""
    told = {name: getattr(report, name) for name in report.__struct_fields__}
    problems = [
        {"line": one.line, "what": one.what, "severity": one.severity} for one in report.problems
    ]
    del told["beside"]
    return told | {"problems": problems}


def troubles(report: ImportReport) -> int:
    """How many problems a file has: what is only worth knowing is none."""
    return report.troubles - sum(one.severity == "notice" for one in report.problems)


def gathered(reports: Sequence[ImportReport], *, notices: bool) -> list[Met]:
    """The problems of these files, or what is only worth knowing of them; those that are the same
    but for a number are told as one."""
    found: dict[str, Met] = {}
    for report in reports:
        for one in report.problems:
            if (one.severity == "notice") != notices:
                continue
            key = _NUMBER.sub("…", one.what)
            met = found.setdefault(key, Met(one.what))
            met.words = one.what if one.what == met.words else key
            met.damaged = met.damaged or one.severity == "damaged"
            met.places.setdefault(report.path, []).append(one.line)
    return list(found.values())


def tell(reports: Sequence[ImportReport], named: Callable[[str], str], width: int) -> bool:
    """All of them beneath a heading, and beneath another what is only worth knowing; `width` is a
    terminal's, 0 in a pipe. Whether some files were not named."""
    from holdfast.cli.ui.format import many
    from holdfast.cli.ui.terminal import say

    cut = False
    for heading, notices in (("Problems", False), ("Worth knowing", True)):
        if not (all_met := gathered(reports, notices=notices)):
            continue
        say(heading, "bold")
        if width:
            for met in all_met:
                _on_screen(met, named, width)
                cut |= len(met.places) > LINES
        else:
            for report in reports:
                _in_pipe(report, named(report.path), notices=notices)
    if more := sum(one.troubles - len(one.problems) for one in reports):
        say(f"and {many(more, 'problem')} more, of which only the number is known", "dim")
    return cut


def _on_screen(met: Met, named: Callable[[str], str], width: int) -> None:
    from holdfast.cli.ui.format import many
    from holdfast.cli.ui.terminal import one_line, say

    say(one_line(met.told()), "red" if met.damaged else "yellow")
    for place, lines in list(met.places.items())[:LINES]:
        at = _lines(lines)
        say(f"  {middle(named(place), max(width - 2 - len(at), 16))}{at}", "dim")
    if (left := len(met.places) - LINES) > 0:
        say(f"  and {many(left, 'file')} more", "dim")


def _in_pipe(report: ImportReport, name: str, *, notices: bool) -> None:
    from holdfast.cli.ui.terminal import one_line, say

    for met in gathered([report], notices=notices):
        say(one_line(f"{name}{_lines(met.places[report.path])}: {met.told()}"))


def _lines(numbers: list[int]) -> str:
    """The first of these lines, as they are written behind a file; 0 is the file itself."""
    known = [number for number in numbers if number]
    if not known:
        return ""
    shown = ", ".join(f"{number}" for number in known[:LINES])
    return f":{shown}{', …' if len(known) > LINES else ''}"


def middle(text: str, width: int) -> str:
    """A path in so many columns: where it begins, and above all where it ends."""
    from rich.cells import cell_len

    if cell_len(text) <= width:
        return text
    first, last = 0, len(text)
    left = width - 1
    while last and cell_len(text[last - 1]) <= left - width // 4:
        last -= 1
        left -= cell_len(text[last])
    while cell_len(text[first]) <= left:
        left -= cell_len(text[first])
        first += 1
    return f"{text[:first]}…{text[last:]}"
