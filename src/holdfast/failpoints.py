"""Named places where a test may make the program stop, fail or wait; silent otherwise."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

POINTS = ("store.before_commit", "store.after_commit")
"""Every failpoint there is; arming another is an error."""

_armed: dict[str, Callable[[], None]] = {}


def failpoint(name: str) -> None:
    """Do what this point was armed with; nothing, usually."""
    if _armed and (act := _armed.get(name)):
        act()


def arm(name: str, act: Callable[[], None]) -> None:
    """Make a point act from now on."""
    if name not in POINTS:
        raise ValueError(f"no failpoint {name!r}; there are {', '.join(POINTS)}")
    _armed[name] = act


def disarm() -> None:
    """Make every point silent again."""
    _armed.clear()


def kill_at(count: int) -> Callable[[], None]:
    """Kill this process, unannounced, when the point is reached for the `count`th time."""
    left = count

    def act() -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)  # until the signal arrives

    return act
