"""A summary that is being waited for is given up: nothing has changed, and the next one works."""

import asyncio
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.compaction.lease import is_held
from holdfast.model.log import Summary
from holdfast.model.message import assistant
from tests.policies import AHEAD

MODEL = "gpt-4"  # holds 8,192 tokens
GOOD = "The user counts things, and was answered each time."
TURNS = 30


class Waiting:
    """A summariser that keeps silent until it is let; it says whether it was cancelled."""

    def __init__(self) -> None:
        self.asked, self.free = asyncio.Event(), asyncio.Event()
        self.cancelled = 0

    async def __call__(self, question: Any) -> str:
        self.asked.set()
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return GOOD


async def full(s: Any) -> None:
    for n in range(TURNS):
        await s.user(f"count the things of kind {n} " + "please " * 60)
        await s.append(assistant(f"there are {n} things " + "of that kind " * 60))
    await s.user("and now?")


def test_a_task_is_cancelled_while_it_waits_for_a_summary(tmp_path: Path) -> None:
    async def run() -> None:
        voice = Waiting()
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            s = await hf.session(model=MODEL, policy=AHEAD, summariser=voice.__call__)
            await full(s)
            before = [entry.id async for entry in s.entries()]
            task = asyncio.create_task(s.window())
            await asyncio.wait_for(voice.asked.wait(), 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert voice.cancelled == 1
            assert [entry.id async for entry in s.entries()] == before
            assert not await is_held(s, "summary")
            voice.free.set()
            assert (await s.window()).over == 0
            made = [e.body async for e in s.entries() if isinstance(e.body, Summary)]
            assert [one.model for one in made] == [MODEL]

    asyncio.run(run())


def test_a_thread_that_goes_on_speaking_changes_nothing(tmp_path: Path) -> None:
    asked, free = threading.Event(), threading.Event()

    def voice(question: Any) -> str:
        asked.set()
        assert free.wait(20)
        return GOOD

    async def run() -> None:
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            s = await hf.session(model=MODEL, policy=AHEAD, summariser=voice)
            await full(s)
            task = asyncio.create_task(s.window())
            assert await asyncio.to_thread(asked.wait, 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            head = (await s.refresh()).head
            free.set()
            assert not await is_held(s, "summary")
            assert (await s.refresh()).head == head
            assert (await s.window()).over == 0

    asyncio.run(run())


CHILD = """
import sys, threading
import holdfast
from holdfast.engine.compaction.lease import is_held
from holdfast.engine.bridge import drive
from holdfast.model.log import Summary
from holdfast.model.message import assistant

free = threading.Event()

def voice(question):
    print("asked", flush=True)
    free.wait(20)
    return {good!r}

with holdfast.open({store!r}) as hf:
    s = hf.session(model={model!r}, policy={policy!r}, summariser=voice)
    for n in range({turns}):
        s.user(f"count the things of kind {{n}} " + "please " * 60)
        s.append(assistant(f"there are {{n}} things " + "of that kind " * 60))
    s.user("and now?")
    head = s.info.head
    try:
        s.window()
    except KeyboardInterrupt:
        print("interrupted", s.refresh().head - head, drive(is_held(s._inner, "summary")))
    free.set()
    assert s.window().over == 0
    print([e.body.model for e in s.entries() if isinstance(e.body, Summary)])
"""


@pytest.mark.seed("000", 182)
def test_ctrl_c_while_a_summary_is_waited_for(tmp_path: Path) -> None:
    script = CHILD.format(
        good=GOOD, store=str(tmp_path / "log.db"), model=MODEL, policy=AHEAD, turns=TURNS
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        assert child.stdout.readline() == "asked\n"
        child.send_signal(signal.SIGINT)
        told = child.stdout.read().split("\n")
    assert told[0] == "interrupted 0 False"
    assert told[-2] == f"['{MODEL}']"
