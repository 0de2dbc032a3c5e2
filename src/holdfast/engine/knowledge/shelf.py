"""Where the texts of notes are kept: a directory that people edit, or the store.

Rule 1: a write says what it was decided against; where another text is there, nothing is written.
Rule 2: the index follows the notes in the same step, under one lock for all processes.
Rule 3: only regular files of the directory itself are read, none larger than a note may be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from holdfast.core.knowledge.notes import INDEX, LARGEST, check_file, index, read_note
from holdfast.errors import Changed, HoldfastError
from holdfast.failpoints import failpoint
from holdfast.files import UNFINISHED, Found, Root, locked, private_directory
from holdfast.model.note import NoteRecord, hash_of

if TYPE_CHECKING:
    from holdfast.engine.context import EngineContext

_SKILL = re.compile(r"skills/[a-z0-9][a-z0-9_-]{0,60}\.md")

LOCK: Final = ".lock"
MOST: Final = 20_000
"""So many notes a directory may hold."""


class Stored(Struct, frozen=True):
    """A note's text as it is now."""

    text: str
    modified: int


class Write(Struct, frozen=True, kw_only=True):
    """A text that is to take the place of another one; an empty one removes the note."""

    file: str
    text: str
    before: str = ""
    """The hash of the text it was decided against; empty where there was none."""


class Shelf(Protocol):
    """Where notes are."""

    place: str
    """The directory; empty where there is none."""
    problems: dict[str, str]
    """Files that are no notes, and why."""

    async def load(self) -> Mapping[str, Stored]:
        """Every note by its file."""
        ...

    async def index(self) -> str:
        """The index as it is."""
        ...

    async def apply(self, write: Write) -> bool:
        """Write one text, and the index with it; False where another text is there."""
        ...

    async def write_index(self, text: str) -> None:
        """Put an index in the place of the one that is there."""
        ...

    def unchanged(self) -> bool:
        """Whether no note was added, replaced or removed since it was loaded."""
        ...


class DirectoryShelf:
    """Notes as files in a private directory."""

    def __init__(self, engine: EngineContext, directory: Path) -> None:
        self._engine = engine
        self._directory = directory
        self.place = str(directory)
        self.problems: dict[str, str] = {}
        """Files that are no notes, and why."""
        self._read: dict[str, tuple[tuple[int, int, int], Stored]] = {}
        self._stamp = 0

    async def load(self) -> Mapping[str, Stored]:
        return await self._engine.aside(self._load)

    async def index(self) -> str:
        return await self._engine.aside(self._index)

    async def apply(self, write: Write) -> bool:
        return await self._engine.aside(lambda: self._apply(write))

    async def write_index(self, text: str) -> None:
        await self._engine.aside(lambda: self._write_index(text))

    def unchanged(self) -> bool:
        with suppress(OSError):
            return bool(self._stamp) and self._directory.stat().st_mtime_ns == self._stamp
        return not self._stamp

    def _load(self) -> dict[str, Stored]:
        if not self._directory.is_dir():
            self._read, self._stamp = {}, 0
            return {}
        self._stamp = self._directory.stat().st_mtime_ns
        root, read = Root(self._directory), dict[str, tuple[tuple[int, int, int], Stored]]()
        self.problems = {}
        for found in root.listing(limit=MOST):
            if not found.path.endswith(".md") or found.path.startswith(UNFINISHED):
                continue
            try:
                if check_file(found.path) and found.kind != "file":
                    raise HoldfastError(f"it is a {found.kind}; use a plain file")
                mark = (found.stat.st_mtime_ns, found.stat.st_size, found.stat.st_ino)
                known = self._read.get(found.path)
                read[found.path] = (
                    known if known and known[0] == mark else (mark, _text(root, found))
                )
            except FileNotFoundError:
                continue  # removed since it was listed
            except (HoldfastError, OSError) as error:
                if found.path != INDEX:
                    self.problems[found.path] = str(error)
        self._read = read
        return {file: stored for file, (_, stored) in read.items()}

    def _index(self) -> str:
        with suppress(FileNotFoundError):
            data = Root(self._directory).read(INDEX, LARGEST)
            return data.decode("utf-8", "replace")
        return ""

    def _apply(self, write: Write) -> bool:
        check_file(write.file)
        private_directory(self._directory)
        with locked(self._directory / LOCK):
            root = Root(self._directory)
            if not self._replaced(root, write):
                return False
            self._follow(root, write)
        return True

    @staticmethod
    def _replaced(root: Root, write: Write) -> bool:
        """Write one text where the one it was decided against is there."""
        now = _maybe(root, write.file)
        if hash_of(now or "") == hash_of(write.text):
            return True
        if (hash_of(now) if now is not None else "") != write.before:
            return False
        if write.text:
            root.write(write.file, write.text.encode("utf-8", "surrogateescape"))
        else:
            root.remove(write.file)
        failpoint("memory.file_written")
        return True

    def _follow(self, root: Root, write: Write) -> None:
        """Bring the index up to date with the notes that are there."""
        before = self._index()
        notes = {file: read_note(file, stored.text) for file, stored in self._load().items()}
        after = index(before, notes, changed=[write.file])
        if after != before:
            root.write(INDEX, after.encode("utf-8", "replace"))
        self._stamp = 0  # what was written here is not yet known to whoever asks

    def _write_index(self, text: str) -> None:
        private_directory(self._directory)
        with locked(self._directory / LOCK):
            Root(self._directory).write(INDEX, text.encode("utf-8", "replace"))


