"""Server-sent events from bytes, however they are split.

Rule 1: a line ends with LF, CR LF or CR, and with nothing else: U+2028 is text.
Rule 2: an event ends with an empty line; what the stream breaks off in the middle of is no event.
Rule 3: every byte is looked at once: the unfinished line is kept, and only what is new is searched
        for its end, so that a line in a million pieces takes time linear in its length.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

LONGEST: Final = 64 * 1024 * 1024
"""The bytes of one event at most, its lines counted as they came; more is an error."""

_LINE_END: Final = re.compile(rb"\r\n?|\n")


class Event(Struct, frozen=True):
    """One event: its name, and its data with the lines joined."""

    name: str
    data: bytes


class Events:
    """Feed it bytes; it gives back the events they complete."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._unfinished = bytearray()
        self._after_carriage = False
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Event]:
        """The events that these bytes complete; ValueError where one grows beyond the bound."""
        start = int(self._after_carriage and data[:1] == b"\n")  # the rest of a CR LF cut in two
        self._after_carriage = data[-1:] == b"\r" if data else self._after_carriage
        found: list[Event] = []
        for end in _LINE_END.finditer(data, start):
            if event := self._line(self._finished(data[start : end.start()])):
                found.append(event)
            start = end.end()
        self._unfinished += data[start:]
        self._check_size(len(self._unfinished))
        return found

    def _finished(self, last: bytes) -> bytes:
        """The unfinished line with its last piece."""
        if not self._unfinished:
            return last
        line = bytes(self._unfinished) + last
        self._unfinished.clear()
        return line

    def _line(self, line: bytes) -> Event | None:
        if not line:
            return self._dispatch()
        self._size += len(line) + 1
        self._check_size()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        return None

    def _dispatch(self) -> Event | None:
        event = Event(self._name, b"\n".join(self._data)) if self._data else None
        self._name, self._data, self._size = "", [], 0
        return event

    def _check_size(self, more: int = 0) -> None:
        if self._size + more > self._longest:
            raise ValueError(f"an event has more than {self._longest:,} bytes; no reply needs them")
