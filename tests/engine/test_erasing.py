"""What erasing leaves to a job: one job for all, whose pauses let others write."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.client import ThreadLock, drive
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.engine.plugins import open_store


class Beside:
    """What was spawned, and how often a job let others go on."""

    def __init__(self) -> None:
        self.works: list[Callable[[], Awaitable[None]]] = []
        self.pauses: list[float] = []
        self.meanwhile: list[Callable[[], object]] = []

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        while self.meanwhile:
            self.meanwhile.pop()()


@pytest.fixture
def beside() -> Beside:
    return Beside()


@pytest.fixture
def engine(tmp_path: Path, beside: Beside) -> Any:
    path = str(tmp_path / "log.db")
    with holdfast.open(path) as hf:
        for n in range(4):
            hf.session(f"s{n}", create=True).user(f"word {n}")
        hf.backup()
        hf.backup()
    clock = SystemClock()
    engine = Engine(
        open_store(path), clock=clock, ids=Ulids(clock), lock=ThreadLock,
        spawn=beside.works.append, pause=beside.pause,
    )  # fmt: skip
    yield engine
    engine.close()


def test_one_job_erases_all_that_was_erased_meanwhile(engine: Engine, beside: Beside) -> None:
    for n in range(2):
        assert len(drive(engine.erase(f"s{n}")).holding) == 2
    assert len(beside.works) == 1
    beside.meanwhile.append(lambda: drive(engine.erase("s2")))
    drive(beside.works[0]())  # type: ignore[arg-type]
    assert len(beside.works) == 1
    assert len(beside.pauses) == 3 * 2, "after each backup that was rewritten"
    assert all(seconds > 0 for seconds in beside.pauses)
    ended = drive(engine.finish_erasing())
    assert [(one.session, len(one.rewritten), one.holding) for one in ended] == [
        ("s0", 2, ()), ("s1", 2, ()), ("s2", 2, ()),
    ]  # fmt: skip
    assert drive(engine.finish_erasing()) == ()
    drive(engine.erase("s3"))
    assert len(beside.works) == 2, "the first has ended"


def test_finishing_waits_for_the_job_beside(engine: Engine, beside: Beside) -> None:
    drive(engine.erase("s0"))
    beside.meanwhile.append(lambda: drive(beside.works[0]()))  # type: ignore[arg-type]
    (ended,) = drive(engine.finish_erasing())
    assert (ended.session, len(ended.rewritten)) == ("s0", 2)
