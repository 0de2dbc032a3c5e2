"""What the first bytes of a picture say about it: its media type, its width and height.

Rule 1: nothing is decoded; only headers are read, and no more of them than a bounded walk needs.
Rule 2: no bytes raise an error; what cannot be told is None.
"""

from __future__ import annotations

from collections.abc import Callable

MOST_SEGMENTS = 4096
"""A JPEG that has not told its size after so many segments never will."""

KINDS = ("image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp")
"""The media types whose first bytes are known."""

_NO_SIZE = {0xC4, 0xC8, 0xCC}
"""Markers among C0–CF that begin no frame: tables and reserved."""


def dimensions(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, JPEG, GIF or WebP; None where they cannot be told."""
    read = _READERS.get(media_type(data) or "")
    size = read(data) if read else None
    return size if size and size[0] > 0 and size[1] > 0 else None


def media_type(data: bytes) -> str | None:
    """The media type that the bytes themselves show; None for anything but these four."""
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return "image/png"
    if data[:3] == b"\xff\xd8\xff":
        return "image/jpeg"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def is_shown(kind: str, data: bytes) -> bool:
    """Whether bytes can be what their media type says: not where something else, such as the word
    that a redaction has left, stands in the place of one of these four."""
    return bool(data) and (kind not in KINDS or media_type(data) is not None)


def _png(data: bytes) -> tuple[int, int] | None:
    if len(data) < 24 or data[12:16] != b"IHDR":
        return None
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def _gif(data: bytes) -> tuple[int, int] | None:
    if len(data) < 10:
        return None
    return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")


def _jpeg(data: bytes) -> tuple[int, int] | None:
    position = 2
    for _ in range(MOST_SEGMENTS):
        position = data.find(b"\xff", position)
        if position < 0 or position + 9 > len(data):
            return None
        marker = data[position + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            height = int.from_bytes(data[position + 5 : position + 7], "big")
            return int.from_bytes(data[position + 7 : position + 9], "big"), height
        position += _segment(data, position, marker)
    return None


def _segment(data: bytes, position: int, marker: int) -> int:
    """How far the next marker is at least; fill bytes and lone markers have no length."""
    if marker == 0xFF:
        return 1
    if marker in (0x00, 0x01) or 0xD0 <= marker <= 0xD8:
        return 2
    return 2 + max(2, int.from_bytes(data[position + 2 : position + 4], "big"))


def _webp(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        width = int.from_bytes(data[24:27], "little")
        return width + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L" and len(data) >= 25 and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and len(data) >= 30 and data[23:26] == b"\x9d\x01\x2a":
        width = int.from_bytes(data[26:28], "little") & 0x3FFF
        return width, int.from_bytes(data[28:30], "little") & 0x3FFF
    return None


_READERS: dict[str, Callable[[bytes], tuple[int, int] | None]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/webp": _webp,
}
