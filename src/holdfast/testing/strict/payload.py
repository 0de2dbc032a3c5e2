"""The body of a request as it was meant: pieced together and unpacked."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from email.message import Message
from io import BufferedIOBase

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LARGEST = 256 << 20
"""No request is larger once it is unpacked."""


def _inflated(packed: bytes, form: int) -> bytes:
    unpacking = zlib.decompressobj(form)
    return _whole(unpacking.decompress(packed, LARGEST), unpacking.eof)


def _unzstd(packed: bytes) -> bytes:
    unpacking = zstd.ZstdDecompressor()
    return _whole(unpacking.decompress(packed, LARGEST), unpacking.eof)


def _whole(content: bytes, ended: bool) -> bytes:
    if not ended:
        raise EOFError("it ends too early, or is too large")
    return content


UNPACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "identity": bytes,
    "gzip": lambda packed: _inflated(packed, zlib.MAX_WBITS | 16),
    "deflate": lambda packed: _inflated(packed, zlib.MAX_WBITS),
    "zstd": _unzstd,
}
BROKEN = (OSError, EOFError, ValueError, zlib.error, zstd.ZstdError)


def payload(headers: Message, source: BufferedIOBase) -> bytes | None:
    """What a request carries; None where it cannot be unpacked."""
    if (headers.get("Transfer-Encoding") or "").lower() == "chunked":
        packed = b"".join(iter(lambda: _chunk(source), b""))
    else:
        packed = source.read(int(headers.get("Content-Length") or 0))
    for encoding in reversed((headers.get("Content-Encoding") or "").lower().split(",")):
        unpack = UNPACKED.get(encoding.strip())
        if unpack is None:
            return None
        try:
            packed = unpack(packed)
        except BROKEN:
            return None
    return packed


def _chunk(source: BufferedIOBase) -> bytes:
    """The next piece of a body whose length was not told; empty at its end."""
    size = int(source.readline().split(b";")[0] or b"0", 16)
    piece = source.read(size)
    source.readline()
    return piece
