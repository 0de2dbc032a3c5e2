"""Processes that read transcripts beside the one that writes: what a source brings, made ready.

Rule 1: they are handed sources in the order of importing, and never far ahead of the writer; so
        what waits to be written is bounded.
Rule 2: whoever would wait for them does what they have not begun; so no core is idle, and there
        are no more processes than cores. The last of it is left to them: whoever writes has what
        waits to be indexed to do meanwhile.
Rule 3: a worker that fails is not replaced: what it had, and what nobody is left to do, is read
        here as if there were none.
Rule 4: they see no key in a command line or an environment; what is to be redacted they are told.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.child_process import Child
from holdfast.engine.importing.commit import bring
from holdfast.model import wire
from holdfast.model.import_batch import Ready
from holdfast.model.import_report import ImportReport, ImportState

if TYPE_CHECKING:
    from holdfast.engine.context import ImportContext
    from holdfast.engine.importing.discovery import Source

MODULE = "holdfast.engine.importing.worker_main"

LEAST = 8 << 20
"""With fewer bytes than this in all, starting workers takes longer than they save."""

LARGEST = 4 << 20
"""A larger source is read where it is written, step by step: its entries are not held as one."""

AHEAD = 12 << 20
"""So many bytes of sources are handed out before the writer has taken them."""

LAST, SHARE = 5 << 20, 20
"""So many bytes are left to them at the end, and at most one in so many of all."""

MOST = 2
"""How many there are at most: one writer has no time for what more of them would bring."""

DEEP = 2
"""How many sources a worker is handed at once, so that it never waits for the next."""

PATIENCE = 60.0
"""How long a source may take, in seconds."""


class Job:
    """A source, and what a worker makes of it: nothing where that fails."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.made: Future[Ready | None] = Future()


class Workers:
    """What reads some sources; to be closed."""

    def __init__(
        self, sources: Sequence[Source], layout: str, secrets: tuple[str, ...], many: int
    ) -> None:
        self._jobs = {source.path: Job(source) for source in sources}
        self._left = deque(self._jobs.values())
        self._told = wire.encode([layout, secrets])
        from holdfast.engine.importing.worker_main import maker  # most imports need none

        self._make = maker(layout, secrets)
        self._held, self._rest = 0, sum(source.size for source in sources)
        self._last, self._ending = min(LAST, self._rest // SHARE), False
        self._room = threading.Condition()
        self._stop = threading.Event()
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(many)]
        self._threads, self._busy = threads, len(threads)
        for thread in threads:
            thread.start()

    def take(self, path: str) -> Ready | None:
        """What a source brings, once it is made; None where it has to be read here."""
        job = self._jobs.pop(path, None)
        if job is None:
            return None
        while not job.made.done() and (other := self._next(wait=False)):
            other.made.set_result(self._make(other.source))
        made = job.made.result()
        with self._room:
            self._held -= job.source.size
            self._room.notify_all()
        return made

    def ending(self, path: str) -> bool:
        """Whether there is time for something else before this source is made: told once."""
        job = self._jobs.get(path)
        if self._ending or job is None or job.made.done() or self._rest > self._last:
            return False
        self._ending = True
        return True

    def close(self) -> None:
        """End them, whatever they do."""
        self._stop.set()
        with self._room:
            self._room.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        under: deque[Job] = deque()
        try:
            child = Child(MODULE)
            try:
                child.tell(self._told)
                while self._ask(child, under):
                    made = child.answer(time.monotonic() + PATIENCE, self._stop)
                    under.popleft().made.set_result(opened(made))
            finally:
                child.close()
        except (OSError, EOFError, KeyboardInterrupt):
            pass  # TimeoutError is an OSError
        finally:
            self._ended(under)

    def _ask(self, child: Child, under: deque[Job]) -> bool:
        """Hand a worker what it may do next; whether it has anything to do."""
        while len(under) < DEEP and (job := self._next(wait=not under)):
            under.append(job)
            source = job.source
            child.tell(wire.encode([source.importer, source.root, source.name, source.size]))
        return bool(under)

    def _next(self, *, wait: bool) -> Job | None:
        with self._room:
            while self._left and not self._stop.is_set():
                size = self._left[0].source.size
                if not wait and self._busy and self._rest <= self._last:
                    return None
                if self._held + size <= AHEAD:
                    self._held, self._rest = self._held + size, self._rest - size
                    return self._left.popleft()
                if not wait:
                    return None
                self._room.wait()
        return None

    def _ended(self, under: deque[Job]) -> None:
        with self._room:
            self._busy -= 1
            if not self._busy:
                under.extend(self._left)
                self._left.clear()
        for job in under:
            job.made.set_result(None)


