"""What a run is doing, on standard error: the reply as it streams, and a line for each call."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from holdfast.cli.screen import about, compaction, outcome
from holdfast.cli.terminal import console, fitted, neutral, say

if TYPE_CHECKING:
    from holdfast.agent.happening import Happening
    from holdfast.model.reply import Delta

COLUMNS = 160
"""So much of a line is shown where no terminal says how wide it is."""


class Progress:
    """Tells whoever watches a run; nobody, where it is quiet."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._loading = ""
        self._within_line = False

    @property
    def is_seen(self) -> bool:
        """Whether what streams and what is answered appear in the same place."""
        return not self._quiet and sys.stdout.isatty() and sys.stderr.isatty()

    def show(self, what: Happening) -> None:
        """Something happened."""
        if self._quiet:
            return
        if what.delta is not None:
            self._delta(what.delta, within=bool(what.subtask))
        elif what.kind == "warning":
            self.line(what.words, "yellow", whole=True)
        elif what.kind == "reply" and not what.subtask:
            self.end()
        elif told := _in_words(what):
            self.line(*told, what.subtask)

    def line(self, words: str, style: str = "", subtask: str = "", *, whole: bool = False) -> None:
        """A line of our own, behind the end of what was streaming; what is `whole` is not cut."""
        if self._quiet:
            return
        self.end()
        screen = console(error=True)
        lead = " " * (len(words) - len(words.lstrip(" "))) + ("  " if subtask else "")
        width = screen.width if screen.is_terminal else COLUMNS
        say(words if whole else f"{lead}{fitted(words, width - len(lead))}", style, error=True)

    def loading(self, model: str, seconds: float) -> None:
        """A model is being loaded; said when it begins."""
        if self._loading != model:
            self._loading = model
            self.line(f"loading {model}…", "dim")

    def end(self) -> None:
        """End the line that is being written."""
        if self._within_line:
            self._within_line = False
            sys.stderr.write("\n")
            sys.stderr.flush()

    def _delta(self, delta: Delta, *, within: bool) -> None:
        if within:
            return
        if delta.waiting:
            self.line(f"waiting {delta.waiting:g} s to try again…", "dim")
        elif delta.text:
            sys.stderr.write(neutral(delta.text))
            sys.stderr.flush()
            self._within_line = not delta.text.endswith("\n")


def _in_words(what: Happening) -> tuple[str, str] | None:
    """A line about something that happened, and how it is coloured."""
    if what.kind == "call" and what.call:
        return f"→ {about(what.call)}", "cyan"
    if what.kind == "refused" and what.call:
        return f"  not allowed: {what.call.name}", "yellow"
    if what.kind == "result" and what.result:
        return f"  {outcome(what.result)}", "red" if what.result.error else "green"
    if what.kind == "compacted" and what.entry:
        return compaction(what.entry, "`holdfast undo`"), "dim"
    return None
