"""Importing: a transcript, who reads it, and what is remembered of it.

An importer blocks, and reads nothing but the material it is handed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from holdfast.model.import_batch import ImportBatch, Source
from holdfast.model.import_report import ImportState
from holdfast.model.transcript_events import Line, TranscriptEvent


class TranscriptFile(Protocol):
    """A file to be imported, and what lies near it: nothing else can be reached through it.

    Names are relative to one directory, with `/`. What is asked for is remembered, so that a file
    is read again when any of it has changed.
    """

    @property
    def name(self) -> str:
        """The file itself."""
        ...

    @property
    def path(self) -> str:
        """Where it lies, for people: nothing is read by it."""
        ...

    def lines(self, name: str = "") -> Iterator[Line]:
        """The lines of a file without their ends, numbered from 1; the file itself if none is
        named."""
        ...

    def whole(self, name: str = "", most: int | None = None) -> bytes | None:
        """All of a file; None where there is none, or more than `most` bytes of it."""
        ...

    def names(self, directory: str) -> tuple[str, ...]:
        """What a directory holds, in order; () where there is none."""
        ...

    def copy(self, name: str = "") -> str | None:
        """The path of a private copy, for what can only read paths; gone when the import ends."""
        ...


class Importer(Protocol):
    """One program's transcripts. It reads what it is handed, and touches nothing else."""

    name: str
    """The program, such as claude-code: what sessions are said to come from."""
    reach: int
    """How many directories above a file belong to it: 0 where only its own does."""

    def default_paths(self) -> tuple[str, ...]:
        """Where the program usually keeps them: paths beneath the home directory."""
        ...

    def matches_name(self, name: str) -> bool:
        """Whether a file may be one of its transcripts, by its name alone."""
        ...

    def recognises(self, head: bytes, name: str) -> bool:
        """Whether it is one, by the first bytes of it."""
        ...

    def read(self, material: TranscriptFile) -> Iterator[TranscriptEvent]:
        """Everything that stands in it, in order. Whatever the file holds, nothing is raised."""
        ...


class Imports(Protocol):
    """What was imported, and from where; gone with the session it is about."""

    async def origin(self, agent: str, native: str) -> ImportState | None:
        """What was imported of a session, by its id in the program it comes from."""
        ...

    async def by_opening(self, opening: bytes) -> tuple[ImportState, ...]:
        """The sessions that begin with this fingerprint, oldest first."""
        ...

    async def keep(self, origin: ImportState) -> None:
        """Remember what was imported of a session, in the place of what was known before."""
        ...

    async def by_source(self, source: str) -> tuple[ImportState, ...]:
        """What was imported of the sessions that a source went into."""
        ...

    async def last_fingerprint(self, source: str) -> str:
        """How a source looked when all of it had been imported; empty where it never was."""
        ...

    async def sources(self, session: str) -> tuple[str, ...]:
        """What a session was imported from, in the order of names."""
        ...

    async def mark_done(self, source: str, look: str, sessions: Sequence[str]) -> None:
        """All that a source holds is imported, into these sessions."""
        ...

    async def layout(self) -> str:
        """Who lays entries out for this store in another process; empty where nobody does."""
        ...

    async def commit(
        self, *brought: ImportBatch, sources: Sequence[Source] = ()
    ) -> tuple[int, ...]:
        """Write what was brought, then how its sources looked: in one transaction, if it can.

        How many calls of each were new. Conflict where a session is not as it was expected, be it
        that somebody else has brought the same.
        """
        ...
