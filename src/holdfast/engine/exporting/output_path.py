"""Writing where somebody says: what is wrong with the place is theirs to mend, and told so."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from os import PathLike

from holdfast.errors import InvalidRequest

_WHY = {
    errno.ENOENT: ("there is no such directory", "make it first, or name another place"),
    errno.EACCES: ("it is not yours to write to", "name another place, or have it opened to you"),
    errno.EPERM: ("it is not yours to write to", "name another place, or have it opened to you"),
    errno.EROFS: ("it can only be read", "name a place on another disk"),
    errno.ENAMETOOLONG: ("its name is too long", "name a shorter one"),
}


@contextmanager
def placing(path: str | PathLike[str]) -> Generator[None]:
    """Raise InvalidRequest where a file cannot be written at its place; nothing is written then."""
    try:
        named = "\0" not in os.fsdecode(os.fsencode(path))
    except UnicodeEncodeError:
        named = False
    if not named:
        raise InvalidRequest(
            f"{str(path)!r} cannot be a path: no file can have this name; choose another"
        )
    try:
        yield
    except OSError as error:
        if (why := _WHY.get(error.errno or 0)) is None:
            raise
        what, do = why
        raise InvalidRequest(f"{str(path)!r} cannot be written: {what}; {do}") from error
