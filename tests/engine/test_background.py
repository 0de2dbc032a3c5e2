"""Work beside the turns: prepared ahead, swapped in when due, dropped when stale, one at a time."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.core.compaction.notes import TEMPLATE
from holdfast.engine.bridge import drive
from holdfast.engine.client import Session
from holdfast.engine.compaction.lease import Lease, is_held
from holdfast.model.log import Notes, Pin, Summary
from holdfast.model.message import Message, Text, assistant
from tests.policies import AHEAD, NOTED

MODEL = "gpt-4"  # holds 8,192 tokens


class Slow:
    """A summariser that answers when it is let."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.free = threading.Event()
        self.questions: list[Any] = []

    def __call__(self, question: Any) -> str:
        self.questions.append(question)
        self.asked.set()
        assert self.free.wait(20)
        return "The user counts things, and was answered each time."


def talk(s: Session, turns: int, first: int = 0) -> None:
    for n in range(first, first + turns):
        s.user(f"count the things of kind {n} " + "please " * 60)
        s.append(assistant(f"there are {n} things " + "of that kind " * 60))


def summaries(s: Session) -> list[Summary]:
    return [e.body for e in s.entries() if isinstance(e.body, Summary)]


@pytest.mark.seed("000", 7, 28, 157, 180)
@pytest.mark.seed("001", 22)
def test_a_summary_is_prepared_ahead_and_swapped_in_when_it_is_due(tmp_path: Path) -> None:
    slow = Slow()
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL, policy=AHEAD, summariser=slow)
        talk(s, 18)
        s.user("go on")
        before = s.window()
        assert slow.asked.wait(5)
        assert not summaries(s)  # the turn did not wait
        slow.free.set()
        assert hf.wait_for_background(10)
        assert not summaries(s)  # it is ready, and nothing is swapped before it is due
        assert s.window().tokens == before.tokens
        talk(s, 8, 18)
        s.user("and now?")
        s.window()
        (made,) = summaries(s)
        assert made.model == MODEL
        assert len(slow.questions) == 1
        covered = max(span.last for span in made.covers)
        assert covered < before.head  # what was said meanwhile is not covered


def test_what_was_prepared_is_dropped_once_a_marker_came(tmp_path: Path) -> None:
    slow = Slow()
    slow.free.set()
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL, policy=AHEAD, summariser=slow)
        talk(s, 18)
        s.user("go on")
        s.window()
        assert hf.wait_for_background(10)
        s.append(Pin(fact="never use tabs"))
        talk(s, 8, 18)
        s.user("and now?")
        s.window()
        assert len(slow.questions) > 1  # the stale one was not used


@pytest.mark.seed("000", 29, 181)
def test_a_full_window_waits_for_the_summary_that_is_under_way(tmp_path: Path) -> None:
    slow = Slow()
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL, policy=AHEAD, summariser=slow)
        talk(s, 18)
        s.user("go on")
        s.window()
        assert slow.asked.wait(5)
        talk(s, 8, 18)
        s.user("and now?")
        threading.Timer(0.3, slow.free.set).start()
        began = time.monotonic()
        assert s.window().over == 0
        assert time.monotonic() - began >= 0.2
        assert [made.model for made in summaries(s)] == [MODEL]
        assert len(slow.questions) == 1


def test_only_one_works_on_a_session_at_a_time(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL)
        held = drive(Lease.begin(s._inner, "summary", 5))  # type: ignore[reportPrivateUsage]
        assert held
        with holdfast.open(tmp_path / "log.db") as other:
            t = other.session(s.id)._inner  # type: ignore[reportPrivateUsage]
            assert drive(Lease.begin(t, "summary", 5)) is None
            drive(held.end("done"))
            assert drive(Lease.begin(t, "summary", 5)) is not None


def test_the_async_door_prepares_ahead_too(tmp_path: Path) -> None:
    asked: list[Any] = []

    async def voice(question: Any) -> str:
        asked.append(question)
        await asyncio.sleep(0)
        return "The user counts things, and was answered each time."

    async def run() -> list[str]:
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            s = await hf.session(model=MODEL, policy=AHEAD, summariser=voice)
            for n in range(18):
                await s.user(f"count the things of kind {n} " + "please " * 60)
                await s.append(assistant(f"there are {n} things " + "of that kind " * 60))
            await s.user("go on")
            await s.window()
            assert await hf.wait_for_background(10)
            assert len(asked) == 1
            for n in range(8):
                await s.user(f"count {n} " + "please " * 60)
                await s.append(assistant("of that kind " * 60))
            await s.user("and now?")
            await s.window()
            return [e.body.model async for e in s.entries() if isinstance(e.body, Summary)]

    assert asyncio.run(run()) == [MODEL]


def test_closing_does_not_wait_for_a_summariser_that_hangs(tmp_path: Path) -> None:
    slow = Slow()
    hf = holdfast.open(tmp_path / "log.db")
    s = hf.session(model=MODEL, policy=AHEAD, summariser=slow)
    talk(s, 18)
    s.user("go on")
    s.window()
    assert slow.asked.wait(5)
    began = time.monotonic()
    hf.close()
    assert time.monotonic() - began < 10
    slow.free.set()
    with holdfast.open(tmp_path / "log.db") as again:
        assert again.session(s.id).window(system="x").over == 0


def notes(told: str) -> str:
    return "\n\n".join(
        f"# {title}\n_{about}_\n{told if title == 'Current state' else ''}".rstrip()
        for title, about in TEMPLATE
    )


