"""Turn log: the log of a session as one turn reads it and appends to it, and the preview over it.

`SessionLog` appends for good. `PreviewLog` keeps what would be appended in memory, in front of the
log beneath, and has no way to write: a preview runs the same code as the turn and changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from holdfast.core.log.fold import fold
from holdfast.core.tokens.count import weigh_body
from holdfast.core.window.truncate import Cap
from holdfast.engine import loading
from holdfast.engine.usage.telemetry import compacted
from holdfast.engine.window import sections
from holdfast.model.log import Body, Clear, Context, Entry, Summary
from holdfast.model.span import within
from holdfast.model.view import View, place_of

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext


class TurnLog(Protocol):
    """What a turn reads of a session's log, and how it appends to it."""

    async def view(self) -> View:
        """What is visible now: markers first, then only the stretches they leave."""
        ...

    async def append(self, view: View, *bodies: Body) -> View:
        """The view with these at its end, all or none."""
        ...

    async def mark(self, view: View, marker: Summary | Clear) -> View:
        """The view once a compaction is in force; Conflict where another marker came first."""
        ...

    async def messages(self, view: View, cap: Cap) -> tuple[Entry, ...]:
        """The visible messages, long outputs cut."""
        ...

    async def few(self, view: View, cap: Cap) -> tuple[Entry, ...] | None:
        """The same where no more than a page has to be read for it; otherwise None."""
        ...

    async def summaries(self, view: View) -> tuple[Entry, ...]:
        """The summaries that stand for the rest."""
        ...

    async def sections(self, seq: int) -> dict[str, str] | None:
        """The sections of the snapshot at this place; None where there is none."""
        ...

    def unstored(self, view: View, first: int = 0) -> tuple[Entry, ...]:
        """The visible messages from a place on that only a preview holds."""
        ...

    async def keep(self, given: bytes) -> str:
        """Keep what a window was given beside the log; the name it is kept by."""
        ...

    async def write_counts(self) -> None:
        """Keep exact token counts that were made."""
        ...


class SessionLog:
    """The log of an open session."""

    def __init__(self, session: SessionContext) -> None:
        self._session = session
        self._since = session.now()

    async def view(self) -> View:
        return await self._session.view()

    async def append(self, view: View, *bodies: Body) -> View:
        await self._session.append_all(bodies)
        return await self._session.view()

    async def mark(self, view: View, marker: Summary | Clear) -> View:
        session = self._session
        entry = await session.append(marker, epoch=view.folded.epoch)
        since, self._since = self._since, session.now()
        session.watch.emit(compacted(session.id, marker, since, self._since))
        await session.upkeep.applied(entry)
        return await session.view()

    async def messages(self, view: View, cap: Cap) -> tuple[Entry, ...]:
        return await self._session.message_cache.messages(view, cap)

    async def few(self, view: View, cap: Cap) -> tuple[Entry, ...] | None:
        return await self._session.message_cache.few(view, cap)

    async def summaries(self, view: View) -> tuple[Entry, ...]:
        return tuple(await loading.summaries(self._session.store.log, view))

    async def sections(self, seq: int) -> dict[str, str] | None:
        return await sections.snapshot(self._session.store.log, self._session.id, seq)

    def unstored(self, view: View, first: int = 0) -> tuple[Entry, ...]:
        return ()

    async def keep(self, given: bytes) -> str:
        return await self._session.store.calls.keep(self._session.id, given)

    async def write_counts(self) -> None:
        await self._session.message_cache.write()


class PreviewLog:
    """A log over another: what is appended to it is seen by this turn, and by nobody else."""

    def __init__(self, under: TurnLog) -> None:
        self._under = under
        self._entries: tuple[Entry, ...] = ()

    async def view(self) -> View:
        return await self._under.view()

    async def append(self, view: View, *bodies: Body) -> View:
        entries = tuple(
            Entry(
                id="preview",
                session=view.session.id,
                seq=seq,
                body=body,
                created=0,
                counts=weigh_body(body),
            )
            for seq, body in enumerate(bodies, view.newest + 1)
        )
        self._entries = (*self._entries, *entries)
        # Its `last` stays: the store is never asked for what it does not hold.
        return View(session=view.session, folded=fold(entries, view.folded), last=view.last)

    async def mark(self, view: View, marker: Summary | Clear) -> View:
        return await self.append(view, marker)

    async def messages(self, view: View, cap: Cap) -> tuple[Entry, ...]:
        return (*await self._under.messages(view, cap), *self._own(view))

    async def few(self, view: View, cap: Cap) -> tuple[Entry, ...] | None:
        few = await self._under.few(view, cap)
        return None if few is None else (*few, *self._own(view))

    async def summaries(self, view: View) -> tuple[Entry, ...]:
        """Another writer may meanwhile have appended something where one of ours is put."""
        under = {entry.seq: entry for entry in await self._under.summaries(view)}
        standing = {*view.folded.summaries}
        found = {**under, **{one.seq: one for one in self._entries if one.seq in standing}}
        return tuple(sorted(found.values(), key=place_of))

    async def sections(self, seq: int) -> dict[str, str] | None:
        own = next((one.body for one in self._entries if one.seq == seq), None)
        return own.sections if isinstance(own, Context) else await self._under.sections(seq)

    def unstored(self, view: View, first: int = 0) -> tuple[Entry, ...]:
        own = (one for one in self._own(view) if one.seq >= first)
        return (*self._under.unstored(view, first), *own)

    def _own(self, view: View) -> tuple[Entry, ...]:
        said = (entry for entry in self._entries if entry.is_message)
        return tuple(entry for entry in said if within(entry.seq, view.folded.visible))

    async def keep(self, given: bytes) -> str:
        return ""

    async def write_counts(self) -> None:
        return None
