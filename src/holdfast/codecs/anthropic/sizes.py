"""How large pictures and the whole request may be (A12).

The limit of one image is on its base64 text, not on its bytes, whatever the guide's wording: the
number in the provider's error is the length of the text. The limit on pixels is one of the request:
one picture more can make an earlier one illegal.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error

import msgspec

from holdfast.codecs.anthropic.walk import Broken, Reading, Wire, rule
from holdfast.model.image_header import dimensions
from holdfast.model.profile import Profile

IMAGE_BYTES = 5 * 1024 * 1024
LONGEST_SIDE = 8_000
LONGEST_SIDE_OF_MANY = 2_000
MANY = 20
REQUEST_BYTES = 32 * 1024 * 1024

HEADER = 256 * 1024
"""How much of an image's base64 is read for its size; a multiple of four."""


@rule("A12")
def a12_images_and_request_within_limits(reading: Reading, profile: Profile) -> Broken:
    """Each image at most 5 MB and 8000 pixels, 2000 where there are many; the request 32 MB."""
    found = reading.images
    if profile.most_images and len(found) > profile.most_images:
        yield "messages", f"Too many images in request: {len(found)} > {profile.most_images}"
    for where, source in found:
        yield from _image(where, source, many=len(found) > MANY)
    limit = profile.request_bytes or REQUEST_BYTES
    if (taken := size(reading.request)) > limit:
        yield "", f"Request exceeds the maximum size: {taken} bytes > {limit} bytes"


def _image(where: str, source: Wire, *, many: bool) -> Broken:
    data = source.get("data")
    if source.get("type") != "base64" or not isinstance(data, str):
        return
    at = f"{where}.image.source.base64"
    if len(data) > IMAGE_BYTES:
        yield where, f"{at}: image exceeds 5 MB maximum: {len(data)} bytes > {IMAGE_BYTES} bytes"
    longest = max(_measured(data) or (0, 0))
    most = "At least one of the image dimensions exceed max allowed size"
    if longest > LONGEST_SIDE:
        yield where, f"{at}.data: {most}: {LONGEST_SIDE} pixels"
    elif many and longest > LONGEST_SIDE_OF_MANY:
        yield where, f"{at}.data: {most} for many-image requests: {LONGEST_SIDE_OF_MANY} pixels"


def _measured(data: str) -> tuple[int, int] | None:
    try:
        return dimensions(b64decode(data[:HEADER]))
    except (Error, ValueError):
        return None


def size(request: Wire) -> int:
    """How many bytes the body of a request takes."""
    body = {key: member for key, member in request.items() if key != "betas"}
    try:
        return len(msgspec.json.encode(body))
    except (UnicodeEncodeError, TypeError, RecursionError):
        return 0  # it cannot be written at all, which is no matter of size