@pytest.mark.seed("003", 12)
@pytest.mark.seed("004", 181, 195)
@pytest.mark.seed("004", 175, 177, 178, 179, 193)
def test_running_notes_are_kept_and_take_the_place_of_what_they_cover(tmp_path: Path) -> None:
    causes: list[str] = []

    def voice(question: Any) -> str:
        causes.append(question.cause)
        return notes(f"counting, {len(causes)} times noted")

    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL, policy=NOTED, summariser=voice)
        for n in range(34):
            talk(s, 1, n)
            s.user(f"go on {n}")
            assert s.window().over == 0
            s.append(assistant("fine"))
            assert hf.wait_for_background(10)
        kept = [e.body for e in s.entries() if isinstance(e.body, Notes)]
        assert len(kept) >= 2
        assert set(causes) == {"notes"}  # no summary had to be asked for
        made = summaries(s)
        assert {one.step for one in made} == {"notes"}
        assert "times noted" in made[-1].text
        reached = [one.covers[-1].last <= note.upto for one in made for note in kept[-1:]]
        assert all(reached)


def test_notes_that_change_a_heading_are_not_kept(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(
            model=MODEL, policy=NOTED, summariser=lambda q: notes("x").replace("Worklog", "Log")
        )
        talk(s, 8)
        s.user("go on")
        s.window()
        assert hf.wait_for_background(10)
        assert not any(isinstance(e.body, Notes) for e in s.entries())


@pytest.mark.seed("004", 199)
def test_the_breaker_stops_asking_after_failures_in_a_row(tmp_path: Path) -> None:
    asked: list[Any] = []

    def failing(question: Any) -> str:
        asked.append(question)
        raise ConnectionError("no route")

    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL, policy=AHEAD, summariser=failing)
        for n in range(12):
            talk(s, 8, n * 8)
            s.user("go on")
            assert s.window().over == 0
            hf.wait_for_background(10)
        assert len(asked) == 3
        assert all(not made.model for made in summaries(s))


@pytest.mark.seed("001", 69)
def test_what_a_hook_says(tmp_path: Path) -> None:
    heard: list[Any] = []

    def voice(question: Any) -> str:
        heard.append(question)
        return "The user counts things, and was answered each time."

    with holdfast.open(tmp_path / "log.db") as hf:
        vetoed = hf.session(model=MODEL, policy=AHEAD, summariser=voice, hooks=[lambda _: False])
        talk(vetoed, 10)
        assert not heard
        added = hf.session(model=MODEL, policy=AHEAD, summariser=voice, hooks=[lambda _: "teapots"])
        talk(added, 10)
        added.apply(added.plan())
        assert "teapots" in heard[-1].system

        def instead(plan: Any) -> None:
            plan.summary = "written by a plug-in"

        own = hf.session(model=MODEL, policy=AHEAD, summariser=voice, hooks=[instead])
        talk(own, 10)
        many = len(heard)
        own.apply(own.plan())
        assert summaries(own)[0].text == "written by a plug-in"
        assert len(heard) == many


@pytest.mark.seed("001", 96)
def test_the_model_is_warned_before_results_are_cleared(tmp_path: Path) -> None:
    from tests.policies import WARNED

    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL, policy=WARNED)
        for n in range(4):
            s.user(f"read {n}")
            s.append(assistant("reading", holdfast.ToolCall(f"c{n}", "read", '{"path":"a"}')))
            s.tool_result(f"c{n}", f"line {n}\n" * 250, name="read")
            s.append(assistant("read"))
        s.user("go on")
        first = s.window()
        assert any("soon be left out" in text(b.parts) for b in first.blocks)
        assert "cleared" not in str(first.request("openai-chat"))
        s.append(assistant("noted: line 1"))
        s.user("go on")
        second = s.window()
        assert "cleared: read a" in str(second.request("openai-chat"))


def text(parts: tuple[Any, ...]) -> str:
    return Message("user", tuple(p for p in parts if isinstance(p, Text))).text


REPLY: dict[str, Any] = {
    "id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
    "content": [{"type": "text", "text": "The user counts things, and was answered each time."}],
    "stop_reason": "end_turn", "usage": {"input_tokens": 1_000_000, "output_tokens": 1_000},
}  # fmt: skip


def test_what_is_done_beside_the_turns_is_paid_by_its_session(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL, policy=AHEAD, summariser=lambda _: REPLY)
        talk(s, 18)
        s.user("go on")
        s.window()
        assert hf.wait_for_background(10)
        assert s.cost > 1
        assert s.cost == hf.session(s.id).cost


@pytest.mark.parametrize("voice", [lambda _: REPLY, lambda _: 1 / 0], ids=["answers", "fails"])
def test_the_lease_on_a_summary_ends_with_it(tmp_path: Path, voice: Any) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL, summariser=voice)
        talk(s, 40)
        s.user("and now?")
        assert s.window().over == 0
        jobs = drive(hf.engine.store.jobs.jobs(s.id))
        assert [job.kind for job in jobs] == [f"summary {s.id}"]
        assert all(job.finished and job.outcome == "done" for job in jobs)
        assert not drive(is_held(s._inner, "summary"))  # type: ignore[reportPrivateUsage]
        assert drive(Lease.begin(s._inner, "summary", 5))  # type: ignore[reportPrivateUsage]
