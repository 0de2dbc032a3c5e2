"""Which files the agent finds when it looks around: those like a pattern, beneath its directory."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, takewhile
from typing import Final

from holdfast.core.search.nearest import nearest
from holdfast.errors import HoldfastError
from holdfast.files import Found, Root

LARGEST: Final = 4 * 1024 * 1024
"""No larger file is searched, or read at once."""

SKIPPED: Final = frozenset({".git", ".hg", "node_modules", "__pycache__", ".venv", ".tox"})
COMPARED: Final = 2_000
"""So many names are looked at for one that is like another."""

BINARY: Final = 8_192
"""Where so many bytes have a NUL among them, a file is no text."""


def files(root: Root, like: str = "") -> Iterator[Found]:
    """The files like a pattern; what names a file or a directory is just that one, or within it.

    No directory is looked into but those that the names before the first wildcard lead to.
    """
    like = like.removeprefix("./").rstrip("/") or "."
    plain = "/".join(takewhile(lambda name: not set(name) & set("*?["), like.split("/")))
    start = _there(root, plain) if plain not in ("", ".") else None
    if start and start.kind == "file":
        yield from [start] if plain == like else []
        return
    walked = root.walk(start.path if start else ".", skip=_skipped)
    everything = like == "." or bool(start and plain == like)
    for one in walked:
        if one.kind == "file" and (everything or matches(one.path, like)):
            yield one


def absent(root: Root, path: str) -> str:
    """That there is no such file, as whoever asked for it wrote it, and which may be meant."""
    names: list[str] = []
    with suppress(HoldfastError, OSError):
        names.extend(one.path for one in islice(files(root), COMPARED))
    same = [one for one in names if one.rpartition("/")[2] == path.rpartition("/")[2]]
    near = same[:1] or nearest(path, names)[:1]
    return f"there is no {path}; " + (f"did you mean {near[0]}?" if near else "list shows what is")


def matches(path: str, pattern: str) -> bool:
    """Whether a path is like a pattern; `**/` may stand for nothing."""
    names = (pattern, pattern.replace("**/", ""), f"*/{pattern}", f"{pattern.rstrip('/')}/*")
    return any(fnmatch.fnmatchcase(path, name) for name in names)


def _there(root: Root, path: str) -> Found | None:
    try:
        found = root.stat(path)
    except FileNotFoundError:
        return None
    return Found(path, "directory" if found.st_mode & 0o170000 == 0o040000 else "file", found)


def _skipped(one: Found) -> bool:
    return one.path.rsplit("/", 1)[-1] in SKIPPED
