"""SIGTERM ends the agent as Ctrl-C interrupts it: commands end with all they started, what was said
is kept, and then the program leaves with 143, as a shell counts it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

TERMINATED: Final = 128 + signal.SIGTERM

_told = threading.Event()


def told_to_end() -> bool:
    """Whether somebody has told this program to end."""
    return _told.is_set()


@contextmanager
def ends_when_told() -> Iterator[None]:
    """Interrupt what is going on when SIGTERM comes, once, and leave when that has ended."""
    _told.clear()
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except BaseException:
        if not told_to_end():
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if told_to_end():
        raise SystemExit(TERMINATED)


def _interrupt(*_: object) -> None:
    if not _told.is_set():
        _told.set()
        raise KeyboardInterrupt
