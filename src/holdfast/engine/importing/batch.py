"""Taking in many sources: in which order they are imported, and which are written together.

Rule 1: one that fails hinders no other.
Rule 2: a session that belongs to another is imported after it, where names tell.
Rule 3: where much is new, workers read beside us, and what they make is written some sources at a
        time. A source of which something is known is read here, once what came before it is
        written.
Rule 4: a copy that was handed over is imported after everything else: its session may come yet.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from holdfast.engine.importing.deferred_copies import Copies, TooEarly
from holdfast.engine.importing.discovery import Source
from holdfast.engine.importing.source import Importing, Reading, trouble
from holdfast.engine.importing.workers import Readied, Workers, workers
from holdfast.errors import HoldfastError
from holdfast.model.import_batch import Ready
from holdfast.model.import_report import ImportReport
from holdfast.model.transcript_events import Problem

if TYPE_CHECKING:
    from holdfast.engine.context import ImportContext

DOWN = "ses_"
"""How names begin that count down: the session that another belongs to sorts behind it."""


def in_order(sources: Iterable[Source]) -> list[Source]:
    """The order of importing: what belongs to another session lies deeper, or only tells of it."""
    return sorted(sources, key=lambda one: _place(one.path))


def _place(path: str) -> tuple[bool, int, list[int]]:
    """What a source is sorted by."""
    name = PurePosixPath(path)
    behind = name.name.startswith("agent-") or name.name.endswith("_index.jsonl")
    sign = -1 if name.name.startswith(DOWN) else 1
    return behind, len(name.parts), [sign * ord(letter) for letter in path]


async def _alone(
    engine: ImportContext,
    source: Source,
    fresh: bool = False,
    again: bool = False,
    reading: Reading | None = None,
    *,
    waits: bool = False,
) -> ImportReport:
    """Import one source; why it cannot be, where it cannot."""
    importing = Importing(engine, source, reading=reading, waits=waits)
    try:
        return await importing.run(again=again, fresh=fresh)
    except TooEarly:
        raise
    except Exception as error:
        report = ImportReport(path=source.path, importer=source.importer, size=source.size)
        return trouble(report, Problem(_why(error)))


def _why(error: Exception) -> str:
    if isinstance(error, HoldfastError):
        return str(error)
    return f"could not be imported ({type(error).__name__}: {error}): report it"


async def run(
    engine: ImportContext,
    sources: Iterable[Source],
    *,
    fresh: bool = False,
    again: bool = False,
    reading: Reading | None = None,
) -> AsyncIterator[ImportReport]:
    """Import these sources, one after the other; what each has brought.

    Where much is new, workers read it beside us, and a few sources are written together.
    """
    wanted = in_order(one for one in sources if not one.why)
    beside = None if fresh or again else await workers(engine, wanted)
    alone = Copies(lambda source, waits: _alone(engine, source, fresh, again, reading, waits=waits))
    try:
        async for report in _first(engine, wanted, beside, alone):
            yield report
        async for report in alone.rest():
            yield report
    finally:
        if beside:
            beside.close()


async def _first(
    engine: ImportContext, wanted: list[Source], beside: Workers | None, alone: Copies
) -> AsyncIterator[ImportReport]:
    """Import all that need not wait."""
    together = Readied(engine)
    for source in wanted:
        ready = await _ready(engine, beside, source) if beside else None
        if ready:
            await together.take(source, ready)
        if together.enough or not ready:
            async for report in _written(together, alone):
                yield report
        if not ready:
            async for report in alone.tried(source):
                yield report
    async for report in _written(together, alone):
        yield report


async def _ready(engine: ImportContext, beside: Workers, source: Source) -> Ready | None:
    """What a worker has made of a source."""
    if beside.ending(source.path):
        await engine.store.search.catch_up(0)  # of what waits to be indexed, only that
    return await engine.aside(partial(beside.take, source.path))


async def _written(together: Readied, alone: Copies) -> AsyncIterator[ImportReport]:
    """Write what was made ready, or read it here where that cannot be; then what was set aside."""
    given, aside = together.taken()
    try:
        reports = await together.write(given)
    except Exception:  # which of them it is shows when each is read by itself
        reports, aside = [], in_order([*(one.source for one in given), *aside])
    for source in aside:
        reports += [report async for report in alone.tried(source)]
    for report in sorted(reports, key=lambda one: _place(one.path)):
        yield report