async def workers(engine: ImportContext, sources: Sequence[Source]) -> Workers | None:
    """Workers for the sources of which nothing is known; None where they are not worth it."""
    imports = engine.store.imports
    layout = await imports.layout()
    many = min(_cores() - 1, MOST)
    if not (layout and many):
        return None
    small = [one for one in sources if one.size <= LARGEST]
    if sum(one.size for one in small) < LEAST:
        return None
    new = [one for one in small if not await imports.last_fingerprint(one.path)]
    worth = sum(one.size for one in new) >= LEAST
    return Workers(new, layout, engine.secrets, many) if worth else None


def _cores() -> int:
    with suppress(AttributeError):  # not everywhere can a process be told which it may use
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def opened(data: bytes | bytearray) -> Ready | None:
    """What a worker has said; None where it is nothing that one says."""
    try:
        told, *laid = msgspec.msgpack.decode(data, type=list[bytes])
        ready = wire.decode(told, Ready)
        whole = [replace(one, laid=own) for one, own in zip(ready.brought, laid, strict=True)]
    except (msgspec.MsgspecError, ValueError):
        return None
    return replace(ready, brought=tuple(whole))


ENOUGH = 4 << 20
"""So many bytes of sources are written together."""


class Given(Struct, frozen=True):
    """A source, and what it brings."""

    source: Source
    ready: Ready


class Readied:
    """The sources that are written together next, and those that are set aside until then."""

    def __init__(self, engine: ImportContext) -> None:
        self._engine = engine
        self._begin()

    def _begin(self) -> None:
        self._given: list[Given] = []
        self._aside: list[Source] = []
        self._known: set[tuple[str, ...] | bytes] = set()
        self._size = 0

    @property
    def enough(self) -> bool:
        """Whether it is time to write them."""
        return self._size >= ENOUGH

    async def take(self, source: Source, ready: Ready) -> None:
        """Take what a source brings, or set the source aside where something of it is known."""
        origins = [one.origin for one in ready.brought if one.origin]
        if any([await self._knows(one) for one in origins]):
            self._aside.append(source)
        else:
            self._given.append(Given(source, ready))
        for one in origins:
            self._known |= {(one.agent, one.native), one.opening}
        self._size += source.size

    async def _knows(self, origin: ImportState) -> bool:
        if {(origin.agent, origin.native), origin.opening} & self._known:
            return True
        imports = self._engine.store.imports
        known = await imports.origin(origin.agent, origin.native)
        return bool(known or await imports.by_opening(origin.opening))

    def taken(self) -> tuple[list[Given], list[Source]]:
        """What is to be written, and what was set aside; from here on there is none of either."""
        taken = self._given, self._aside
        self._begin()
        return taken

    async def write(self, given: list[Given]) -> list[ImportReport]:
        """Write it in one transaction; what each source has brought."""
        if given:
            brought = [one for each in given for one in each.ready.brought]
            sources = [one for each in given for one in each.ready.sources]
            calls = iter(await bring(self._engine, *brought, sources=sources))
            for one in given:
                one.ready.report.calls += sum(islice(calls, len(one.ready.brought)))
        return [one.ready.report for one in given]
