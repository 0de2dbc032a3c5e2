"""Reading a file that somebody else may have written: confined, bounded, and with nothing hidden.

Rule 1: a link is followed to where it leads; where that is not beneath the root, nothing is opened.
Rule 2: only regular files are opened, none waits, and none larger than the limit is read.
Rule 3: the text has nothing hidden; the digest is of the bytes as they are.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from msgspec import Struct

from holdfast.core.knowledge.hidden_unicode import Hidden, cleaned, hidden
from holdfast.errors import Unsafe
from holdfast.files import AnyPath, Root

LARGEST: Final = 256 * 1024
"""No larger instruction file, skill or note is read; it is an error, never cut."""


class SafeText(Struct, frozen=True, kw_only=True):
    """A file as it was read."""

    path: str
    """Relative to the root, where the links on the way lead."""
    text: str
    digest: str
    """SHA-256 of its bytes."""
    hidden: tuple[Hidden, ...] = ()
    """Characters nobody sees that were taken out of the text or written out in it."""


def inside(root: Root, path: AnyPath) -> str:
    """Where a path leads, relative to the root; Unsafe where that is not beneath it.

    Only names and links are looked at; nothing is opened.
    """
    place = Path(os.path.realpath(os.path.join(root.path, path)))
    if not place.is_relative_to(root.path):
        do = "name a file in it, or have the user approve this one"
        raise Unsafe(str(path), f"leads out of {root.path}", do)
    return place.relative_to(root.path).as_posix()


def read_text(root: Root, path: AnyPath, limit: int = LARGEST) -> SafeText:
    """A text file beneath the root, through the links that stay beneath it."""
    place = inside(root, path)
    # `read` refuses links, so that nothing can be put in the way between looking and opening.
    data = root.read(place, limit)
    if b"\0" in data:
        raise Unsafe(str(root.path / place), "is no text", "name a text file")
    text = data.decode("utf-8", "replace")
    digest = hashlib.sha256(data).hexdigest()
    return SafeText(path=place, text=cleaned(text), digest=digest, hidden=hidden(text))
