"""What such a process does: import each source into a store that knows nothing, and tell of it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec.structs import replace

from holdfast.child_process import ANSWER, framed, heard, limits
from holdfast.engine.bridge import drive
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.engine.importing.discovery import Source
from holdfast.engine.importing.source import Importing
from holdfast.engine.plugins import laying, open_store
from holdfast.errors import InvalidRequest
from holdfast.model import wire
from holdfast.model.import_batch import ImportBatch, Ready
from holdfast.model.import_batch import Source as Whole
from holdfast.model.import_report import ImportReport
from holdfast.model.log import SessionInfo
from holdfast.model.profile import Profile
from holdfast.model.transcript_events import Carried

if TYPE_CHECKING:
    from holdfast.ports import Catalogue, Ids, Store

ALONE = 120
"""So long the process goes on where nobody is left to end it, in seconds."""


CYCLES = 50_000
"""After so many new objects cycles are looked for: hardly anything that is read is in one."""


class Unpriced:
    """A catalogue that knows no price: whoever writes does."""

    def profile(self, model: str) -> Profile:
        return Profile(name=model)


class Sheet:
    """A store that knows nothing, and remembers what is brought: its entries laid out."""

    def __init__(self, layout: str) -> None:
        memory = open_store("memory:")
        self.log, self.sessions = memory.log, memory.sessions
        self._laying = laying(layout)
        self.brought: list[ImportBatch] = []
        self.sources: tuple[Whole, ...] = ()

    @property
    def imports(self) -> Sheet:
        """It is its own port; as an attribute that would keep it from being freed at once."""
        return self

    async def by_source(self, source: str) -> tuple[()]:
        return ()

    async def last_fingerprint(self, source: str) -> str:
        return ""

    async def origin(self, agent: str, native: str) -> None:
        return None

    async def by_opening(self, opening: bytes) -> tuple[()]:
        return ()

    async def commit(self, *brought: ImportBatch, sources: Sequence[Whole] = ()) -> tuple[int, ...]:
        self.brought += [await self._one(one) for one in brought]
        self.sources = (*self.sources, *sources)
        return ()  # whoever writes can tell which calls are new

    async def _one(self, one: ImportBatch) -> ImportBatch:
        """As it will be handed over; what was said can be read here too, for an extract of it."""
        if one.new:
            await self.sessions.create(one.new)
        if not one.drafts:
            return one
        session = await self.sessions.session(one.session)
        await self.log.append(one.session, one.drafts)
        return replace(one, drafts=(), laid=self._laying.lay(session, one.drafts, one.key))


class Beforehand(Importing):
    """An import into a store that knows nothing: what asks for more is left to the store itself."""

    async def _known(self, id: str) -> SessionInfo | None:
        raise InvalidRequest("only the store itself can tell whether it is there")

    async def _carry(self, item: Carried, report: ImportReport) -> list[str]:
        raise InvalidRequest("what is taken in as it is can only be taken into the store itself")


class WorkerContext:
    """What an import asks of an engine, where nothing is written: a store for each source."""

    store: Store
    appended: bool = False

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self.secrets = secrets
        self.ids: Ids = Ulids(SystemClock())
        self.catalogue = cast("Catalogue", Unpriced())

    async def aside(self, work: Callable[[], Any]) -> Any:
        return work()


def maker(layout: str, secrets: tuple[str, ...]) -> Callable[[Source], Ready | None]:
    """What tells what a source brings; nothing where the store itself is needed for it."""
    context = WorkerContext(secrets)

    def made(source: Source) -> Ready | None:
        sheet = Sheet(layout)
        context.store = cast("Store", sheet)
        try:
            report = drive(Beforehand(context, source).run())
        except Exception:  # whoever writes will meet the same, and tell it
            return None
        return Ready(report, tuple(sheet.brought), sheet.sources)

    return made


def packed(ready: Ready) -> bytes:
    """What a source brings, as bytes; the entries as they are, behind all else."""
    laid = [one.laid for one in ready.brought]
    bare = tuple([replace(one, laid=b"") for one in ready.brought])
    return msgspec.msgpack.encode([wire.encode(replace(ready, brought=bare)), *laid])


def main() -> None:
    """Answer until nobody asks any more."""
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever an importer prints is no answer
    gc.freeze()
    gc.set_threshold(CYCLES)
    make = maker(*wire.decode(heard(asked) or b"", tuple[str, tuple[str, ...]]))
    while (told := heard(asked)) is not None:
        limits(ALONE)
        source = Source(*wire.decode(told, tuple[str, str, str, int]))
        ready = make(source)
        told = packed(ready) if ready else b""
        answers.write(framed(told if len(told) <= ANSWER else b""))
        answers.flush()


if __name__ == "__main__":
    main()
