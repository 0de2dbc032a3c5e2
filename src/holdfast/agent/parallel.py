"""Jobs that run at the same time, and the one thread that waits for them.

Rule 1: what a job tells or asks is done by the thread that waits: onlookers see one thread only.
Rule 2: an interrupt reaches the thread that waits; the jobs are told to stop, and for a moment what
        they still bring is taken.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
A = TypeVar("A")

GRACE: Final = 2.0
"""How long jobs have to come to an end once somebody interrupts, in seconds."""

TICK: Final = 0.05


class Together(Generic[T]):
    """Several jobs; `results` holds what each brought, None where nothing has come."""

    def __init__(self, jobs: Sequence[Callable[[], T]], stop: threading.Event) -> None:
        self.results: list[T | None] = [None] * len(jobs)
        self.stop = stop
        self._jobs = jobs
        self._posts: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self._home = threading.get_ident()
        self._left = len(jobs)

    def run(self) -> list[T | None]:
        """Run them all; what one of them raises is raised here, once all have ended."""
        for place in range(len(self._jobs)):
            name = f"holdfast-job-{place}"
            threading.Thread(target=self._work, args=(place,), name=name, daemon=True).start()
        try:
            failed = [error for error in self._waited() if error is not None]
        except BaseException:
            self.stop.set()
            self._take_the_rest()
            raise
        if failed:
            raise failed[0]
        return self.results

    def here(self, act: Callable[[], A]) -> A:
        """Have something done by the thread that waits; for a job to call."""
        if threading.get_ident() == self._home:
            return act()
        answer: SimpleQueue[tuple[A | None, Exception | None]] = SimpleQueue()

        def done() -> None:
            try:
                answer.put((act(), None))
            except Exception as error:
                answer.put((None, error))

        self._posts.put((-1, done))
        while True:
            try:
                value, error = answer.get(timeout=TICK)
            except Empty:
                if self.stop.is_set():
                    raise KeyboardInterrupt from None
                continue
            if error is not None:
                raise error
            return value  # type: ignore[return-value]

    def _work(self, place: int) -> None:
        error: BaseException | None = None
        try:
            self.results[place] = self._jobs[place]()
        except BaseException as raised:
            error = raised
        self._posts.put((place, error))

    def _waited(self) -> list[BaseException | None]:
        """Do what the jobs ask for until all have ended; what each raised."""
        ended: list[BaseException | None] = []
        while self._left:
            try:
                place, told = self._posts.get(timeout=TICK)
            except Empty:
                if self.stop.is_set():
                    raise KeyboardInterrupt from None
                continue
            if place < 0:
                told()
            else:
                self._left -= 1
                ended.append(told)
        return ended

    def _take_the_rest(self) -> None:
        end = time.monotonic() + GRACE
        while self._left and (left := end - time.monotonic()) > 0:
            try:
                place, _ = self._posts.get(timeout=left)
            except Empty:
                return
            self._left -= place >= 0
