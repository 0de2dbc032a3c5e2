"""How one async engine serves both doors: coroutines driven in place, or adapters in threads."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, ClassVar, TypeVar

from holdfast.engine.compaction.hooks import Heard, Voice
from holdfast.errors import HoldfastError, InvalidRequest, Unreachable
from holdfast.ports import Counter, Store

T = TypeVar("T")

GRACE = 0.2
"""How long closing a store that was written may take for its search to catch up, in seconds."""

STEP = 64
"""How many parts are indexed between two looks at the clock."""

_SUSPENDED = "an async adapter was given to the blocking door; use holdfast.open_async"


def drive(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine whose adapters block instead of suspending."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    work.close()
    raise InvalidRequest(_SUSPENDED)


def drive_all(work: AsyncIterator[T]) -> Iterator[T]:
    """Run an async iterator whose adapters block instead of suspending."""
    while True:
        try:
            work.__anext__().send(None)  # type: ignore[attr-defined]
        except StopIteration as done:
            yield done.value
        except StopAsyncIteration:
            return
        else:
            raise InvalidRequest(_SUSPENDED)


def catch_up(store: Store, grace: float = GRACE) -> None:
    """Let the search of a blocking store catch up for a moment; what is left waits for a query."""
    end = time.monotonic() + grace
    with suppress(HoldfastError):  # it never keeps anybody from closing
        while drive(store.search.catch_up(STEP)) and time.monotonic() < end:
            pass


class ThreadLock:
    """A lock among threads: asking for it blocks, and leaves nothing to await."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._owner = os.getpid()

    def acquire(self) -> None:
        if self._owner != os.getpid():  # a lock that another thread held at a fork is never freed
            raise InvalidRequest(
                "this session was opened before a fork; open it again in the new process"
            )
        self._lock.acquire()

    def release(self) -> None:
        self._lock.release()


class Threaded:
    """A blocking store for an event loop: every call runs, in order, in one worker thread."""

    blocking: ClassVar[bool] = False
    PORTS = frozenset(
        {
            "log",
            "sessions",
            "blobs",
            "files",
            "calls",
            "counts",
            "snapshots",
            "notes",
            "search",
            "jobs",
            "imports",
            "care",
        }
    )

    def __init__(self, store: Store) -> None:
        self._store = store
        self._worker = ThreadPoolExecutor(1, "holdfast-store")

    def __getattr__(self, name: str) -> Any:
        if name not in self.PORTS:
            raise AttributeError(name)
        return ThreadedPort(getattr(self._store, name), self._worker)

    def catch_up(self) -> None:
        """Let the search catch up for a moment."""
        with suppress(RuntimeError):  # it is closed
            self._worker.submit(catch_up, self._store).result()

    def close(self) -> None:
        try:
            closing = self._worker.submit(self._store.close)
        except RuntimeError:
            return  # it is closed
        try:
            closing.result()
        finally:
            self._worker.shutdown()


class ThreadedPort:
    """One port of such a store."""

    def __init__(self, port: object, worker: ThreadPoolExecutor) -> None:
        self._port = port
        self._worker = worker

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        method = getattr(self._port, name)

        async def call(*values: Any, **named: Any) -> Any:
            try:
                running = self._worker.submit(lambda: drive(method(*values, **named)))
            except RuntimeError as closed:
                raise InvalidRequest("this is closed; open it again") from closed
            return await asyncio.shield(asyncio.wrap_future(running))

        return call


class ThreadedCounter:
    """A blocking counter for an event loop."""

    blocking: ClassVar[bool] = False

    def __init__(self, counter: Counter, worker: ThreadPoolExecutor) -> None:
        port = ThreadedPort(counter, worker)
        self.name, self.tier = counter.name, counter.tier
        self.count, self.count_request = port.count, port.count_request
        self.close = counter.close


def spoken(voice: Voice) -> Heard:
    """Whoever answers questions, for the blocking door: waited for, but not for ever.

    It runs in a thread of its own, which is left behind where it hangs.
    """

    async def heard(question: Any) -> Any:
        answers: SimpleQueue[tuple[bool, Any]] = SimpleQueue()

        def speak() -> None:
            try:
                answers.put((True, voice(question)))
            except BaseException as error:
                answers.put((False, error))

        threading.Thread(target=speak, name="holdfast-summary", daemon=True).start()
        try:
            fine, told = answers.get(timeout=question.timeout or None)
        except Empty:
            raise Unreachable(f"no answer within {question.timeout:g} s") from None
        if not fine:
            left = f"the summariser left with {type(told).__name__}"
            raise told if isinstance(told, Exception) else Unreachable(left)
        if inspect.iscoroutine(told):
            told.close()
            raise InvalidRequest(
                "an async summariser was given to the blocking door; use open_async"
            )
        return told

    return heard


def spoken_in_loop(voice: Voice) -> Heard:
    """The same for the async door: a coroutine is cancelled where it takes too long."""

    async def heard(question: Any) -> Any:
        async def answered() -> Any:
            if inspect.iscoroutinefunction(voice):
                return await voice(question)
            told = await asyncio.to_thread(voice, question)
            return await told if inspect.isawaitable(told) else told

        try:
            return await asyncio.wait_for(answered(), question.timeout or None)
        except TimeoutError:
            raise Unreachable(f"no answer within {question.timeout:g} s") from None

    return heard
