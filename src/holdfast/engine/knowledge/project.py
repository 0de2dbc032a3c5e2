"""Whose notes: where a project's are, and the notes of a project behind the blocking door."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from holdfast.engine.bridge import drive
from holdfast.engine.lazy import later
from holdfast.engine.settings import settings
from holdfast.errors import Unsafe
from holdfast.files import Root, data_home

if TYPE_CHECKING:
    from holdfast.core.knowledge.recall import Recalled
    from holdfast.engine.context import EngineContext
    from holdfast.engine.knowledge import notes, shelf
    from holdfast.engine.knowledge.extraction import Extracted, ExtractedSession, Limits
    from holdfast.engine.knowledge.notes import Kept, Memory, Similar
    from holdfast.model.note import NoteRecord
else:  # most programs keep no notes
    notes, shelf = (
        later("holdfast.engine.knowledge.notes"),
        later("holdfast.engine.knowledge.shelf"),
    )

POINTER = 4_096
"""How long the file is at most that says where a worktree's repository is."""


def memory_of(engine: EngineContext, scope: str, *, files: bool) -> Memory:
    """The notes of a scope: in the directory of its project, or in the store."""
    if not files:
        return notes.Memory(engine, scope, shelf.StoreShelf(engine, scope))
    root = main_worktree(scope) if settings().memory.share_worktrees else scope
    return notes.Memory(engine, root, shelf.DirectoryShelf(engine, memory_directory(root)))


def memory_directory(project: str, environ: Mapping[str, str] | None = None) -> Path:
    """Where the notes of a project are; each worktree of a repository is a project of its own."""
    name = "".join(one if one.isalnum() or one in "-_." else "-" for one in Path(project).name)
    mark = sha256(project.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return data_home(environ) / "projects" / f"{name[:60] or 'root'}-{mark}" / "memory"


def main_worktree(project: str) -> str:
    """The repository that a worktree belongs to; the project itself where it is none.

    The repository must know the worktree: a directory that only says that it is one would be shown
    the notes of whichever project it names.
    """
    own = Path(project) / ".git"
    told = _pointer(own)
    place = Path(project, told.removeprefix("gitdir:").strip())
    if not told.startswith("gitdir:") or place.parts[-3:-1] != (".git", "worktrees"):
        return project
    known = _pointer(place / "gitdir").strip()
    return (
        str(place.parents[2])
        if known and os.path.realpath(known) == os.path.realpath(own)
        else project
    )


def _pointer(file: Path) -> str:
    """The beginning of a small file of git's that names a path; empty where there is none."""
    try:
        return Root(file.parent).read(file.name, POINTER).decode("utf-8", "surrogateescape")
    except (OSError, Unsafe):
        return ""


class OpenSession(Protocol):
    """A session behind the blocking door."""

    @property
    def inner(self) -> ExtractedSession: ...


class ProjectMemory:
    """The notes of one project behind the blocking door."""

    def __init__(self, inner: Memory) -> None:
        self.inner = inner

    @property
    def place(self) -> str:
        """The directory that the notes are in; empty where they are kept in the store."""
        return self.inner.shelf.place

    def notes(self) -> dict[str, Kept]:
        """Every note by its file."""
        return drive(self.inner.notes())

    def note(self, name: str) -> Kept:
        """One note by its file, or by its name."""
        return drive(self.inner.note(name))

    def index(self) -> str:
        """The index: one line a note."""
        return drive(self.inner.index())

    def add(
        self, body: str, *, type: str = "project", name: str = "", description: str = ""
    ) -> Kept:
        """Keep a new note."""
        return drive(self.inner.add(body, type=type, name=name, description=description))

    def edit(self, name: str, text: str) -> Kept:
        """Put another text in the place of a note's."""
        return drive(self.inner.edit(name, text))

    def forget(self, name: str) -> Kept:
        """Take a note away; `revert` brings it back."""
        return drive(self.inner.forget(name))

    def inbox(self) -> tuple[NoteRecord, ...]:
        """What waits for approval."""
        return drive(self.inner.inbox())

    def accept(self, id: str, text: str = "") -> Kept | None:
        """Approve what waits, or another text in its place."""
        return drive(self.inner.accept(id, text))

    def reject(self, id: str) -> NoteRecord:
        """Refuse what waits; it is not proposed again."""
        return drive(self.inner.reject(id))

    def history(self, name: str = "") -> tuple[NoteRecord, ...]:
        """Every change, or those of one note, the oldest first."""
        return drive(self.inner.history(name))

    def revert(self, id: str) -> Kept | None:
        """Give a note the text that it had before a change."""
        return drive(self.inner.revert(id))

    def export(self) -> dict[str, str]:
        """All texts by file, the index among them."""
        return drive(self.inner.export())

    def import_notes(self, texts: Mapping[str, str]) -> list[Kept]:
        """Take notes over from files."""
        return drive(self.inner.import_notes(texts))

    def similar(self, text: str, *, but: str = "") -> list[tuple[str, Similar]]:
        """The notes that repeat a text, or contradict it."""
        return drive(self.inner.similar(text, but=but))

    @property
    def problems(self) -> dict[str, str]:
        """Files that are no notes, and why."""
        return self.inner.shelf.problems

    def recall(self, query: str, *, most: int = 5) -> tuple[Recalled, ...]:
        """The notes that are certain to help with a question; often none."""
        return drive(self.inner.recall(query, most=most))

    def reminder(self, found: Sequence[Recalled], *, allowance: int = 2_000) -> str:
        """What a model is shown of them; their use is recorded."""
        return drive(self.inner.reminder(found, allowance=allowance))

    def extract(self, session: OpenSession, limits: Limits | None = None) -> Extracted:
        """Keep what a session's newest turns leave for later."""
        return drive(self.inner.extract(session.inner, limits))
