"""What an import brings of one session, to be written all at once."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from holdfast.errors import InvalidRequest
from holdfast.model.import_report import ImportReport, ImportState
from holdfast.model.log import Draft, Entry, SessionInfo
from holdfast.model.reply import Call
from holdfast.model.store import Changes, Expect


class ImportBatch(Struct, frozen=True, kw_only=True):
    """New entries of a session, and what else is known of it by now."""

    session: str
    new: SessionInfo | None = None
    """The session itself, where it is not there yet."""
    drafts: tuple[Draft, ...] = ()
    laid: bytes = b""
    """The entries as the store's own layout has made them ready, instead of drafts."""
    key: str = ""
    expect: Expect = Expect()
    calls: tuple[Call, ...] = ()
    changes: Changes | None = None
    origin: ImportState | None = None

    def check(self, made: Sequence[Entry]) -> None:
        """InvalidRequest where its key has made something else before."""
        if [one.id for one in made] != [one.id for one in self.drafts]:
            what = f"session {self.session} uses the key {self.key!r} twice"
            raise InvalidRequest(f"{what}; use a new key for new content")


class Source(Struct, frozen=True, kw_only=True):
    """A source of which all was brought: how it looked, and into which sessions it went."""

    name: str
    look: str
    sessions: tuple[str, ...]


class Ready(Struct, frozen=True):
    """What a source brings into a store that knows nothing of it."""

    report: ImportReport
    brought: tuple[ImportBatch, ...]
    sources: tuple[Source, ...] = ()
