"""Git objects: what an index says of files, and the content of blobs, read without running git.

Rule 1: nothing that git reads here can name a command: no filters, no hooks, no configuration but
        whether its hashes are SHA-1.
Rule 2: content is believed only where its hash is the one asked for, so that a repository cannot
        say that a file was what it never was.
Rule 3: everything is bounded: the index, the depth of deltas, the size of a blob.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha1
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from holdfast.errors import HoldfastError
from holdfast.files import Root, project_root

LARGEST_INDEX: Final = 256 << 20
LARGEST_PACK_INDEX: Final = 512 << 20
DEEPEST: Final = 200
"""So many deltas lie upon each other at most; git makes fifty."""

_HEAD = struct.Struct(">IIIIIIIIII20sH")
_FAILS = (HoldfastError, OSError, ValueError, IndexError, struct.error, zlib.error)
_FILTERS = re.compile(r"(?:^|\s)(?:filter|ident|working-tree-encoding)\b")


class Tracked(NamedTuple):
    """What the index says of one path."""

    object: str
    mode: int
    size: int
    inode: int
    mtime: int
    ctime: int


class Repository:
    """The repository that a directory belongs to, where there is one that can be read."""

    def __init__(self, directory: Path) -> None:
        top = project_root(directory)
        self._top = top
        within = directory.relative_to(top).as_posix()
        self._within = "" if within == "." else f"{within}/"
        self._git, self._common = _places(top)
        self._packs: list[_Pack] | None = None

    def __bool__(self) -> bool:
        return self._git is not None

    def index(self) -> tuple[dict[str, Tracked], int]:
        """The paths beneath the directory that git tracks, and when the index was written.

        None at all where the content of files is not what git keeps of them (filters).
        """
        if self._git is None or self._filtered():
            return {}, 0
        try:
            with self._git.open("index") as file:
                written = os.fstat(file.fileno()).st_mtime_ns
                data = file.read(LARGEST_INDEX + 1)
            if len(data) > LARGEST_INDEX:
                return {}, 0
            skip = len(self._within)
            return {
                path[skip:]: one for path, one in _entries(data) if path.startswith(self._within)
            }, written
        except _FAILS:
            return {}, 0

    def blob(self, name: str, limit: int) -> bytes | None:
        """The content of an object; None where it cannot be read, or is not what it is named."""
        try:
            data = self._loose(name, limit) or self._packed(name, limit)
        except _FAILS:
            return None
        return data if data is not None and blob_name(data) == name else None

    def close(self) -> None:
        """Let go of the packs that were opened."""
        for pack in self._packs or ():
            pack.close()
        self._packs = None

    def _filtered(self) -> bool:
        """Whether git may keep something else than what lies in the directory."""
        for text in (
            _text(self._common, "config"),
            _text(self._common, "info/attributes"),
            _text(Root(self._top), ".gitattributes"),
        ):
            if _FILTERS.search(text) or "sha256" in text or "autocrlf" in text.lower():
                return True
        return False

    def _loose(self, name: str, limit: int) -> bytes | None:
        if self._common is None:
            return None
        try:
            with self._common.open(f"objects/{name[:2]}/{name[2:]}") as file:
                packed = file.read(2 * limit + 4096)
        except (HoldfastError, OSError):
            return None
        raw = zlib.decompressobj().decompress(packed, limit + 64)
        head, _, content = raw.partition(b"\0")
        return content if head == b"blob %d" % len(content) else None

    def _packed(self, name: str, limit: int) -> bytes | None:
        for pack in self._opened():
            found = pack.blob(bytes.fromhex(name), limit)
            if found is not None:
                return found
        return None

    def _opened(self) -> list[_Pack]:
        if self._packs is None:
            self._packs = []
            if self._common is not None:
                names = [one.path for one in self._common.listing("objects/pack")]
                for name in names:
                    if name.endswith(".idx") and f"{name[:-4]}.pack" in names:
                        self._packs.append(_Pack(self._common, name[:-4]))
        return self._packs


def blob_name(data: bytes) -> str:
    """What git calls a blob with this content."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _places(top: Path) -> tuple[Root | None, Root | None]:
    """Where the index is, and where the objects are: apart in a linked work tree."""
    place = top / ".git"
    try:
        if place.is_symlink():
            return None, None
        if place.is_dir():
            git = Root(place)
            return git, git
        told = Root(top).read(".git", 4096).decode("utf-8", "surrogateescape")
        there = told.removeprefix("gitdir:").strip()
        if told == there or not there:
            return None, None
        git = Root(top / there)
        common = _text(git, "commondir").strip()
        return git, Root(git.path / common) if common else git
    except (HoldfastError, OSError, ValueError):
        return None, None


def _text(root: Root | None, name: str) -> str:
    try:
        return root.read(name, 1 << 20).decode("utf-8", "replace") if root else ""
    except (HoldfastError, OSError):
        return ""


