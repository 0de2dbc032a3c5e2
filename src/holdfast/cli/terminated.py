"""SIGTERM and SIGHUP end the agent as Ctrl-C interrupts it, and then the program leaves.

Commands end with all they started, what was said is kept, and the status is 143 or 129, as a shell
counts it.

A program that is to outlive its terminal (`nohup`) ignores SIGHUP, and goes on ignoring it.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_told: list[int] = []
"""The signal that has told this program to end."""


def told_to_end() -> bool:
    """Whether somebody has told this program to end."""
    return bool(_told)


@contextmanager
def ends_when_told() -> Iterator[None]:
    """Interrupt what is going on when a signal comes, once, and leave when that has ended."""
    _told.clear()
    before = {one: signal.signal(one, _interrupt) for one in _signals()}
    try:
        yield
    except BaseException:
        if not told_to_end():
            raise
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    if told_to_end():
        raise SystemExit(128 + _told[0])


def _signals() -> list[Any]:
    """The signals that end it; Windows has no SIGHUP."""
    named = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    return [one for one in named if one is not None and signal.getsignal(one) != signal.SIG_IGN]


def _interrupt(number: int, _: object) -> None:
    if not _told:
        _told.append(number)
        raise KeyboardInterrupt
