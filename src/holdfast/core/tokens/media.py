"""What pictures and documents take, by the formulas their providers publish.

Rule 1: sizes come from the part or from the first bytes of the picture; nothing is decoded.
Rule 2: a size that cannot be told is taken to be large.
Rule 3: counting the pages of a document looks at a bounded part of it and never fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil
from typing import Final

from holdfast.core.tokens.estimate import estimate_bytes
from holdfast.model.image_header import dimensions
from holdfast.model.message import Media
from holdfast.model.profile import Pictures

LARGE: Final = (2_048, 1_536)
"""The size of a picture that does not say its own."""

SQUARE, SHORT, TILE = 2_048, 768, 512
"""Tiles: a picture is fitted into this square, then its short side to this, then cut like this."""

SMALL = 384
"""Crops: a picture with no longer side than this is one crop."""

SOUND_BYTES_PER_TOKEN = 500
LOOKED_AT = 32 * 1024 * 1024
MOST_PAGES = 3_000

_PAGE: Final = re.compile(rb"/Type\s*/Page(?![a-zA-Z])")
_PAGES: Final = re.compile(rb"/(?:Count|N)\s+(\d{1,6})\b")
BYTES_PER_PAGE = 50_000
"""A document whose page tree is compressed: about so large is a page."""


def media_tokens(part: Media, pictures: Pictures, page_tokens: int) -> int:
    """What a picture, document or sound takes."""
    if part.type.startswith("image/"):
        size = (part.width, part.height) if part.width and part.height else None
        return picture_tokens(*(size or dimensions(part.data) or LARGE), pictures)
    if part.type == "application/pdf" or part.data[:5] == b"%PDF-":
        return pages(part.data) * page_tokens
    if part.type.startswith("text/"):
        return estimate_bytes(part.data)
    return max(len(part.data) // SOUND_BYTES_PER_TOKEN, 1)


def picture_tokens(width: int, height: int, how: Pictures) -> int:
    """What a picture of a size takes."""
    return _WAYS[how.way](max(width, 1), max(height, 1), how)


def _patches(width: int, height: int, how: Pictures) -> int:
    """Squares of so many pixels, at most so many; or by its area, where that is more."""
    width, height = _fitted(width, height, how.edge)
    squares = ceil(width / how.side) * ceil(height / how.side)
    area = ceil(width * height / how.pixels) if how.pixels else 0
    return ceil(min(max(squares, area), how.most) * how.scale)


def _tiles(width: int, height: int, how: Pictures) -> int:
    width, height = _fitted(width, height, SQUARE)
    shorter = min(width, height)
    if shorter > SHORT:
        width, height = ceil(width * SHORT / shorter), ceil(height * SHORT / shorter)
    return how.base + how.each * ceil(width / TILE) * ceil(height / TILE)


def _crops(width: int, height: int, how: Pictures) -> int:
    if max(width, height) <= SMALL:
        return how.each
    unit = min(max(int(min(width, height) / 1.5), how.side // 3), how.side)
    return how.each * ceil(width / unit) * ceil(height / unit)


def _fixed(width: int, height: int, how: Pictures) -> int:
    return how.most


_WAYS: Final[dict[str, Callable[[int, int, Pictures], int]]] = {
    "patches": _patches,
    "tiles": _tiles,
    "crops": _crops,
    "fixed": _fixed,
}


def _fitted(width: int, height: int, edge: int) -> tuple[int, int]:
    """Scaled down until no side is longer than this."""
    longer = max(width, height)
    if not edge or longer <= edge:
        return width, height
    return max(width * edge // longer, 1), max(height * edge // longer, 1)


def pages(data: bytes) -> int:
    """How many pages a PDF has, from what can be seen of it without reading it."""
    seen = data[:LOOKED_AT]
    found = sum(1 for _ in _PAGE.finditer(seen))
    told = max((int(number) for number in _PAGES.findall(seen)), default=0)
    guess = found or min(told, len(data) // 100) or len(data) // BYTES_PER_PAGE
    return min(max(guess, 1), MOST_PAGES)
