"""Headers of pictures: what they say is read, and nothing breaks on what they are not."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.image_header import dimensions, media_type

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x02\0\0\0"
GIF = b"GIF89a" + struct.pack("<HH", 320, 200) + b"\0\0\0"
EXIF = b"\xff\xe1" + struct.pack(">H", 400) + b"\xff\xc0" * 199
FRAME = b"\xff\xc2" + struct.pack(">HBHHB", 17, 8, 1080, 1920, 3) + b"\0" * 9
JPEG = b"\xff\xd8" + EXIF + b"\xff\xff\xff" + FRAME[1:]
RIFF = b"RIFF" + struct.pack("<I", 100) + b"WEBP"
LOSSY = RIFF + b"VP8 " + b"\0" * 7 + b"\x9d\x01\x2a" + struct.pack("<HH", 800, 600)
LOSSLESS = RIFF + b"VP8L" + b"\0" * 4 + b"\x2f" + struct.pack("<I", 99 | 49 << 14)
EXTENDED = RIFF + b"VP8X" + b"\0" * 8 + b"\x7f\x3e\0" + b"\x0f\x27\0"


@pytest.mark.parametrize(
    ("data", "type", "size"),
    [
        (PNG, "image/png", (640, 480)),
        (GIF, "image/gif", (320, 200)),
        (JPEG, "image/jpeg", (1920, 1080)),
        (LOSSY, "image/webp", (800, 600)),
        (LOSSLESS, "image/webp", (100, 50)),
        (EXTENDED, "image/webp", (16000, 10000)),
    ],
)
def test_a_header_tells_type_and_size(data: bytes, type: str, size: tuple[int, int]) -> None:
    assert media_type(data) == type
    assert dimensions(data) == size


@pytest.mark.parametrize("data", [PNG, GIF, JPEG, LOSSY, LOSSLESS, EXTENDED])
def test_a_header_cut_short_tells_its_size_or_nothing(data: bytes) -> None:
    sizes = {dimensions(data[:end]) for end in range(len(data))}
    assert sizes <= {None, dimensions(data)}


def test_a_picture_without_extent_has_no_size() -> None:
    assert dimensions(b"GIF89a" + b"\0" * 10) is None


def test_a_jpeg_that_never_tells_ends_the_search() -> None:
    assert dimensions(b"\xff\xd8\xff" + b"\xff\xd0" * 500_000) is None


@given(st.sampled_from([b"", PNG[:8], GIF[:6], b"\xff\xd8\xff", RIFF + b"VP8X"]), st.binary())
def test_no_bytes_raise(start: bytes, rest: bytes) -> None:
    size = dimensions(start + rest)
    assert size is None or min(size) > 0
