"""What is said to and by a store: expectations, pages, findings."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Expect(Struct, frozen=True, kw_only=True):
    """What a writer believes: the last message, or the last marker, by seq; None: anything."""

    message: int | None = None
    marker: int | None = None


class Changes(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is to change about a session; None leaves a field as it is."""

    title: str | None = None
    project: str | None = None
    directory: str | None = None
    policy: str | None = None
    model: str | None = None
    archived: int | None = None
    """When it was archived, in ms; 0 brings it back."""


class Page(Struct, frozen=True, kw_only=True):
    """Which sessions to list, and from where on."""

    project: str | None = None
    archived: bool = False
    limit: int = 50
    after: tuple[int, str] | None = None
    """`(updated, id)` of the last session of the page before."""


class Erased(Struct, frozen=True, kw_only=True):
    """What erasing a session did."""

    session: str
    entries: int = 0
    parts: int = 0
    blobs: int = 0
    copied: tuple[str, ...] = ()
    """Forks that were given their own copy of the shared beginning."""
    backups: tuple[str, ...] = ()
    """Backups that were removed because they held the session."""
    holding: tuple[str, ...] = ()
    """Backups that hold it until a job has rewritten them without it."""
    held: str = ""
    """What could not be overwritten yet, and why; empty when nothing is left."""
    notes: tuple[str, ...] = ()
    """Notes that what they quoted of it was taken out of."""


OfBackups = Literal["rewrite", "delete"]
"""What becomes of backups that hold an erased session."""


class Erasing(Struct, frozen=True, kw_only=True):
    """How far the job has come that erases a session from everything but the store's tables."""

    session: str
    done: bool = False
    """Whether nothing more can be done; what is left is in `holding`."""
    indexed: bool = False
    """Whether the search index still holds words of it."""
    rewritten: tuple[str, ...] = ()
    """Backups that were rewritten without it in this step."""
    holding: tuple[str, ...] = ()
    """Backups that still hold it."""
    why: str = ""
    """Why those cannot be rewritten, where that is so."""


class Finding(Struct, frozen=True, kw_only=True):
    """Something that is not as it should be, and what can be done."""

    area: Literal["database", "log", "search", "blobs", "files"]
    what: str
    where: str = ""
    mend: str = ""
    """How `repair` would mend it; empty where it cannot."""


class Salvaged(Struct, frozen=True, kw_only=True):
    """What became of a damaged store."""

    kept: dict[str, int]
    """How many rows of each table could be read."""
    lost: tuple[str, ...]
    """What could not, in words; empty where nothing is missing."""
    damaged: str
    """Where the damaged file is now."""
