"""How a door runs work beside the turns: daemon threads, or tasks of its event loop.

Closing waits for it for a moment and no longer: what is not finished then is as if never begun,
since its lease runs out and nothing of it was applied.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress

from holdfast.engine.bridge import drive
from holdfast.engine.compaction.hooks import Work

GRACE = 2.0
"""How long closing waits for work that is under way, in seconds."""


class Threads:
    """Work for the blocking door."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []

    def spawn(self, work: Work) -> None:
        """Run it in a thread of its own, which keeps nobody from leaving."""

        def run() -> None:
            with suppress(Exception):  # its lease says how it ended; nobody waits for it here
                drive(work())

        thread = threading.Thread(target=run, name="holdfast-background", daemon=True)
        self._threads = [one for one in self._threads if one.is_alive()] + [thread]
        thread.start()

    def settle(self, seconds: float = GRACE) -> bool:
        """Wait until all is done, but no longer; whether it is."""
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(end - time.monotonic(), 0))
        return not any(thread.is_alive() for thread in self._threads)

    @staticmethod
    async def pause(seconds: float) -> None:
        """Let others go on for a while."""
        time.sleep(seconds)  # noqa: ASYNC251 - behind the blocking door nothing suspends


class Tasks:
    """Work for the async door."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Work) -> None:
        """Run it as a task of the loop that asks for it."""

        async def run() -> None:
            with suppress(Exception):
                await work()

        task = asyncio.get_running_loop().create_task(run(), name="holdfast-background")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settle(self, seconds: float = GRACE) -> bool:
        """Wait until all is done, but no longer; whether it is."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)
        return not self._tasks

    async def stop(self) -> None:
        """Wait for a moment, and cancel what is left."""
        await self.settle()
        left = set(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    @staticmethod
    async def pause(seconds: float) -> None:
        """Let others go on for a while."""
        await asyncio.sleep(seconds)
