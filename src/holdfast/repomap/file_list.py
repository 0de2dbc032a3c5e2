"""Which files a repository has: what lies there, but for what it ignores.

No program is run for it: what git reads in a repository of somebody else's can name commands.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from holdfast.errors import Unsafe
from holdfast.files import Found, Root
from holdfast.gitignore import Ignoring
from holdfast.repomap.parse import language_of

FILES: Final = 5_000
"""No more files than this are read; those nearest to the root come first."""

NAMES: Final = 500_000
SECONDS: Final = 10.0
"""So many names are looked at, for so long; what was seen until then is what there is."""

SKIPPED: Final = frozenset(
    {"node_modules", "__pycache__", "venv", "vendor", "target", "build", "dist"}
)


def listing(root: Root) -> list[str]:
    """The files of a repository that we can read, in a fixed order."""
    ignoring = Ignoring(root)
    paths = _found(root, ignoring if ignoring.repository else _skipped)
    known = {path for path in paths if language_of(path) and path.isprintable()}
    return sorted(known, key=lambda path: (path.count("/"), path))[:FILES]


def _found(root: Root, skip: Callable[[Found], bool]) -> list[str]:
    found: list[str] = []
    end = time.monotonic() + SECONDS
    with suppress(Unsafe, OSError):
        for one in root.walk(limit=NAMES, skip=lambda one: time.monotonic() > end or skip(one)):
            if one.kind == "file":
                found.append(one.path)
    return found


def _skipped(one: Found) -> bool:
    name = one.path.rsplit("/", 1)[-1]
    return name.startswith(".") or name in SKIPPED
