"""Which file a store is: a path as people write it, in full; refused where it can be none."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.errors import Misuse, Unsafe


def file_at(path: str | os.PathLike[str]) -> Path:
    """The file that a path names; nothing is opened or made."""
    said = os.fspath(path)
    if said == ":memory:":
        raise Misuse("a store that is gone with its process is written memory:")
    if "\0" in said:
        raise Misuse(f"{said!r} cannot be a path: it holds a NUL; name another --store")
    try:
        place = Path(said).expanduser().absolute()
    except RuntimeError as error:
        raise Misuse(f"{said!r}: nobody has that home; write the path in full") from error
    try:
        str(place).encode()
    except UnicodeEncodeError as error:
        do = "SQLite cannot open it; rename it, or name another --store"
        raise Unsafe(str(place), "is a name that is not UTF-8", do) from error
    if place.is_symlink():
        do = "name that file itself as the --store"
        raise Unsafe(str(place), f"is a symlink to {os.path.realpath(place)!r}", do)
    return place
