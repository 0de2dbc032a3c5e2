"""Trees of files for tests: as they are, byte for byte, and edits of every kind."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from hypothesis import strategies as st

Tree = dict[str, tuple[str, int, bytes]]
"""Kind, mode and content (or target) by path."""

NAMES = ("a", "A", "é", "日本", "with space", "d", "\udcff", "-rf")
CONTENTS = (b"", b"one\n", b"one\ntwo\n", b"\0\xff binary", b"#!/bin/sh\n", b"no end")
MODES = (0o644, 0o755, 0o600)


def tree(root: Path) -> Tree:
    """Everything beneath a directory, but what a rewind keeps aside."""
    found: Tree = {}
    for place, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = os.path.join(place, name)
            told = os.lstat(path)
            mode = stat.S_IMODE(told.st_mode)
            key = os.path.relpath(path, root)
            if stat.S_ISLNK(told.st_mode):
                found[key] = ("link", 0, os.fsencode(os.readlink(path)))
            elif stat.S_ISDIR(told.st_mode):
                found[key] = ("folder", mode, b"")
            else:
                found[key] = ("file", mode, Path(path).read_bytes())
    return found


paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
edits = st.tuples(
    st.sampled_from(("write", "write", "write", "folder", "remove", "link", "mode", "move")),
    paths,
    paths,
    st.sampled_from(CONTENTS),
    st.sampled_from(MODES),
)
Edit = tuple[str, str, str, bytes, int]


def do(root: Path, edit: Edit) -> None:
    """Make an edit, as far as it can be made."""
    kind, path, other, content, mode = edit
    place = root / path
    with suppress(OSError, shutil.Error):
        _DO[kind](root, place, root / other, content, mode)


def _write(root: Path, place: Path, other: Path, content: bytes, mode: int) -> None:
    if place.is_symlink():
        return  # what lies behind a link is another path's matter
    _parents(root, place)
    place.write_bytes(content)
    place.chmod(mode)


def _parents(root: Path, place: Path) -> None:
    above = place.parent
    if any(one.is_symlink() for one in (above, *above.parents) if one.is_relative_to(root)):
        raise OSError("behind a link")
    above.mkdir(parents=True, exist_ok=True)


def _folder(root: Path, place: Path, other: Path, content: bytes, mode: int) -> None:
    _parents(root, place)
    place.mkdir(mode | 0o700)


def _remove(root: Path, place: Path, other: Path, content: bytes, mode: int) -> None:
    _parents_are_plain(root, place)
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()


def _parents_are_plain(root: Path, place: Path) -> None:
    if any(one.is_symlink() for one in place.parents if one.is_relative_to(root)):
        raise OSError("behind a link")


def _link(root: Path, place: Path, other: Path, content: bytes, mode: int) -> None:
    _parents(root, place)
    place.symlink_to(other.name)


def _mode(root: Path, place: Path, other: Path, content: bytes, mode: int) -> None:
    _parents_are_plain(root, place)
    if not place.is_symlink():
        place.chmod(mode | (0o700 if place.is_dir() else 0))


def _move(root: Path, place: Path, other: Path, content: bytes, mode: int) -> None:
    _parents_are_plain(root, place)
    _parents(root, other)
    if not other.exists() and not other.is_symlink():
        place.rename(other)


_DO = {
    "write": _write, "folder": _folder, "remove": _remove, "link": _link, "mode": _mode,
    "move": _move,
}  # fmt: skip
