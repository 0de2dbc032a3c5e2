"""Lines of JSON, as most programs write them: each a record, or a problem with its number.

Rule 1: a damaged line hides no other; its bytes are kept. One that is only not UTF-8 is read too.
Rule 2: what is left of a record once its content is told otherwise is cut out of its own bytes, so
        that every number and every string in it is as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from holdfast.model import wire
from holdfast.model.message import Record
from holdfast.model.transcript_events import Kept, Problem
from holdfast.ports import TranscriptFile

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)

MOST_VALUES = 2_000_000
"""How many values one record has at most: each takes many times the bytes it is written with."""

NOT_UTF8 = "is not UTF-8: what is not was read as Windows-1252"

MOST_MENDED = 8 << 20
"""How long a line is at most that is read though it is not UTF-8."""

_WESTERN = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "replace").replace("\ufffd", chr(byte))
    for byte in range(0x80, 0x100)
}
"""Of bytes that are no UTF-8: the letters they are in Windows-1252, else in Latin-1."""

_MARK = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|(?P<mark>[,\[{])', re.DOTALL)
_raw = msgspec.json.Decoder(dict[str, msgspec.Raw])
_any = msgspec.json.Decoder()


class Found(msgspec.Struct, frozen=True, gc=False):
    """One record: its fields, its bytes and its line."""

    line: int
    data: bytes
    fields: dict[str, Any]

    def text(self, name: str) -> str:
        """A field that should be text; empty where it is something else."""
        value = self.fields.get(name)
        return value if type(value) is str else ""

    def table(self, name: str) -> dict[str, Any]:
        """A field that should be an object; empty where it is something else."""
        value = self.fields.get(name)
        return value if type(value) is dict else {}


def records(
    material: TranscriptFile, owner: str, name: str = ""
) -> Iterator[Found | Kept | Problem]:
    """The records of a file; of a line that is none, what is wrong and what stood there."""
    for line in material.lines(name):
        if line.fault:
            yield Problem(line.fault, line.number)
            continue
        if not line.data or line.data.isspace():
            continue
        yield from read(owner, line.number, line.data)


def read(owner: str, line: int, data: bytes) -> Iterator[Found | Kept | Problem]:
    """The record that some bytes are; otherwise what is wrong, and the bytes."""
    try:
        value = decode(data)
    except UNREADABLE as why:
        mended = as_utf8(data)
        if mended != data and (value := decoded(mended)) is not None:
            yield Problem(NOT_UTF8, line)
            yield Kept(Record(owner, "not UTF-8", data, line, whole=True))
            data = mended
        else:
            yield Problem(f"is no JSON: {_brief(why)}", line)
            yield Kept(Record(owner, "damaged", data, line, whole=True))
            return
    if type(value) is dict:
        yield Found(line, data, value)
    else:
        yield Problem("is no record, but other JSON", line, "unknown")
        yield Kept(Record(owner, "other", data, line, whole=True))


def as_utf8(data: bytes) -> bytes:
    """Some text as UTF-8: bytes in it that are none are read as what they most often are then.

    As it is where it is UTF-8 already, or far too long for that.
    """
    if len(data) > MOST_MENDED:
        return data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        return text.translate(_WESTERN).encode("utf-8")
    return data


def decoded(data: bytes) -> Any:
    """The value that some JSON is; None where it is none."""
    try:
        return decode(data)
    except UNREADABLE:
        return None


def decode(data: bytes) -> Any:
    """The value that some JSON is, lone surrogates included."""
    if is_dense(data):
        raise ValueError(f"more than {MOST_VALUES:,} values in one record")
    try:
        return _any.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return wire.decode(data, object)


def is_dense(data: bytes) -> bool:
    """Whether it holds more values than are taken apart; what stands in its texts is none."""
    if len(data) <= MOST_VALUES or sum(map(data.count, (b",", b"[", b"{"))) <= MOST_VALUES:
        return False
    marks = texts = 0
    for token in _MARK.finditer(data):
        if token.lastgroup:
            marks += 1
        else:
            texts += 1  # of which a value is at most two: its name, and itself
        if marks > MOST_VALUES or texts > 2 * MOST_VALUES:
            return True
    return False


def parted(data: bytes, *path: str) -> tuple[bytes, bytes]:
    """One member, named by the members that lead to it, and the object without it.

    Nothing and the whole object where there is no such member, or text that has no UTF-8 form.
    """
    try:
        members = _raw.decode(data)
    except UNREADABLE:
        return b"", data
    name, inner = path[0], path[1:]
    if name not in members:
        return b"", data
    member = bytes(members.pop(name) if not inner else members[name])
    if inner:
        member, left = parted(member, *inner)
        members[name] = msgspec.Raw(left)
    return member, msgspec.json.encode(members)


def without(data: bytes, *path: str) -> bytes:
    """An object's bytes without one member, named by the members that lead to it."""
    return parted(data, *path)[1]


def rest(owner: str, kind: str, found: Found, *path: str) -> Record:
    """What is left of a record once one member of it is told otherwise."""
    return Record(owner, kind, without(found.data, *path), found.line)


def whole(owner: str, kind: str, found: Found) -> Kept:
    """A record that has no other place."""
    return Kept(Record(owner, kind, found.data, found.line, whole=True))


def milliseconds(text: object) -> int:
    """A time as programs write it, in ms since 1970; 0 where it is none."""
    if type(text) is not str:
        return 0
    try:
        return max(int(datetime.fromisoformat(text).timestamp() * 1000), 0)
    except (ValueError, OverflowError, OSError):
        return 0


def _brief(why: Exception) -> str:
    return str(why)[:120] or type(why).__name__
