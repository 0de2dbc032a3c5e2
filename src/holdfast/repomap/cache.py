"""What was read of a repository, kept between runs: a private file that can be made again.

A file is read again when its time or size differs, and all of them when our queries do. A damaged
file is as good as none.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from holdfast.core.repo_map import Tags
from holdfast.errors import Unsafe
from holdfast.files import Root, private_directory, write_atomic, xdg_home
from holdfast.repomap.parse import version

LARGEST: Final = 256 << 20


class Known(msgspec.Struct, frozen=True, array_like=True):
    """What one file held, and by what we know it is still the same."""

    time: int
    size: int
    tags: Tags


class Kept(msgspec.Struct, frozen=True):
    """All that is kept of one repository."""

    version: str
    root: str
    files: dict[str, Known]


def load(root: Path) -> dict[str, Known]:
    """What is known of the files of a repository; nothing where that is lost or out of date."""
    place = _place(root)
    try:
        data = Root(place.parent).read(place.name, LARGEST)
        if sha256(data[32:]).digest() != data[:32]:
            return {}
        kept = msgspec.msgpack.decode(data[32:], type=Kept)
    except (OSError, Unsafe, msgspec.MsgspecError, RecursionError):
        return {}
    return kept.files if (kept.version, kept.root) == (version(), str(root)) else {}


def save(root: Path, files: dict[str, Known]) -> None:
    """Keep what is known; where that cannot be written, it is read again next time."""
    data = msgspec.msgpack.encode(Kept(version(), str(root), files))
    place = _place(root)
    with suppress(OSError, Unsafe):
        private_directory(place.parent)
        write_atomic(place, sha256(data).digest() + data)


def _place(root: Path) -> Path:
    name = sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return xdg_home("XDG_CACHE_HOME", ".cache") / "maps" / f"{name}.tags"
