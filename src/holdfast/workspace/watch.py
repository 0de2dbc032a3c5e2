"""Watch: which directories changed since they were looked at, where Linux says so (inotify).

It only spares looking: where it is absent, full, or has lost count, everything is looked at.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from typing import Any, Final

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED, _CREATE, _DELETE = 0xC0, 0x100, 0x200
_SELF, _OVERFLOW, _IGNORED, _ONLYDIR = 0xC00, 0x4000, 0x8000, 0x01000000
_MASK: Final = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _SELF | _ONLYDIR
_EVENT = struct.Struct("iIII")


class Watch:
    """Directories that are watched, by the path that each had when it was added."""

    def __init__(self) -> None:
        self._libc: Any = None
        self._file = -1
        self._paths: dict[int, str] = {}
        if sys.platform == "linux":
            try:
                self._libc = ctypes.CDLL(None, use_errno=True)
                self._file = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            except (OSError, AttributeError):
                self._file = -1

    def __bool__(self) -> bool:
        return self._file >= 0

    def add(self, directory: int, path: str) -> None:
        """Watch a directory that is open; the whole watch ends where the system has no more."""
        if self._file < 0:
            return
        # By its descriptor, so that no link put in its place meanwhile is followed.
        name = b"/proc/self/fd/%d" % directory
        number = self._libc.inotify_add_watch(self._file, name, _MASK)
        if number < 0:
            self.close()
        else:
            self._paths[number] = path

    def changed(self) -> set[str] | None:
        """Where something changed since this was last asked; None where nobody can say."""
        if self._file < 0:
            return None
        found: set[str] = set()
        whole = False
        while data := self._read():
            at = 0
            while at + _EVENT.size <= len(data):
                number, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size + length
                whole = whole or bool(mask & _OVERFLOW)
                if number in self._paths:
                    found.add(self._paths[number])
                if mask & _IGNORED:
                    self._paths.pop(number, None)
        return None if whole else found

    def _read(self) -> bytes:
        try:
            return os.read(self._file, 1 << 20)
        except BlockingIOError:
            return b""
        except OSError:
            self.close()
            return b""

    def close(self) -> None:
        """Watch nothing any more."""
        file, self._file = self._file, -1
        self._paths.clear()
        if file >= 0:
            os.close(file)
