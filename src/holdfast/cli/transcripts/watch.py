"""`holdfast import --watch`: what has been added since, until somebody presses Ctrl-C."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.cli.options import Asked

if TYPE_CHECKING:
    from holdfast.engine.client import Holdfast
    from holdfast.engine.importing.discovery import Source
    from holdfast.model.import_report import ImportReport

PAUSE = 2.0
"""How long it waits before it looks again, in seconds."""


def follow(
    hf: Holdfast, asked: Asked, paths: tuple[str, ...], agents: tuple[str, ...],
    before: Iterable[ImportReport],
) -> int:  # fmt: skip
    """Look again and again, and tell what is new; 130 once somebody has had enough."""
    from holdfast.cli.ui.terminal import say

    known = {one.path: one.troubles for one in before}
    where = ", ".join(paths) or "the usual places"
    say(f"Watching {where}; Ctrl-C ends it.", "dim", error=True)
    try:
        while True:
            time.sleep(PAUSE)
            for report in hf.import_sources(_there(hf, paths, agents), fresh=True):
                changed = report.troubles != known.get(report.path, 0) and not report.unchanged
                if report.entries or changed:
                    _news(report, asked)
                    known[report.path] = report.troubles
    except KeyboardInterrupt:
        say("\nNo longer watching; what was imported stays.", "dim", error=True)
        return 130


def _there(hf: Holdfast, paths: tuple[str, ...], agents: tuple[str, ...]) -> list[Source]:
    """What is there now; a file that is being put in the place of another may be away."""
    from holdfast.errors import HoldfastError

    found: list[Source] = []
    for place in [(path,) for path in paths] or [()]:
        with suppress(HoldfastError):
            found += hf.transcripts(*place, agents=agents)
    return found


def _news(report: ImportReport, asked: Asked) -> None:
    """What was found since, with its problems."""
    from holdfast.cli.transcripts.problems import as_value, tell, troubles
    from holdfast.cli.ui.format import many, path
    from holdfast.cli.ui.terminal import console, emit, one_line, say

    if asked.json:
        emit(as_value(report))
        return
    screen = console()
    shown = os.path.basename(report.path) if screen.is_terminal else path(report.path)
    new = f"{many(report.entries, 'entry', 'entries')} new"
    say(one_line(f"{shown}: {new}, {many(troubles(report), 'problem')}"))
    tell([report], lambda _: shown, screen.width if screen.is_terminal else 0)
