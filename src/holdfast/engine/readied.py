"""What workers have made ready, written some sources at a time: each commit waits for the disk.

Of what is made ready nothing may be known, neither here nor by what is written with it: a session,
or another that begins in the same way. Otherwise its source is set aside, to be read again where
all before it is written.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from holdfast.engine.bringing import bring
from holdfast.model.brought import Ready
from holdfast.model.origin import Imported, Origin

if TYPE_CHECKING:
    from holdfast.engine.engine import Engine
    from holdfast.engine.finding import Source

ENOUGH = 4 << 20
"""So many bytes of sources are written together."""


class Given(Struct, frozen=True):
    """A source, and what it brings."""

    source: Source
    ready: Ready


class Readied:
    """The sources that are written together next, and those that are set aside until then."""

    def __init__(self, engine: Engine) -> None:
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

    async def _knows(self, origin: Origin) -> bool:
        if {(origin.agent, origin.native), origin.opening} & self._known:
            return True
        imports = self._engine.store.imports
        known = await imports.origin(origin.agent, origin.native)
        return bool(known or await imports.alike(origin.opening))

    def taken(self) -> tuple[list[Given], list[Source]]:
        """What is to be written, and what was set aside; from here on there is none of either."""
        taken = self._given, self._aside
        self._begin()
        return taken

    async def write(self, given: list[Given]) -> list[Imported]:
        """Write it in one transaction; what each source has brought."""
        if given:
            brought = [one for each in given for one in each.ready.brought]
            sources = [one for each in given for one in each.ready.sources]
            calls = iter(await bring(self._engine, *brought, sources=sources))
            for one in given:
                one.ready.report.calls += sum(islice(calls, len(one.ready.brought)))
        return [one.ready.report for one in given]
