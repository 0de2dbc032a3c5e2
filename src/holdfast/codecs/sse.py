"""Server-sent events from bytes, however they are split.

Rule 1: a line ends with LF, CR LF or CR, and with nothing else: U+2028 is text.
Rule 2: an event ends with an empty line; what the stream breaks off in the middle of is no event.
"""

from __future__ import annotations

from msgspec import Struct

LONGEST = 64 * 1024 * 1024
"""An event of more bytes than this is nobody's."""


class Event(Struct, frozen=True):
    """One event: its name, and its data with the lines joined."""

    name: str
    data: bytes


class Events:
    """Feed it bytes; it gives back the events they complete."""

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Event]:
        """The events that these bytes complete."""
        buffer = self._rest + data
        found: list[Event] = []
        start = 0
        while (end := _line_end(buffer, start)) is not None:
            stop, following = end
            if event := self._line(buffer[start:stop]):
                found.append(event)
            start = following
        self._rest = buffer[start:]
        if len(self._rest) + self._size > LONGEST:
            raise ValueError("an event without end")
        return found

    def _line(self, line: bytes) -> Event | None:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
            self._size += len(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        return None

    def _dispatch(self) -> Event | None:
        event = Event(self._name, b"\n".join(self._data)) if self._data else None
        self._name, self._data, self._size = "", [], 0
        return event


def _line_end(buffer: bytes, start: int) -> tuple[int, int] | None:
    """Where the line at `start` ends and the next begins; None while that is not known."""
    feed = buffer.find(b"\n", start)
    carriage = buffer.find(b"\r", start, feed if feed >= 0 else len(buffer))
    if carriage < 0:
        return (feed, feed + 1) if feed >= 0 else None
    if carriage + 1 == len(buffer):
        return None  # an LF may follow
    return carriage, carriage + 1 + (buffer[carriage + 1 : carriage + 2] == b"\n")
