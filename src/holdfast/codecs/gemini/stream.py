"""A streamed reply: server-sent events (`alt=sse`), or one JSON array that grows."""

from __future__ import annotations

import re

from holdfast.codecs.gemini.decode import Assembly
from holdfast.codecs.sse import LONGEST, Events
from holdfast.model.reply import Delta, Reply

OUTSIDE = re.compile(rb'["{}]')
INSIDE = re.compile(rb'["\\]')


class Objects:
    """Feed it the bytes of a JSON array; it gives back the objects they complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._at = 0
        self._depth = 0
        self._quoted = False
        self._start = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The objects that these bytes complete."""
        self._buffer += data
        found: list[bytes] = []
        while (sign := self._next()) is not None:
            if self._quoted:
                if not self._inside(sign):
                    break
            elif self._outside(sign):
                found.append(bytes(self._buffer[self._start : self._at]))
        self._forget()
        return found

    def _next(self) -> int | None:
        """Where the next sign that matters is."""
        pattern = INSIDE if self._quoted else OUTSIDE
        found = pattern.search(self._buffer, self._at)
        if found is None:
            self._at = len(self._buffer)
            return None
        self._at = found.end()
        return found.start()

    def _inside(self, sign: int) -> bool:
        """Read on in a string; False where the sign behind a backslash has not come yet."""
        if self._buffer[sign] == ord('"'):
            self._quoted = False
        elif sign + 1 >= len(self._buffer):
            self._at = sign
            return False
        else:
            self._at = sign + 2
        return True

    def _outside(self, sign: int) -> bool:
        """Read on between strings; True where an object ends."""
        match chr(self._buffer[sign]):
            case "{":
                self._start = sign if self._depth == 0 else self._start
                self._depth += 1
            case "}":
                self._depth = max(0, self._depth - 1)
                return self._depth == 0
            case _:
                self._quoted = True
        return False

    def _forget(self) -> None:
        done = self._start if self._depth else self._at
        del self._buffer[:done]
        self._at -= done
        self._start -= min(done, self._start)
        if len(self._buffer) > LONGEST:
            raise ValueError("an object without end")


class GeminiDecoder:
    """Reads one streamed reply; the first sign that is no space tells which of the two it is."""

    def __init__(self) -> None:
        self._assembly = Assembly()
        self._source: Events | Objects | None = None

    def feed(self, data: bytes) -> list[Delta]:
        """The pieces that these bytes complete."""
        if self._assembly.failed:
            return []
        if self._source is None:
            data = data.lstrip()
            if not data:
                return []
            self._source = Objects() if data[:1] in (b"[", b"{") else Events()
        try:
            chunks = self._chunks(self._source, data)
        except ValueError as fault:
            self._assembly.fail(str(fault))
            return []
        return [delta for chunk in chunks for delta in self._assembly.take(chunk)]

    def _chunks(self, source: Events | Objects, data: bytes) -> list[bytes]:
        if isinstance(source, Objects):
            return source.feed(data)
        return [event.data for event in source.feed(data) if event.data.strip() != b"[DONE]"]

    def close(self) -> Reply:
        """The whole reply."""
        return self._assembly.reply()