def _text(root: Root, found: Found) -> Stored:
    data = root.read(found.path, LARGEST)
    return Stored(data.decode("utf-8", "replace"), found.stat.st_mtime_ns // 1_000_000)


def _maybe(root: Root, file: str) -> str | None:
    try:
        return root.read(file, LARGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        return None


class PlainShelf(DirectoryShelf):
    """The consolidated memory: two files and skills, written whole, with no index."""

    @staticmethod
    def is_ours(file: str) -> bool:
        """Whether a file is one that consolidation writes."""
        return file in ("MEMORY.md", "memory_summary.md") or bool(_SKILL.fullmatch(file))

    def _load(self) -> dict[str, Stored]:
        if not self._directory.is_dir():
            return {}
        root, read = Root(self._directory), dict[str, Stored]()
        skills = root.listing("skills") if (self._directory / "skills").is_dir() else []
        for found in (*root.listing(), *skills):
            if self.is_ours(found.path) and found.kind == "file":
                read[found.path] = _text(root, found)
        return read

    def _apply(self, write: Write) -> bool:
        if not self.is_ours(write.file):
            return False
        private_directory(self._directory)
        with locked(self._directory / LOCK):
            root = Root(self._directory)
            if "/" in write.file:
                root.make_directory(write.file.rpartition("/")[0])
            return self._replaced(root, write)


class StoreShelf:
    """The same notes in the store, for programs that have no files."""

    place = ""

    def __init__(self, engine: EngineContext, scope: str) -> None:
        self._engine, self._scope = engine, scope
        self.problems: dict[str, str] = {}

    async def load(self) -> Mapping[str, Stored]:
        found = await self._engine.store.notes.records(self._scope, "text")
        return {one.file: Stored(one.text, one.created) for one in found if one.file != INDEX}

    async def index(self) -> str:
        found = await self._engine.store.notes.records(self._scope, "text")
        return next((one.text for one in found if one.file == INDEX), "")

    async def apply(self, write: Write) -> bool:
        check_file(write.file)
        now = (await self.load()).get(write.file)
        if now and now.text == write.text:
            return True
        made = self._record(write.file, write.text)
        expect = {(self._scope, write.file): write.before}
        try:
            await self._engine.store.notes.commit(
                *(([made],) if write.text else ()),
                remove=() if write.text else (made,),
                expect=expect,
            )
        except Changed:
            return False
        notes = {file: read_note(file, one.text) for file, one in (await self.load()).items()}
        await self.write_index(index(await self.index(), notes, changed=[write.file]))
        return True

    async def write_index(self, text: str) -> None:
        await self._engine.store.notes.commit([self._record(INDEX, text)])

    def unchanged(self) -> bool:
        return False

    def _record(self, file: str, text: str) -> NoteRecord:
        return NoteRecord(
            scope=self._scope, kind="text", id=file, file=file, text=text,
            created=self._engine.clock.now(),
        )  # fmt: skip
