"""JSON as it arrived: objects whose values stay the bytes they were, until somebody reads them.

Rule 1: a value that is only passed on is never written anew.
Rule 2: whatever cannot be read is `Garbled`, and nothing else is raised.
"""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec

from holdfast.model import wire

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])


class Garbled(ValueError):
    """Bytes that are not what the format says; it ends up as the error of a reply."""


def fields(data: bytes) -> dict[str, bytes]:
    """The members of a JSON object, each as its own bytes."""
    try:
        data.decode("utf-8")
        return {key: bytes(value) for key, value in _fields.decode(data).items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as refused:
        return _with_surrogates(data, refused)


def _with_surrogates(data: bytes, refused: Exception) -> dict[str, bytes]:
    """Lone surrogates, which msgspec does not read, come back as escapes."""
    if not isinstance(refused, msgspec.DecodeError) or b"\\u" not in data:
        raise Garbled(f"not a JSON object: {refused}") from None
    plain = value(data)
    if not isinstance(plain, dict):
        raise Garbled("not a JSON object") from None
    members = cast(dict[str, Any], plain)
    return {key: json.dumps(member).encode("ascii") for key, member in members.items()}


def items(data: bytes) -> list[bytes]:
    """The items of a JSON array, each as its own bytes."""
    try:
        return [bytes(item) for item in _items.decode(data)]
    except (msgspec.DecodeError, RecursionError) as refused:
        plain = value(data)
        if not isinstance(plain, list):
            raise Garbled(f"not a JSON array: {refused}") from None
        return [json.dumps(item).encode("ascii") for item in cast(list[Any], plain)]


def value(data: bytes) -> Any:
    """The value that these bytes are."""
    try:
        return wire.decode(data, object)
    except (ValueError, RecursionError) as refused:
        raise Garbled(f"not JSON: {refused}") from None


def words(data: bytes | None) -> str | None:
    """A string member; None where it is missing or no string."""
    if data is None or not data.lstrip().startswith(b'"'):
        return None
    try:
        return cast(str, value(data))
    except Garbled:
        return None


def written(text: str) -> bytes:
    """A string as JSON."""
    return wire.encode(text)


def together(members: dict[str, bytes]) -> bytes:
    """The JSON object of these members, their bytes untouched."""
    try:
        return msgspec.json.encode({key: msgspec.Raw(member) for key, member in members.items()})
    except UnicodeEncodeError:  # a name with a lone surrogate
        pairs = (json.dumps(key).encode("ascii") + b":" + one for key, one in members.items())
        return b"{%b}" % b",".join(pairs)
