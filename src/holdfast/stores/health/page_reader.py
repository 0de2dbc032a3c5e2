"""Rows read straight from the pages of an SQLite file, whatever of it is damaged.

The engine refuses a file whose header, schema or inner pages are gone; the rows themselves are in
leaf pages that need none of those (https://sqlite.org/fileformat2.html). Pages of a write-ahead log
come before the file's own, frame by frame as far as each frame's checksum holds.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

MAGIC = b"SQLite format 3\0"
USUAL_SIZE = 4096
TREE_PAGES = {2, 5, 10, 13}
LARGEST = 1 << 30
"""No cell of ours says that it is longer; one that does is damaged."""

_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_FRAME_HEADER, _LOG_HEADER = 24, 32

Value = int | float | str | bytes | None


class Cell(NamedTuple):
    """One row as it is stored: its rowid, if its table has them, and its values."""

    rowid: int | None
    values: tuple[Value, ...]


class Pages:
    """The pages of a database file and of its write-ahead log."""

    def __init__(self, file: BinaryIO, journal: BinaryIO | None = None) -> None:
        self._file, self._journal = file, journal
        header = _read(file, 0, 100)
        self.sound = header.startswith(MAGIC)
        """Whether the file's header is one."""
        self.size = self._page_size(header)
        self._usable = self.size - (header[20] if self.sound and header[20] <= 32 else 0)
        self._frames = _frames(journal, self.size) if journal else {}
        self.here = file.seek(0, 2) // self.size
        self.count = max((self.here, *self._frames))
        """How many pages there are."""
        said = _number(self.page(1)[28:32]) if self.sound else 0
        self.missing = max(0, said - self.count)
        """How many pages the file says it has beyond its end."""
        self.damaged = 0
        """How many pages have been met so far that hold something unreadable."""

    def page(self, number: int) -> bytes:
        """The bytes of a page, as last written; too few where the file ends early."""
        if number in self._frames and self._journal:
            return _read(self._journal, self._frames[number], self.size)
        return _read(self._file, (number - 1) * self.size, self.size)

    def cells(self) -> Iterator[Cell]:
        """Every row of every table, and the entries of every index beside them."""
        for number in range(1, self.count + 1):
            page, start = self.page(number), 100 if number == 1 else 0
            kind = page[start] if len(page) > start else 0
            if kind in TREE_PAGES:
                yield from self._cells(page, start, kind)
            elif kind:  # overflow and free pages begin with a page number, which is small
                self.damaged += 1

    def _cells(self, page: bytes, start: int, kind: int) -> Iterator[Cell]:
        if kind == 5:  # only shows the way
            return
        whole = True
        inner = 4 if kind == 2 else 0
        first = start + 8 + inner
        many = int.from_bytes(page[start + 3 : start + 5])
        for at in range(first, first + 2 * min(many, len(page) // 4), 2):
            try:
                place = int.from_bytes(page[at : at + 2]) + inner
                yield self._cell(page, place, table=kind == 13)
            except (ValueError, IndexError, struct.error):
                whole = False
        self.damaged += not whole

    def _cell(self, page: bytes, at: int, *, table: bool) -> Cell:
        size, at = _varint(page, at)
        rowid, at = _varint(page, at) if table else (None, at)
        if not 0 < size <= LARGEST:
            raise ValueError("no cell is that long")
        local = self._local(size, table)
        payload = page[at : at + local]
        if local < size:
            payload += self._overflow(_number(page[at + local : at + local + 4]), size - local)
        return Cell(rowid, _record(payload))

    def _local(self, size: int, table: bool) -> int:
        """How much of a payload is in the page itself (the file format, section 1.6)."""
        usable = self._usable
        most = usable - 35 if table else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return size
        least = (usable - 12) * 32 // 255 - 23
        fitting = least + (size - least) % (usable - 4)
        return fitting if fitting <= most else least

    def _overflow(self, number: int, size: int) -> bytes:
        pieces: list[bytes] = []
        while size > 0:
            page = self.page(number) if 0 < number <= self.count else b""
            piece = page[4 : min(self._usable, size + 4)]
            if not piece:
                raise ValueError("its chain of pages is broken")
            pieces.append(piece)
            size -= len(piece)
            number = _number(page[:4])
        return b"".join(pieces)

    def _page_size(self, header: bytes) -> int:
        said = int.from_bytes(header[16:18]) if self.sound else 0
        if not said and self._journal:
            said = _number(_read(self._journal, 8, 4))
        said = 65536 if said == 1 else said
        return said if 512 <= said <= 65536 and said & (said - 1) == 0 else USUAL_SIZE


def _read(file: BinaryIO, at: int, size: int) -> bytes:
    file.seek(at)
    return file.read(size)


def _number(data: bytes) -> int:
    """Four bytes as a number; 0 where the file ended before them."""
    return int.from_bytes(data) if len(data) == 4 else 0


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(8):
        byte = data[at + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64) if value >> 63 else value, at + 9


def _record(payload: bytes) -> tuple[Value, ...]:
    end, at = _varint(payload, 0)
    kinds: list[int] = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        size = _size(kind)
        values.append(_value(kind, payload[at : at + size], size))
        at += size
    if at != len(payload):
        raise ValueError("a record that is not as long as it says")
    return tuple(values)


def _size(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    return 8 if kind == 7 else _INTEGERS.get(kind, 0)


def _value(kind: int, data: bytes, size: int) -> Value:
    if len(data) != size or kind in (10, 11):
        raise ValueError("a value that is not there")
    if kind >= 12:
        return data.decode() if kind % 2 else data
    if kind in _INTEGERS:
        return int.from_bytes(data, signed=True)
    return struct.unpack(">d", data)[0] if kind == 7 else {0: None, 8: 0, 9: 1}[kind]


def _frames(journal: BinaryIO, size: int) -> dict[int, int]:
    """Where the newest committed version of each page is in a write-ahead log.

    A frame's checksum goes on from the one before it, so a damaged frame says nothing of the next.
    """
    found, pending = dict[int, int](), dict[int, int]()
    header = _read(journal, 0, _LOG_HEADER)
    sound = len(header) == _LOG_HEADER and _number(header[:4]) >> 1 == 0x377F0682 >> 1
    order = ">" if sound and header[3] & 1 else "<"
    before, salts = (header[24:32], header[16:24]) if sound else (b"", b"")
    for at, frame in _log(journal, size):
        salts = salts or frame[8:16]
        if frame[8:16] != salts:
            break  # left from before the log was begun anew
        if before and _checksum(order, before, frame[:8] + frame[_FRAME_HEADER:]) == frame[16:24]:
            pending[_number(frame[:4])] = at + _FRAME_HEADER
            if _number(frame[4:8]):  # a commit
                found |= pending
                pending.clear()
        before = frame[16:24]
    return found


def _log(journal: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    at = _LOG_HEADER
    while len(frame := _read(journal, at, _FRAME_HEADER + size)) == _FRAME_HEADER + size:
        yield at, frame
        at += len(frame)


def _checksum(order: str, before: bytes, data: bytes) -> bytes:
    first, second = struct.unpack(">2I", before)
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, other in zip(words[::2], words[1::2], strict=True):
        first = first + one + second & 0xFFFFFFFF
        second = second + other + first & 0xFFFFFFFF
    return struct.pack(">2I", first, second)