def _entries(data: bytes) -> Iterator[tuple[str, Tracked]]:
    """The entries of an index of version 2, 3 or 4."""
    mark, version, many = struct.unpack_from(">4sII", data)
    if mark != b"DIRC" or version not in (2, 3, 4):
        return
    at, name = 12, b""
    for _ in range(many):
        cs, cn, ms, mn, _, inode, mode, _, _, size, object, flags = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size + (2 if flags & 0x4000 else 0)
        if version == 4:
            cut, start = _varint(data, start)
            end = data.index(b"\0", start)
            name, at = name[: len(name) - cut] + data[start:end], end + 1
        else:
            end = data.index(b"\0", start)
            name, at = data[start:end], at + ((end - at) // 8 + 1) * 8
        if not flags & 0x3000:  # a merge has left several of one name
            yield (
                os.fsdecode(name),
                Tracked(object.hex(), mode, size, inode, ms * 10**9 + mn, cs * 10**9 + cn),
            )


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number as version 4 and deltas by offset write it, and where what follows begins."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1


class _Pack:
    """One pack with its index, version 2."""

    def __init__(self, root: Root, name: str) -> None:
        self._pack: BinaryIO = root.open(f"{name}.pack")
        try:
            with root.open(f"{name}.idx") as file:
                self._index = file.read(LARGEST_PACK_INDEX)
        except BaseException:
            self._pack.close()
            raise

    def close(self) -> None:
        self._pack.close()

    def blob(self, name: bytes, limit: int) -> bytes | None:
        at = self._offset(name)
        return None if at is None else self._object(at, limit, 0)

    def _offset(self, name: bytes) -> int | None:
        index = self._index
        if index[:8] != b"\xfftOc\0\0\0\x02":
            return None
        many = struct.unpack_from(">I", index, 8 + 255 * 4)[0]
        low = struct.unpack_from(">I", index, 8 + (name[0] - 1) * 4)[0] if name[0] else 0
        high = struct.unpack_from(">I", index, 8 + name[0] * 4)[0]
        names = 8 + 1024
        while low < high:
            middle = (low + high) // 2
            found = index[names + middle * 20 : names + middle * 20 + 20]
            if found == name:
                return self._place(names + many * 24, many, middle)
            low, high = (middle + 1, high) if found < name else (low, middle)
        return None

    def _place(self, offsets: int, many: int, n: int) -> int:
        at: int = struct.unpack_from(">I", self._index, offsets + n * 4)[0]
        if at & 0x80000000:
            at = struct.unpack_from(">Q", self._index, offsets + many * 4 + (at & 0x7FFFFFFF) * 8)[
                0
            ]
        return at

    def _object(self, at: int, limit: int, depth: int) -> bytes:
        """The content of what lies at an offset, its deltas applied."""
        if depth > DEEPEST:
            raise ValueError("too many deltas lie upon each other")
        self._pack.seek(at)
        head = self._pack.read(64)
        kind, n = (head[0] >> 4) & 7, 0
        while head[n] & 0x80:
            n += 1
        n += 1
        if kind == 6:
            back, n = _varint(head, n)
            delta = self._inflated(at + n, limit)
            return _applied(self._object(at - back, limit, depth + 1), delta, limit)
        if kind == 7:
            base = self._offset(head[n : n + 20])
            if base is None:
                raise ValueError("the base of a delta is in no pack")
            delta = self._inflated(at + n + 20, limit)
            return _applied(self._object(base, limit, depth + 1), delta, limit)
        return self._inflated(at + n, limit)

    def _inflated(self, at: int, limit: int) -> bytes:
        self._pack.seek(at)
        unpacking, parts, size = zlib.decompressobj(), list[bytes](), 0
        while not unpacking.eof:
            packed = unpacking.unconsumed_tail or self._pack.read(1 << 16)
            if not packed:
                raise ValueError("a pack ends too early")
            parts.append(unpacking.decompress(packed, 1 << 20))
            size += len(parts[-1])
            if size > limit:
                raise ValueError("an object is too large")
        return b"".join(parts)


def _applied(base: bytes, delta: bytes, limit: int) -> bytes:
    """What a delta makes of its base."""
    take = iter(delta)
    following: Callable[[], int] = lambda: next(take)  # noqa: E731 - the bytes of the delta in turn
    try:
        _size(following)
        wanted = _size(following)
        if wanted > limit:
            raise ValueError("an object is too large")
        return b"".join(_pieces(base, following, take))
    except StopIteration:
        raise ValueError("a delta ends too early") from None


def _pieces(base: bytes, following: Callable[[], int], take: Iterator[int]) -> Iterator[bytes]:
    for code in take:
        if code & 0x80:
            start = sum(following() << (8 * n) for n in range(4) if code & (1 << n))
            size = sum(following() << (8 * n) for n in range(3) if code & (0x10 << n))
            yield base[start : start + (size or 0x10000)]
        else:
            yield bytes(following() for _ in range(code))


def _size(following: Callable[[], int]) -> int:
    value = shift = 0
    while True:
        byte = following()
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value
