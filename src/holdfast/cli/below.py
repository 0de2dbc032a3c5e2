"""What is drawn below the conversation while something happens: the newest lines, and a spinner.

It is drawn over and over, and leaves nothing behind; what is whole is drawn above it for good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner

from holdfast.cli.terminal import fitted, neutral

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

LINES = 6
"""So many lines of what is not whole yet are shown."""

LETTERS = 4_000
"""No more of it is looked at."""


class Below:
    """A spinner that says what happens, and above it the end of what is being written."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._words = ""
        self._spinner = Spinner("dots")
        self.writing = ""

    @property
    def busy(self) -> str:
        """What is said to happen; empty where nothing does."""
        return self._words if self._live else ""

    def start(self, words: str) -> None:
        """Say what happens."""
        self._words = words
        if self._live is None:
            self._live = Live(
                self, console=self._console, transient=True, refresh_per_second=10,
                redirect_stdout=False, redirect_stderr=False,
            )  # fmt: skip
            self._live.start(refresh=True)

    def stop(self) -> None:
        """Nothing happens any more."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.markdown import Markdown

        if text := neutral(self.writing[-LETTERS:]).strip("\n"):
            for line in console.render_lines(Markdown(text), options, pad=False)[-LINES:]:
                yield from line
                yield Segment.line()
        self._spinner.update(text=fitted(self._words, max(options.max_width - 4, 8)))
        yield self._spinner
