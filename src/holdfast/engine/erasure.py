"""What an erased session leaves to a job: backups that hold it, and the pages of a large index.

Rule 1: one job of a process takes what all erasures left, also those that come while it ends.
Rule 2: between two steps it pauses for as long as the step took: whoever waits to write goes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from holdfast.model.store import Erasing

if TYPE_CHECKING:
    from holdfast.engine.context import EngineContext

LEASE: Final = 10 * 60_000
"""How long one step may take before somebody else tries it, in ms."""

LEAST_PAUSE: Final = 20
MOST_PAUSE: Final = 2_000
"""How long others have between two steps, in ms, whatever a clock says that was put ahead."""


class Erasures:
    """The job of one engine, and what it has ended."""

    def __init__(self, engine: EngineContext) -> None:
        self._engine = engine
        self._running = False
        self._ended: list[Erasing] = []
        """What the job has ended, until somebody asks."""

    def begin(self) -> None:
        """Begin the job, where a door runs work beside the turns and none runs yet."""
        if self._engine.spawn and not self._running:
            self._running = True
            self._engine.spawn(self._run)

    async def finish(self) -> tuple[Erasing, ...]:
        """Do what is left, once the job has ended; what became of each erased session."""
        while self._running and self._engine.pause:
            await self._engine.pause(LEAST_PAUSE / 1000)
        ended, self._ended = self._ended, []
        return (*ended, *await self._in_steps())

    async def _run(self) -> None:
        try:
            self._ended += await self._in_steps()
        finally:
            self._running = False
        self._ended += await self._in_steps()  # of who saw that it still ran

    async def _in_steps(self) -> tuple[Erasing, ...]:
        engine = self._engine
        owner, ended = engine.ids.new(), list[Erasing]()
        rewritten: tuple[str, ...] = ()
        while True:
            now = engine.clock.now()
            step = await engine.store.care.erase_further(owner=owner, now=now, until=now + LEASE)
            if step is None:
                return tuple(ended)
            rewritten += step.rewritten
            if step.done:
                ended.append(replace(step, rewritten=rewritten))
                rewritten = ()
            elif engine.pause:
                took = engine.clock.now() - now
                await engine.pause(min(max(took, LEAST_PAUSE), MOST_PAUSE) / 1000)
