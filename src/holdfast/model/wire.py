"""The one door through which values become bytes and bytes become values again.

JSON by msgspec. A text with a lone surrogate has no UTF-8 form, which msgspec refuses to write and
to read: such a value goes through the standard library instead, escaped to ASCII. One case is left
that JSON cannot say at all, a high surrogate and a low one side by side that are not one character:
escaped they would come back as one, so there the surrogates themselves are written.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

LARGEST = 2**53
"""Numbers from here on are not the same for everybody who reads JSON: nothing counts so many."""

_encoder = msgspec.json.Encoder()
_anything = msgspec.json.Decoder()


def encode(value: object) -> bytes:
    """The JSON bytes of a value."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encode_surrogates(msgspec.to_builtins(value))


def _encode_surrogates(plain: object) -> bytes:
    escaped = json.dumps(plain, ensure_ascii=True, separators=(",", ":"))
    if json.loads(escaped) == plain:
        return escaped.encode("ascii")
    raw = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    return raw.encode("utf-8", "surrogatepass")


def decode(data: bytes, type: type[T]) -> T:
    """The value that these bytes are; `msgspec.DecodeError` where they are not one."""
    try:
        return _decoder(type).decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        if not any(sign in data for sign in (b"\\ud", b"\\uD", b"\xed")):
            raise
        return _decode_surrogates(data, type, refused)


def _decode_surrogates(data: bytes, type: type[T], refused: Exception) -> T:
    try:
        plain = json.loads(data.decode("utf-8", "surrogatepass"))
        return msgspec.convert(plain, type, builtin_types=())
    except (ValueError, RecursionError, msgspec.ValidationError):
        raise refused from None


@cache
def _decoder(type: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(type)


def value(text: str) -> Any:
    """What a text is as JSON; ValueError or RecursionError where it is none.

    As `json.loads` has it, which also reads what only Python writes, and several times as fast.
    """
    try:
        return _anything.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return json.loads(text)


def digest(data: bytes) -> bytes:
    """What identifies these bytes: their SHA-256."""
    return sha256(data).digest()
