"""One engine, two doors: the same names, the same log."""

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.bridge import catch_up
from holdfast.engine.client import AsyncHoldfast, Holdfast, Session, Threaded, drive
from holdfast.engine.session import AsyncSession
from holdfast.errors import InvalidRequest
from holdfast.model.log import Entry, Summary
from holdfast.model.span import Span
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, start

STEP = 64
"""What is promised, in numbers: these tests stand at its edges."""


def told(entry: Entry) -> tuple[Any, ...]:
    """An entry without what a clock and a source of ids gave it."""
    return entry.seq, entry.body, entry.counts, entry.key


def say_blocking(path: Path) -> list[tuple[Any, ...]]:
    with holdfast.open(path) as hf:
        s = hf.session(model="m", title="t")
        s.user("one", key="k")
        s.user("one", key="k")
        s.append(holdfast.assistant("two", holdfast.ToolCall("c", "sh", "{}")))
        s.tool_result("c", "out", error=True)
        s.append(Summary(covers=(Span(1, 2),), text="so far"))
        s.rewind("1")
        return [told(entry) for entry in s.entries()]


async def say_async(path: Path) -> list[tuple[Any, ...]]:
    async with holdfast.open_async(path) as hf:
        s = await hf.session(model="m", title="t")
        await s.user("one", key="k")
        await s.user("one", key="k")
        await s.append(holdfast.assistant("two", holdfast.ToolCall("c", "sh", "{}")))
        await s.tool_result("c", "out", error=True)
        await s.append(Summary(covers=(Span(1, 2),), text="so far"))
        await s.rewind("1")
        return [told(entry) async for entry in s.entries()]


def test_both_doors_write_the_same_log(tmp_path: Path) -> None:
    blocking = say_blocking(tmp_path / "a.db")
    assert len(blocking) == 5
    assert blocking == asyncio.run(say_async(tmp_path / "b.db"))


INTERNAL = {"ledgers", "turns"}
"""What only the parts of the engine ask of a session (`engine/context.py`)."""


@pytest.mark.parametrize(("door", "engine"), [(Holdfast, AsyncHoldfast), (Session, AsyncSession)])
def test_what_one_door_offers_the_other_does_too(door: type, engine: type) -> None:
    def offered(kind: type) -> dict[str, Any]:
        return {
            name: value
            for name, value in inspect.getmembers(kind)
            if not name.startswith("_") and name not in INTERNAL
            if callable(value) or isinstance(value, property)
        }

    here, there = offered(door), offered(engine)
    assert set(here) == set(there)
    for name, value in here.items():
        if callable(value):
            assert list(inspect.signature(value).parameters) == list(
                inspect.signature(there[name]).parameters
            )


def test_threads_may_share_a_session(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session()
        threads = [
            threading.Thread(target=lambda n=n: [s.user(f"{n}.{i}") for i in range(20)])
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        said = [entry.body.text for entry in s.entries()]  # type: ignore[union-attr]
        assert len(said) == 80
        for n in range(4):  # each thread's own order is kept
            assert [text for text in said if text.startswith(f"{n}.")] == [
                f"{n}.{i}" for i in range(20)
            ]


def test_tasks_may_share_a_session(tmp_path: Path) -> None:
    async def main() -> list[str]:
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            s = await hf.session()
            await asyncio.gather(*(s.user(str(i)) for i in range(30)))
            return [entry.body.text async for entry in s.entries()]  # type: ignore[union-attr]

    assert sorted(asyncio.run(main()), key=int) == [str(i) for i in range(30)]


def test_the_blocking_door_works_inside_a_running_loop(tmp_path: Path) -> None:
    async def main() -> str:
        with holdfast.open(tmp_path / "log.db") as hf:
            return hf.session().user("hello").body.text  # type: ignore[union-attr]

    assert asyncio.run(main()) == "hello"


def test_a_cancelled_caller_does_not_stop_a_store_call_that_has_begun() -> None:
    began, go_on = threading.Event(), threading.Event()
    store = MemoryStore()
    real = store.log.locate

    async def slow(session: str, entry: str) -> int | None:
        began.set()
        go_on.wait(5)
        finished.append(entry)
        return await real(session, entry)

    finished: list[str] = []
    store.log.locate = slow  # type: ignore[method-assign]

    async def main() -> None:
        threaded = Threaded(store)
        waiting = asyncio.create_task(threaded.log.locate("s", "e"))
        await asyncio.to_thread(began.wait, 5)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        go_on.set()
        threaded.close()

    asyncio.run(main())
    assert finished == ["e"]


def test_an_adapter_that_suspends_is_refused_at_the_blocking_door() -> None:
    with pytest.raises(InvalidRequest, match="open_async"):
        drive(asyncio.sleep(0))


def test_using_a_closed_store_says_so(tmp_path: Path) -> None:
    hf = holdfast.open(tmp_path / "log.db")
    s = hf.session()
    hf.close()
    with pytest.raises(InvalidRequest, match="closed"):
        s.user("too late")


def test_open_async_can_be_awaited(tmp_path: Path) -> None:
    async def main() -> int:
        hf = await holdfast.open_async(tmp_path / "log.db")
        await (await hf.session()).user("hello")
        many = len(await hf.sessions())
        await asyncio.to_thread(hf.close)
        return many

    assert asyncio.run(main()) == 1


@pytest.mark.parametrize("url", ["memory:", "log.db"])
def test_the_async_door_refuses_when_it_is_closed_and_closes_twice(
    tmp_path: Path, url: str
) -> None:
    async def main() -> None:
        hf = await holdfast.open_async(url if url == "memory:" else tmp_path / url)
        s = await hf.session()
        await s.user("hello")
        hf.close()
        hf.close()
        for attempt in (s.user("more"), hf.sessions(), s.view()):
            with pytest.raises(InvalidRequest, match="closed"):
                await attempt

    asyncio.run(main())


@pytest.mark.parametrize("url", ["memory:", "log.db"])
def test_the_blocking_door_refuses_when_it_is_closed_and_closes_twice(
    tmp_path: Path, url: str
) -> None:
    hf = holdfast.open(url if url == "memory:" else tmp_path / url)
    s = hf.session()
    hf.close()
    hf.close()
    for attempt in (lambda: s.user("more"), hf.sessions, s.view):
        with pytest.raises(InvalidRequest, match="closed"):
            attempt()


def behind(path: Path) -> int:
    """How many sessions are not wholly indexed."""
    store = SqliteStore.open(path)
    try:
        return store.db.rows("SELECT count(*) FROM sessions WHERE indexed < head")[0][0]
    finally:
        store.close()


def test_search_catches_up_when_a_door_that_was_written_through_closes(tmp_path: Path) -> None:
    async def main() -> None:
        async with holdfast.open_async(tmp_path / "b.db") as hf:
            s = await hf.session()
            await s.user("hello")

    with holdfast.open(tmp_path / "a.db") as hf:
        hf.session().user("hello")
        assert hf.engine.store.db.rows("SELECT 1 FROM sessions WHERE indexed < head")  # type: ignore[attr-defined]
    asyncio.run(main())
    assert behind(tmp_path / "a.db") == behind(tmp_path / "b.db") == 0


def test_closing_never_waits_for_a_long_search_to_catch_up(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "log.db")
    id = start(store)
    append(store, id, *["word " * 20] * 1000)
    catch_up(store, grace=0)
    ((indexed,),) = store.db.rows("SELECT indexed FROM sessions")
    assert indexed == STEP
    catch_up(store, grace=60)
    assert store.db.rows("SELECT indexed FROM sessions") == [(1000,)]
    store.close()
    catch_up(store)
