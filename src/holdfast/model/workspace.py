"""Workspace: what an agent did to the files beneath a directory, and how that is taken back."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FileKind = Literal["absent", "file", "directory", "symlink", "other"]
"""What a path is; "other" is a socket, a device or whatever else is never opened."""

Cause = Literal["tool", "command", "recording", "hook", "restore", "imported"]
"""How a change came about: an agent's file tool, a shell command, a program of others, a rewind."""

Restoring = Literal["conversation", "code", "both"]
"""What a rewind takes back."""

Resolution = Literal["keep", "restore"]
"""What becomes of a file in conflict: it stays as it is, or is put back all the same."""


class FileState(Struct, frozen=True, omit_defaults=True):
    """A path at one moment; two states are equal where nobody could tell them apart."""

    kind: FileKind = "absent"
    mode: int = 0
    """Permission bits; 0 for links, which have none of their own."""
    hash: str = ""
    """SHA-256 of a file's content or a link's target."""
    size: int = 0
    uncovered: str = ""
    """Why its content is not kept; empty where it is, or where there is none."""

    def same(self, other: FileState) -> bool:
        """Whether both are the same on disk, kept or not."""
        return (self.kind, self.mode, self.hash) == (other.kind, other.mode, other.hash)

    @property
    def holds(self) -> bool:
        """Whether it has content at all."""
        return self.kind in ("file", "symlink")


ABSENT = FileState()


class Captured(Struct, frozen=True):
    """A path as it was met, with its content where that is kept."""

    path: str
    state: FileState
    data: bytes | None = None


class Touched(Struct, frozen=True):
    """A path that differs between two looks."""

    before: Captured
    after: Captured

    @property
    def path(self) -> str:
        """Which path, relative to the directory and written with `/`."""
        return self.after.path


class FileChange(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One path before and after something an agent did; `number` is its place in a store."""

    path: str
    before: FileState
    after: FileState
    root: str
    """The directory the path lies in, absolute."""
    at: int = 0
    """The last entry of its session when it was made: what follows a prompt belongs to it."""
    cause: Cause = "tool"
    batch: str = ""
    """What was done at once: a tool call, a command, a rewind."""
    task: str = ""
    """The session of the subtask that made it, where one did."""
    started: int = 0
    created: int = 0
    added: int = 0
    removed: int = 0
    """Lines, where both sides are text."""
    pending: bool = False
    """It was about to be made: whether it was is not known until `after` is."""
    forgotten: bool = False
    """Its content was let go; only what happened is known."""
    session: str = ""
    number: int = 0


def contents(change: FileChange) -> tuple[str, ...]:
    """The hashes of what is kept of a change."""
    if change.forgotten:
        return ()
    both = (change.before, change.after)
    return tuple(one.hash for one in both if one.holds and one.hash and not one.uncovered)


class KeptFiles(Struct, frozen=True, kw_only=True):
    """How much of file contents a store keeps."""

    changes: int = 0
    contents: int = 0
    bytes: int = 0
    """As they were; they are stored compressed."""
    stored: int = 0
    oldest: int = 0


class FileNote(Struct, frozen=True):
    """A path, and what there is to say of it: a conflict, or why it is not covered."""

    path: str
    why: str


class Step(Struct, frozen=True):
    """One path of a rewind: what it is now, and what it is to be."""

    path: str
    have: FileState
    want: FileState


class RestorePlan(Struct, frozen=True, kw_only=True):
    """What a rewind of files would do, before anything is done."""

    root: str = ""
    steps: tuple[Step, ...] = ()
    conflicts: tuple[FileNote, ...] = ()
    """Paths that somebody else has changed as well: nothing is done before each is decided."""
    uncovered: tuple[FileNote, ...] = ()
    """Paths whose earlier content is not kept; they stay as they are."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do and nothing to say."""
        return not (self.steps or self.conflicts or self.uncovered)


class FileDiff(Struct, frozen=True, kw_only=True):
    """What became of one path between two prompts, as a unified diff where it is text."""

    path: str
    before: FileState
    after: FileState
    diff: str = ""
    added: int = 0
    removed: int = 0
    note: str = ""
    """Why there is no diff: it is binary, large, or not kept."""
    renamed: str = ""
    """Where its content was before, where it was moved."""


class ForeignSnapshot(Struct, frozen=True, kw_only=True):
    """What another program recorded of files in a session that was imported.

    It cannot be put back from here: the content is in that program's own git objects.
    """

    agent: str
    at: int
    """The entry it stands in."""
    kind: Literal["snapshot", "patch"]
    """All files at one moment, or the files that were changed since a snapshot."""
    hash: str
    """Codex: the commit. OpenCode: the tree; that of a patch is the one before the change."""
    parent: str = ""
    """The commit that was checked out."""
    files: tuple[str, ...] = ()
    """What a patch changed."""
    untracked: tuple[str, ...] = ()
    """Files that git did not know beforehand: going back to it leaves them alone."""
    untracked_directories: tuple[str, ...] = ()


class Prompt(Struct, frozen=True, kw_only=True):
    """What the user said once, as a place to go back to, and what came of it in files."""

    seq: int
    created: int
    text: str
    files: int = 0
    added: int = 0
    removed: int = 0
    to: int = 0
    """The last entry that stays where this prompt is taken back."""
    foreign: tuple[ForeignSnapshot, ...] = ()
    """What the program that it was imported from recorded of files meanwhile."""


class Rewound(Struct, frozen=True, kw_only=True):
    """What a rewind did."""

    marker: int
    """The entry that says so; `undo` takes it back by this number."""
    to: int
    prompt: str = ""
    """What was taken back, to be said again or otherwise."""
    plan: RestorePlan = RestorePlan()
    kept: tuple[str, ...] = ()
    """Paths that stayed as they were, because somebody chose so or they could not be put back."""


class Coverage(Struct, frozen=True, kw_only=True):
    """What of a directory would be known again after a shell command, and what would not."""

    files: int = 0
    in_git: int = 0
    """Of these, the ones whose content is read from git's objects when it is needed."""
    kept: int = 0
    bytes: int = 0
    uncovered: tuple[FileNote, ...] = ()
    whole: bool = True
    """Whether the baseline was finished within its bounds."""
    watched: bool = False
    """Whether the system says which directories changed, so that a scan reads only those."""
    seconds: float = 0.0
