"""Which files a repository has: as git says, so that what it ignores stays out, or by looking.

Nothing a repository configures is run: git is told to use neither its monitor nor its hooks.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import Final

from holdfast.errors import Unsafe
from holdfast.files import Found, Root
from holdfast.repomap.parsing import language_of

FILES: Final = 5_000
"""No more files than this are read; those nearest to the root come first."""

NAMES: Final = 32 << 20
"""So many bytes of names are taken from git."""

SECONDS: Final = 10.0
SKIPPED: Final = frozenset(
    {"node_modules", "__pycache__", "venv", "vendor", "target", "build", "dist"}
)
GIT: Final = (
    *("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("ls-files", "-z", "--cached", "--others", "--exclude-standard"),
)


def listing(root: Root) -> list[str]:
    """The files of a repository that we can read, in a fixed order."""
    named = _by_git(root)
    paths = _by_looking(root) if named is None else named
    known = {path for path in paths if language_of(path) and path.isprintable()}
    return sorted(known, key=lambda path: (path.count("/"), path))[:FILES]


def _by_git(root: Root) -> list[str] | None:
    """What git knows of, and what it does not ignore; None where it has nothing to say."""
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            GIT, cwd=root.path, env=env, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=SECONDS, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return [os.fsdecode(name) for name in done.stdout[:NAMES].split(b"\0") if name]


def _by_looking(root: Root) -> list[str]:
    found: list[str] = []
    with suppress(Unsafe, OSError):  # what was seen up to here is what there is
        for one in root.walk(skip=_skipped):
            if one.kind == "file":
                found.append(one.path)
    return found


def _skipped(one: Found) -> bool:
    name = one.path.rsplit("/", 1)[-1]
    return name.startswith(".") or name in SKIPPED
