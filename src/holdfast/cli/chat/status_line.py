"""The user's own status line: their command gets the state as JSON, and says what is shown.

Rule 1: it runs beside the prompt, one at a time, and is begun at most every 300 ms.
Rule 2: it is stopped after a time; what it says is bounded, and of escapes only colours pass.
Rule 3: where it fails or says nothing, our own line is shown.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from typing import Any

from holdfast.cli.ui.terminal import neutral

EVERY = 0.3
"""Seconds between two beginnings, at least."""

SECONDS = 5.0
"""How long it may take."""

LINES = 3
LONGEST = 2_000
"""How many lines are shown, and how many characters of each are looked at."""

_COLOUR = re.compile(r"(\x1b\[[0-9;:]{0,40}m)")
_PLAIN = "\x1b[0m"


class Pace:
    """When the command may be begun again."""

    def __init__(self, every: float = EVERY, clock: Callable[[], float] = time.monotonic) -> None:
        self._every, self._clock = every, clock
        self._last: float | None = None

    def left(self) -> float:
        """Seconds until it may be; 0 when it may be now."""
        if self._last is None:
            return 0.0
        return max(self._last + self._every - self._clock(), 0.0)

    def begin(self) -> None:
        """It is begun now."""
        self._last = self._clock()


class Script:
    """Runs the command when the state has changed, and keeps what it said last."""

    def __init__(
        self,
        command: str,
        state: Callable[[], dict[str, Any]],
        *,
        pace: Pace | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._command, self._state, self._seconds = command, state, seconds
        self._pace = pace or Pace()
        self._asked, self._stopped = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self.lines: list[str] = []
        """What it said last; empty where it failed."""

    def ask(self) -> None:
        """The state has changed: have it drawn again, as soon as may be."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="holdfast-status", daemon=True)
            self._thread.start()
        self._asked.set()

    def close(self) -> None:
        """Run it no more; what is running is stopped."""
        self._stopped.set()
        self._asked.set()

    def _run(self) -> None:
        while self._asked.wait() and not self._stopped.is_set():
            if self._stopped.wait(self._pace.left()):
                return
            self._asked.clear()
            self._pace.begin()
            self.lines = self._said()

    def _said(self) -> list[str]:
        from holdfast.agent.tools.shell import ran

        try:
            state = self._state()
            ended = ran(
                self._command,
                state["cwd"] or ".",
                self._seconds,
                told=json.dumps(state).encode(),
                apart=True,
                stop=self._stopped,
            )
        except (Exception, KeyboardInterrupt):  # it is only a line: nothing may come of it
            return []
        return shown(ended.output) if ended.status == 0 else []


def shown(output: str) -> list[str]:
    """The first lines of an output, in which nothing but colours acts."""
    lines = [line for line in output[: LINES * LONGEST].splitlines() if line.strip()]
    return [_coloured(line[:LONGEST]) for line in lines[:LINES]]


def _coloured(line: str) -> str:
    pieces = _COLOUR.split(line)
    made = "".join(piece if number % 2 else neutral(piece) for number, piece in enumerate(pieces))
    return made + _PLAIN if len(pieces) > 1 else made


def cut(line: str, width: int) -> str:
    """A line that takes at most so many columns; its colours take none."""
    from rich.cells import cell_len, set_cell_size

    made, left = "", width
    for number, piece in enumerate(_COLOUR.split(line)):
        if number % 2:
            made += piece
        elif left > 0:
            made += piece if cell_len(piece) <= left else set_cell_size(piece, left)
            left -= cell_len(piece)
    return made
