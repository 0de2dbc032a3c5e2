"""Importing one source: having it read, and writing what it tells.

Rule 1: a source that looks as it did when it was last imported is not read again.
Rule 2: what was written of one that fails stays, and is not written twice.
Rule 3: a session may belong to one that is not here yet: it does once that comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.engine.ids import session_id
from holdfast.engine.importing.commit import bring
from holdfast.engine.importing.deferred_copies import TooEarly
from holdfast.engine.importing.discovery import Source
from holdfast.engine.importing.portable import carry
from holdfast.engine.importing.session_import import Ingest
from holdfast.engine.importing.transcript_file import Bounds, FileMaterial
from holdfast.engine.plugins import importer
from holdfast.errors import Conflict, InvalidRequest, Unsafe
from holdfast.files import Root
from holdfast.model.import_batch import ImportBatch
from holdfast.model.import_batch import Source as Whole
from holdfast.model.import_report import ImportReport, ImportState
from holdfast.model.log import SessionInfo
from holdfast.model.transcript_events import (
    CallRead,
    Carried,
    Cleared,
    Compacted,
    Kept,
    MessageRead,
    Noted,
    Problem,
    Rewound,
    SessionStarted,
    Titled,
    TranscriptEvent,
)
from holdfast.ports import Importer

if TYPE_CHECKING:
    from holdfast.engine.context import ImportContext

AT_ONCE = 64
"""How many items are read at a time."""

TOGETHER = 64
"""So many sessions of one source may wait to be written."""

RESTED = 10.0
"""A file that was not written for so long holds no half reply, in seconds."""

WRITTEN = 1.0
"""A document that was not written for so long is not being rewritten just now, in seconds."""

GROWING = "growing"
"""How a source looks of which not all was imported: no file looks so."""

TRIES = 3
"""So often somebody else may write the same of a session first. Whoever does goes on meanwhile, so
that the next time they write something else, and a source comes to its end."""


Reading = Callable[[Source, int], None]
"""Is told how many bytes of a source have been read so far."""


class Importing:
    """The import of one source into one store."""

    def __init__(
        self,
        engine: ImportContext,
        source: Source,
        bounds: Bounds | None = None,
        reader: Importer | None = None,
        reading: Reading | None = None,
        *,
        waits: bool = False,
    ) -> None:
        """With `waits`, a copy whose session is not here is TooEarly, and nothing is done."""
        self._engine, self._source, self._bounds = engine, source, bounds
        self._reading = reading or _untold
        self._importer = reader or importer(source.importer)
        self.material: FileMaterial | None = None
        self._waits, self._careful = waits, False
        self._before: tuple[ImportState, ...] = ()
        self._waiting: list[Ingest] = []
        """The sessions of which nothing may be written yet."""

    async def run(self, *, again: bool = False, fresh: bool = False) -> ImportReport:
        """Import what is new; with `again` also where the source looks as it did.

        With `fresh`, what may still grow waits until the file has rested for a while: a reply, a
        line without an end, a document that is being rewritten.
        """
        source = self._source
        report = ImportReport(path=source.path, importer=source.importer, size=source.size)
        try:
            root = Root(source.root)
        except (OSError, Unsafe) as why:
            return trouble(report, Problem(f"cannot be read: {why}"))
        met: Counter[str] = Counter()
        while True:
            with closing(FileMaterial(root, source.name, self._bounds)) as self.material:
                if fresh and _rewritten(self.material):
                    return report
                try:
                    return await self._once(self.material, report, again, fresh)
                except Conflict as faster:
                    met[str(faster)] += 1
                    if met[str(faster)] == TRIES:
                        raise
                    self._careful, report = True, _anew(report)

    async def _once(
        self, material: FileMaterial, report: ImportReport, again: bool, fresh: bool
    ) -> ImportReport:
        looked = await self._engine.store.imports.last_fingerprint(material.path)
        if not again and material.same(looked):
            report.unchanged, report.beside = True, material.beside(looked)
            return report
        self._before = await self._engine.store.imports.by_source(material.path)
        growing = material.growing = fresh and material.age() < RESTED
        sessions: dict[str, Ingest] = {}
        self._waiting = []
        current: Ingest | None = None
        carried: list[str] = []
        told = _read(self._importer, material, report)
        while items := await self._engine.aside(lambda: list(islice(told, AT_ONCE))):
            for item in items:
                if isinstance(item, SessionStarted):
                    current = await self._begun(item, sessions, report)
                elif isinstance(item, Carried):
                    carried += await self._carry(item, report)
                elif not (growing and isinstance(item, MessageRead) and item.open):
                    await _give(item, current, report)
            self._reading(self._source, material.read)
        brought = [one for each in sessions.values() if (one := await each.finish())]
        made = tuple(dict.fromkeys([*carried, *(one.session for one in brought)]))
        look = material.look()
        whole = Whole(name=material.path, look=GROWING if growing else look, sessions=made)
        if made:
            await self._bring(brought, whole, report)
        report.sessions, report.beside = made, material.beside(look)
        return _ended(report)

    async def _bring(self, brought: list[ImportBatch], whole: Whole, report: ImportReport) -> None:
        report.calls += sum(await bring(self._engine, *brought, sources=(whole,)))
        for one in brought:
            report.wrote(one.drafts)

    async def _begun(
        self, begun: SessionStarted, sessions: dict[str, Ingest], report: ImportReport
    ) -> Ingest | None:
        """The session that goes on, or one that begins: it may belong to any before it.

        None for a copy of one that is here, as long as it says nothing else.
        """
        if begun.copy_of and (begun.copied or not begun.grown):
            known = await self._known(begun.copy_of)
            if known and not begun.grown:
                report.copy_of = begun.copy_of
                return None
            if self._waits and not known:
                raise TooEarly
        if begun.native not in sessions:
            if sessions.get(begun.parent) in self._waiting or len(self._waiting) >= TOGETHER:
                await self._let_exist(report)
            sessions[begun.native] = await self._begin(begun, report)
            self._waiting.append(sessions[begun.native])
        return sessions[begun.native]

    async def _let_exist(self, report: ImportReport) -> None:
        """Write the sessions that wait, so that others find them and they are not held."""
        waiting, self._waiting = self._waiting, []
        brought = [made for one in waiting if (made := one.made())]
        if brought:
            await bring(self._engine, *brought)
        for one in brought:
            report.wrote(one.drafts)

    async def _begin(self, begun: SessionStarted, report: ImportReport) -> Ingest:
        agent = self._importer.name
        belongs = begun.parent and begun.parent != begun.native
        parent = session_id(agent, begun.parent) if belongs else ""
        shared = await self._shared(begun) if begun.copied else 0
        made = Ingest(self._engine, agent, begun, begun.copy_of if shared else parent, report,
                      careful=self._careful, before=self._before, shared=shared,
                      source=await self._repeated(begun))  # fmt: skip
        await made.open()
        return made

    async def _repeated(self, begun: SessionStarted) -> str:
        """The session whose beginning a file repeats, if that is here."""
        if not begun.forked or begun.forked == begun.native:
            return ""
        known = await self._known(session_id(self._importer.name, begun.forked))
        return known.id if known else ""

    async def _carry(self, item: Carried, report: ImportReport) -> list[str]:
        """A session that is taken in as it is; why it cannot be, where it cannot."""
        try:
            return [await carry(self._engine, item.session, report)]
        except InvalidRequest as why:
            trouble(report, Problem(str(why), item.line))
            return []

    async def _shared(self, begun: SessionStarted) -> int:
        """Up to which entry a copy that has gone on is a fork; 0 where all of it is imported."""
        whole, agent = await self._known(begun.copy_of), self._importer.name
        if origin := await self._engine.store.imports.origin(agent, begun.native):
            fits = bool(origin.places) and origin.places[0] > begun.copied
        elif made := await self._known(session_id(agent, begun.native)):
            fits = made.fork == begun.copied
        else:
            fits = whole is not None and whole.head >= begun.copied
        return begun.copied if fits else 0

    async def _known(self, id: str) -> SessionInfo | None:
        """A session, if it is here."""
        return await self._engine.store.sessions.find(id)


def _untold(source: Source, read: int) -> None:
    """For whoever does not ask how far it is."""


def _rewritten(material: FileMaterial) -> bool:
    """Whether a document may be in the middle of being written anew."""
    return material.name.endswith(".json") and material.age() < WRITTEN


def _read(
    reader: Importer, material: FileMaterial, report: ImportReport
) -> Iterator[TranscriptEvent]:
    """What an importer tells; what it breaks off with is a problem of this file alone."""
    try:
        yield from reader.read(material)
    except Exception as broken:
        what = f"the importer broke off here ({type(broken).__name__}: {broken}): report it"
        trouble(report, Problem(what))


async def _give(item: TranscriptEvent, session: Ingest | None, report: ImportReport) -> None:
    if isinstance(item, Problem):
        trouble(report, item)
        return
    if session is not None and session.handed(item):
        return
    if isinstance(item, Kept):
        kind = item.record.type
        report.kept[kind] = report.kept.get(kind, 0) + 1
    if session is not None:
        await _TELL[type(item)](session, item)


async def _titled(session: Ingest, item: Titled) -> None:
    session.titled(item.title)


async def _noted(session: Ingest, item: Noted) -> None:
    session.noted(item)


_TELL: dict[type, Callable[[Ingest, Any], Any]] = {
    MessageRead: Ingest.said,
    Compacted: Ingest.compacted,
    Cleared: Ingest.cleared,
    Rewound: Ingest.rewound,
    CallRead: Ingest.called,
    Kept: Ingest.kept,
    Titled: _titled,
    Noted: _noted,
}


def _anew(report: ImportReport) -> ImportReport:
    """A report on a source that is begun again: what was written of it stays written."""
    return ImportReport(
        path=report.path, importer=report.importer, size=report.size, entries=report.entries,
        messages=report.messages, compactions=report.compactions, calls=report.calls,
    )  # fmt: skip


def _ended(report: ImportReport) -> ImportReport:
    if report.copy_of:
        report.kept = {}
    elif not report.sessions and report.kept:
        nothing = "it holds no conversation: nothing of it was imported"
        trouble(report, Problem(nothing, severity="notice"))
    return report


def trouble(report: ImportReport, problem: Problem) -> ImportReport:
    report.note(problem)
    return report
