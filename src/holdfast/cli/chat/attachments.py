"""Pictures in what is typed: by their path, as people and terminals write paths.

A path may be bare, quoted, with its blanks escaped, or a file:// URL, as a terminal pastes it when
a file is dropped on it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from holdfast.model.message import Media

LARGEST: Final = 20 * 1024 * 1024
"""No larger picture is taken along, in bytes."""

_PATH = re.compile(
    r"""'([^'\n]+)'|"([^"\n]+)"|((?:\\.|[^\s'"\\])+)""", re.DOTALL
)  # quoted, or bare with blanks escaped
_NAME = re.compile(r"\.(?:png|jpe?g|gif|webp)$", re.IGNORECASE)


def paths(text: str) -> list[str]:
    """The paths of pictures that stand in a text, in order, each once."""
    found: list[str] = []
    for quoted, double, bare in _PATH.findall(text):
        path = quoted or double or re.sub(r"\\(.)", r"\1", bare)
        if path.startswith("file://"):
            path = unquote(urlsplit(path).path)
        if _NAME.search(path):
            found.append(path)
    return list(dict.fromkeys(found))


def pictures(text: str, directory: str) -> tuple[list[Media], list[str]]:
    """The pictures whose paths stand in a text, and what is wrong with those that cannot be taken.

    A word that ends like a picture and names no file is a word.
    """
    taken: list[Media] = []
    wrong: list[str] = []
    for path in paths(text):
        place = Path(directory or ".", os.path.expanduser(path))
        if not place.exists():
            continue
        picture = _picture(place)
        if isinstance(picture, str):
            wrong.append(f"{path} is not taken along: {picture}")
        else:
            taken.append(picture)
    return taken, wrong


def _picture(place: Path) -> Media | str:
    from holdfast.errors import HoldfastError
    from holdfast.files import Root
    from holdfast.model.image_header import dimensions, media_type
    from holdfast.model.message import Media

    try:
        data = Root(place.parent).read(place.name, LARGEST)
    except (HoldfastError, OSError) as error:
        return str(error)
    kind = media_type(data)
    if not kind:
        return "it is no PNG, JPEG, GIF or WebP"
    width, height = dimensions(data) or (0, 0)
    return Media(kind, data, name=place.name, width=width, height=height)
