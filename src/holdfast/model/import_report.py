"""Where a session was imported from, and what of it is known; and what importing a file did."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from holdfast.model.log import Draft, Summary
from holdfast.model.message import Message
from holdfast.model.transcript_events import Problem

MOST_PROBLEMS = 1000
"""How many problems of one file are told one by one."""


class ImportState(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What was imported of one session; all of it can be read off the log again."""

    agent: str
    native: str
    session: str
    head: int = 0
    """The newest entry that was imported."""
    prints: bytes = b""
    """The fingerprints of what was told, eight bytes each, in order."""
    places: tuple[int, ...] = ()
    """The entries they became, by seq."""
    kept: bytes = b""
    """The fingerprints of records that were kept, of notes and of calls, in any order."""
    straight: bool = True
    """Whether nothing was ever told differently: its beginning can be shared."""

    @property
    def opening(self) -> bytes:
        """The fingerprint of what was told first."""
        return self.prints[:8]


class ImportReport(Struct, omit_defaults=True, kw_only=True):
    """What importing one file did."""

    path: str
    importer: str = ""
    sessions: tuple[str, ...] = ()
    entries: int = 0
    """How many entries were appended."""
    messages: int = 0
    compactions: int = 0
    calls: int = 0
    """How many messages, compactions and model calls of it were new."""
    size: int = 0
    unchanged: bool = False
    """Whether it was as it was when it was last imported, and not read again."""
    problems: tuple[Problem, ...] = ()
    """What was wrong with it, up to a thousand."""
    troubles: int = 0
    """How many there were in all."""
    beside: tuple[str, ...] = ()
    """Files and directories that were read, or looked for, besides it."""
    copy_of: str = ""
    """The session here that it is a copy of, handed over and not gone on: nothing is imported."""
    kept: dict[str, int] = {}
    """How many records of each kind have no place in the model and were kept as they are."""

    def wrote(self, drafts: Sequence[Draft]) -> None:
        """Count what was appended."""
        self.entries += len(drafts)
        self.messages += sum(isinstance(draft.body, Message) for draft in drafts)
        self.compactions += sum(isinstance(draft.body, Summary) for draft in drafts)

    def note(self, problem: Problem) -> None:
        """Keep what is wrong with it, or only count it where there is too much."""
        self.troubles += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems = (*self.problems, problem)
