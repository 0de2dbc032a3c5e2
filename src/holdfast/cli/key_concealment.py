"""Keys are kept out of the reach of the commands that this program runs.

A command is started without our keys, but it can look at whoever started it: on Linux through
`/proc/PID/environ`, elsewhere through `ps`. So the keys are overwritten in the block of memory that
the system shows as the environment of this process; Python keeps its own copy, which is what we
read. On Linux this process also becomes one that other processes of the same user can neither
trace nor read the memory of.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from typing import Final

PR_SET_DUMPABLE: Final = 4


def conceal_keys() -> None:
    """Leave nothing of our keys to be seen from outside this process, as far as the system can."""
    from holdfast.engine.settings import KEYS  # nothing is imported before it is used

    if os.name != "posix":
        return

    names = [f"{name}=".encode() for name in KEYS]
    _overwrite_in_environ(names)
    if sys.platform == "linux":
        with suppress(OSError, ValueError, IndexError):
            _overwrite_in_block(names)
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _overwrite_in_environ(names: list[bytes]) -> None:
    """Overwrite the keys in the environment as C programs have it."""
    with suppress(ValueError):  # a system that has it under another name
        entries = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
        place = 0
        while entries and (address := entries[place]):
            _overwrite(address, ctypes.string_at(address), names)
            place += 1


def _overwrite_in_block(names: list[bytes]) -> None:
    """Overwrite them where the system looks: what was set anew since the start is there as it was.

    Where the block begins and ends stands in the file of our state, 48 and 49 fields behind the
    name of the program.
    """
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    begin, end = int(fields[47]), int(fields[48])
    block = ctypes.string_at(begin, end - begin) if 0 < begin < end else b""
    address = begin
    for entry in block.split(b"\0"):
        _overwrite(address, entry, names)
        address += len(entry) + 1


def _overwrite(address: int, entry: bytes, names: list[bytes]) -> None:
    for name in names:
        if entry.startswith(name):
            ctypes.memset(address + len(name), 0, len(entry) - len(name))
