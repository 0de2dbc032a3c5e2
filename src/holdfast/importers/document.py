"""One JSON document with a long list in it: each item by its own bytes, also where it is damaged.

Rule 1: a document that was cut off, or that has a hole, still gives every item that is whole.
Rule 2: what lies around the items of a damaged document is kept as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.importers.jsonl import UNREADABLE, Found, decode, read
from holdfast.model import wire
from holdfast.model.message import Record
from holdfast.model.told import Kept, Problem

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\]:,]', re.DOTALL)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])


class Document(Struct):
    """What a document holds."""

    head: dict[str, Any]
    """Its members, but for the list."""
    rest: bytes
    """The document without the list."""
    items: list[tuple[int, bytes]]
    """The items of the list, each with the line that it begins on."""
    lost: tuple[tuple[int, bytes], ...] = ()
    """What of a damaged document is neither."""

    def records(self, owner: str) -> Iterator[Found | Kept | Problem]:
        """The items as records, and what is wrong with the document."""
        for line, data in self.items:
            yield from read(owner, line, data)
        for line, data in self.lost:
            yield Problem("is damaged from here on: what is whole was read", line)
            yield Kept(Record(owner, "damaged", data, line, whole=True))


def document(data: bytes, name: str) -> Document | None:
    """A document by the name of its list; None where it is something else altogether."""
    try:
        members = {key: bytes(raw) for key, raw in _members.decode(data).items()}
    except UNREADABLE:
        return _plain(data, name)
    try:
        items = [bytes(raw) for raw in _items.decode(members.get(name, b"[]"))]
    except UNREADABLE:
        return _plain(data, name)
    members.pop(name, None)
    rest = msgspec.json.encode({key: msgspec.Raw(raw) for key, raw in members.items()})
    return Document(_head(members), rest, list(_numbered(data, items)))


def _plain(data: bytes, name: str) -> Document | None:
    """The same by way of its values, where there is text that has no UTF-8 form."""
    try:
        value = decode(data)
    except UNREADABLE:
        return _salvaged(data, name)
    if type(value) is not dict or type(value.get(name, [])) is not list:
        return None
    items = [(0, wire.encode(item)) for item in value.pop(name, [])]
    return Document(value, wire.encode(value), items)


def _head(members: dict[str, bytes]) -> dict[str, Any]:
    head: dict[str, Any] = {}
    for key, raw in members.items():
        try:
            head[key] = decode(raw)
        except UNREADABLE:
            continue
    return head


def _numbered(data: bytes, items: list[bytes]) -> Iterator[tuple[int, bytes]]:
    """Items with the lines they begin on."""
    line, at = 1, 0
    for item in items:
        found = data.find(item, at)
        line += data.count(b"\n", at, found)
        at = found
        yield line, item


def _salvaged(data: bytes, name: str) -> Document | None:
    if not data.lstrip().startswith(b"{"):
        return None
    scan = Scan(data, name.encode())
    scan.run()
    items = [data[start:end] for start, end in scan.items]
    first = scan.items[0][0] if items else len(data)
    last = scan.items[-1][1] if items else len(data)
    pieces = ((0, data[:first]), (last, data[last:]))
    lost = tuple((data.count(b"\n", 0, at) + 1, piece) for at, piece in pieces if piece.strip())
    return Document(_head(scan.head), b"{}", list(_numbered(data, items)), lost)


class Scan:
    """A walk through a damaged document by its brackets alone."""

    def __init__(self, data: bytes, name: bytes) -> None:
        self._data, self._name = data, b'"%b"' % name
        self.head: dict[str, bytes] = {}
        self.items: list[tuple[int, int]] = []
        self._depth = 0
        self._key, self._valued = b"", False
        self._start = self._item = 0
        self._inside = False

    def run(self) -> None:
        """Walk to the end."""
        for token in _TOKEN.finditer(self._data):
            sign = self._data[token.start()]
            if sign in b"{[":
                self._open(token.start(), sign)
            elif sign in b"}]":
                self._close(token.end())
            elif self._depth == 1:
                self._member(sign, token.group())

    def _open(self, at: int, sign: int) -> None:
        if self._depth == 1:
            self._start = at
            self._inside = self._key == self._name and sign == 0x5B
        elif self._depth == 2 and self._inside:
            self._item = at
        self._depth += 1

    def _close(self, end: int) -> None:
        self._depth = max(self._depth - 1, 0)
        if self._depth == 2 and self._inside:
            self.items.append((self._item, end))
        elif self._depth == 1:
            if not self._inside:
                self._found(self._data[self._start : end])
            self._inside = self._valued = False

    def _member(self, sign: int, token: bytes) -> None:
        if sign == 0x3A:
            self._valued = True
        elif sign == 0x2C:
            self._valued = False
        elif self._valued:
            self._found(token)
        else:
            self._key = token

    def _found(self, value: bytes) -> None:
        self.head[self._key[1:-1].decode("utf-8", "replace")] = value
