"""One JSON document with a long list in it: each item by its own bytes, also where it is damaged.

Rule 1: a document that was cut off at either end, or that has a hole, still gives every item that
        is whole: an item is known by how it begins, wherever that stands.
Rule 2: what lies around the items of a damaged document is kept as it stands.
Rule 3: a document is held once: its items are views of it, and are taken out one at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.importers.jsonl import UNREADABLE, Found, as_utf8, decoded, is_dense, read
from holdfast.importers.salvage import is_object, members, whole_items
from holdfast.importers.values import table
from holdfast.model import wire
from holdfast.model.message import Record
from holdfast.model.transcript_events import Kept, Problem

LARGEST = 96 << 20
"""The bytes of a document: it is held at once, which a file of lines is not."""

TOO_LARGE = f"cannot be read, or has more than the {LARGEST >> 20} MB that are read of one document"

SOMETHING = re.compile(rb"[^, \t\r\n]")
"""More than what lies between two items of a list."""

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])


class Piece(Struct, frozen=True, gc=False):
    """An item of the list, or what is left of a damaged place; with the line that it begins on."""

    line: int
    data: memoryview | msgspec.Raw | bytes
    whole: bool = True

    def records(self, owner: str) -> Iterator[Found | Kept | Problem]:
        """The record that it is; otherwise what is wrong, and the bytes."""
        data = bytes(self.data)
        if self.whole:
            yield from read(owner, self.line, data)
            return
        yield Problem("is damaged here: what is whole around it was read", self.line)
        if SOMETHING.search(data):
            yield Kept(Record(owner, "damaged", data, self.line, whole=True))


class Document(Struct):
    """What a document holds."""

    head: dict[str, Any]
    """Its members, but for the list."""
    rest: bytes
    """The document without the list; empty where that is damaged."""
    pieces: list[Piece]
    """The items of the list, and what of a damaged document is none, in their order."""

    @property
    def items(self) -> Iterator[tuple[int, bytes]]:
        """The items of the list, each with the line that it begins on."""
        return ((one.line, bytes(one.data)) for one in self.pieces if one.whole)

    def records(self, owner: str) -> Iterator[Found | Kept | Problem]:
        """The items as records, and what is wrong with the document."""
        for piece in self.pieces:
            yield from piece.records(owner)


def document(data: bytes, name: str, begins: re.Pattern[bytes]) -> Document | None:
    """A document by the name of its list and by how an item of that begins.

    None where it is something else altogether.
    """
    if is_dense(data):
        return _by_items(data, name, begins)
    try:
        around = _members.decode(data)
        items = _items.decode(around.pop(name, b"[]"))
    except UNREADABLE:
        return _by_items(data, name, begins)
    rest = msgspec.json.encode(around)
    return Document(_head(around), rest, list(_numbered(data, items)))


def _head(around: dict[str, Any]) -> dict[str, Any]:
    return {key: decoded(as_utf8(bytes(raw))) for key, raw in around.items()}


def _numbered(data: bytes, items: list[msgspec.Raw]) -> Iterator[Piece]:
    """Items with the lines they begin on."""
    line, at = 1, 0
    for item in items:
        with memoryview(item) as seen:
            found = data.find(seen, at)
            line += data.count(b"\n", at, found)
            yield Piece(line, item)
            at = found + len(seen)
            line += data.count(b"\n", found, at)


def _by_items(data: bytes, name: str, begins: re.Pattern[bytes]) -> Document | None:
    """The same where it cannot be taken apart as a whole: it is damaged, or has text in it that
    has no UTF-8 form."""
    spans = whole_items(data, begins)
    first, last = (spans[0][0], spans[-1][1]) if spans else (len(data), len(data))
    value = decoded(data[:first] + data[last:])
    if type(value) is dict and type(value.get(name, [])) is list:
        others = [Piece(0, wire.encode(item)) for item in value.pop(name, [])]
        return Document(value, wire.encode(value), [*_cut(data, spans), *others])
    if not spans and (value is not None or not is_object(data)):
        return None
    return _salvaged(data, name, spans, first, last)


def _salvaged(
    data: bytes, name: str, spans: list[tuple[int, int]], first: int, last: int
) -> Document:
    """A damaged document: its items, what lies around them as far as it is whole, and the rest."""
    start, end = decoded(data[:first] + b"]}"), decoded(b'{"%b":[' % name.encode() + data[last:])
    pieces, view = list(_cut(data, spans)), memoryview(data)
    if type(start) is not dict:
        pieces.insert(0, Piece(1, view[:first], whole=False))
    if type(end) is not dict and (spans or type(start) is dict):
        pieces.append(Piece(data.count(b"\n", 0, last) + 1, view[last:], whole=False))
    around = table(start) | table(end)
    around.pop(name, None)
    rest = wire.encode(around) if around else b""
    return Document(around or _head(members(data[:first])), rest, pieces)


def _cut(data: bytes, spans: list[tuple[int, int]]) -> Iterator[Piece]:
    """The pieces at some places, and what lies between them if it is more than a comma."""
    view, line, at = memoryview(data), 1, 0
    before = spans[0][0] if spans else 0
    for start, end in spans:
        if SOMETHING.search(data, before, start):
            line, at = line + data.count(b"\n", at, before), before
            yield Piece(line, view[before:start], whole=False)
        line, at = line + data.count(b"\n", at, start), start
        yield Piece(line, view[start:end])
        before = end
