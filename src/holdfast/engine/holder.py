"""Who holds a lease: this process by its name, and whether one that is named is gone.

Rule 1: only a process of this machine, as this process sees it, is ever said to be gone; of any
        other it is not known, and its lease runs out by itself.
Rule 2: a number that was given to another process since is no sign of life.
"""

from __future__ import annotations

import os
import socket
from functools import cache


def holder(id: str) -> str:
    """The name under which this process holds something."""
    return f"{id} {_here()} {os.getpid()} {_began(os.getpid())}"


def is_gone(owner: str) -> bool:
    """Whether the process that holds something is surely no more."""
    words = owner.split(" ")
    if len(words) != 4 or words[1] != _here() or not words[2].isdecimal():
        return False
    return not _lives(int(words[2])) or _began(int(words[2])) != words[3]


def _lives(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it is somebody else's
    return True


def _began(number: int) -> str:
    """When a process began, where the system tells; otherwise nothing is compared."""
    try:
        with open(f"/proc/{number}/stat", "rb") as file:
            told = file.read().rpartition(b")")[2].split()
    except OSError:
        return "-"
    return told[19].decode() if len(told) > 19 and told[0] != b"Z" else "-"


@cache
def _here() -> str:
    """This machine since it was started, and the part of it whose processes we see."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            booted = file.read().decode().strip()
        return f"{booted}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname().replace(" ", "-")
