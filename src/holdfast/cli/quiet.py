"""A terminal that shows nothing of what is typed meanwhile; it waits, and is read afterwards."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def quiet() -> Iterator[None]:
    """Type without an echo; Ctrl-C interrupts as ever."""
    with _echoing(False):
        yield


@contextmanager
def aloud() -> Iterator[None]:
    """Type with an echo again, for an answer; what was typed before the question is no answer."""
    with _echoing(True):
        forget_typed()
        yield


@contextmanager
def _echoing(wanted: bool) -> Iterator[None]:
    import termios

    try:
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
    except (OSError, ValueError, termios.error):  # no terminal, no echo
        yield
        return
    changed = [*before]
    changed[3] = before[3] | termios.ECHO if wanted else before[3] & ~termios.ECHO
    changed[3] |= termios.NOFLSH  # an interrupt is no reason to forget what was typed
    termios.tcsetattr(terminal, termios.TCSANOW, changed)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


def forget_typed() -> None:
    """Drop what was typed and not read yet."""
    import termios

    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
