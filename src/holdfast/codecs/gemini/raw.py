"""JSON taken apart one level at a time, so that what is not ours to read stays as it came.

Rule 1: what cannot be read is `Unreadable`; nothing else is raised, however hostile the bytes.
Rule 2: bytes that are no UTF-8 and half surrogate pairs become U+FFFD: no provider means them.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

T = TypeVar("T")
Fields = dict[str, Raw]

FAULTS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F])..|.)", re.S
)


class Unreadable(ValueError):
    """These bytes are not what they should be."""


def mended(data: bytes) -> bytes:
    """The same JSON with what has no UTF-8 form replaced."""
    whole = data.decode("utf-8", "replace").encode("utf-8")
    return ESCAPES.sub(lambda found: rb"\ufffd" if found[1] else found[0], whole)


def read(data: bytes | Raw, type: type[T]) -> T:
    """The value these bytes are, of this type."""
    try:
        return msgspec.json.decode(data, type=type)
    except FAULTS as fault:
        raise Unreadable(str(fault)) from None


def fields(data: bytes | Raw) -> Fields:
    """The members of an object, unread."""
    return read(data, Fields)


def members(data: bytes | Raw) -> list[Raw]:
    """The members of an array, unread."""
    return read(data, list[Raw])


def told(found: Fields, name: str, type: type[T], default: T) -> T:
    """A field where it is there and of its type; otherwise the default."""
    if name not in found:
        return default
    try:
        return read(found[name], type)
    except Unreadable:
        return default


def compact(data: bytes) -> bytes:
    """The same JSON, token for token, without the layout that differs from one route to another."""
    try:
        return msgspec.json.format(data, indent=-1)
    except FAULTS as fault:
        raise Unreadable(str(fault)) from None


def written(value: Any) -> bytes:
    """The JSON of fields that were left unread."""
    return msgspec.json.encode(value)
