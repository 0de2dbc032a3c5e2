"""What it takes to plan a compaction: CPU time beyond counting, over the window and over the log.

A session is made that is 1 to 64 times as long as its window, nothing of it covered yet. What is
measured is looking at it and deciding: which stretch leaves, what stays word for word, and whether
it pays. Writing the summary is not part of it, nor is counting, which has tables of its own.
"""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
from msgspec.structs import replace

from bench.preparing import MODEL, SYSTEM, TOOLS, body, steps
from bench.progress import Stage, silent
from bench.table import Table, Target, count, duration, targets
from holdfast.engine.bridge import ThreadLock, drive
from holdfast.engine.compaction.ladder import Ladder
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.engine.window.token_count import TokenCount
from holdfast.model.message import user
from holdfast.model.profile import Profile
from holdfast.providers.catalogue import BuiltIn
from holdfast.stores.sqlite.store import SqliteStore

WINDOWS = (32_000, 128_000, 1_000_000)
TIMES = (1, 4, 16, 64)
MOST = 20_000_000
"""No log is longer than this, in tokens."""
ROUNDS = 7
MESSAGE = 760
"""About what a message of the benchmark's conversation takes, in tokens."""
LIMIT = 0.1
"""Seconds that planning may take for a window of a million tokens."""
FLAT = 1.5


class Planned(msgspec.Struct):
    """One window and one length of the log."""

    window: int
    times: int
    messages: int
    looked: float
    """Seconds of CPU until it is known what there is to plan for: reading, assembling."""
    decided: float
    """Seconds of CPU for the plan itself."""
    quiet: float
    """Seconds of CPU for the same where nothing is due, once all is read."""

    @property
    def planning(self) -> float:
        return self.looked + self.decided


class Result(msgspec.Struct):
    """Everything that was measured."""

    date: str
    planned: list[Planned]

    def of(self, window: int, times: int) -> Planned | None:
        return next((p for p in self.planned if (p.window, p.times) == (window, times)), None)


class OneWindow:
    """A catalogue of one model, as large as it is told."""

    def __init__(self, window: int) -> None:
        self._known, self._window = BuiltIn(), window

    def profile(self, model: str) -> Profile:
        return Profile(name=model, window=self._window, output_limit=8_000)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._known, name)


def measure(
    stage: Stage = silent,
    windows: tuple[int, ...] = WINDOWS,
    lengths: tuple[int, ...] = TIMES,
    rounds: int = ROUNDS,
) -> Result:
    """Every window with every length of the log."""
    wanted = [(w, n) for w in windows for n in lengths if w * n <= MOST]
    tick = stage("planning", len(wanted))
    found: list[Planned] = []
    for window, times in wanted:
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            found.append(_measured(Path(folder), window, times, rounds))
        tick()
    return Result(datetime.now(UTC).date().isoformat(), found)


def _measured(folder: Path, window: int, times: int, rounds: int) -> Planned:
    clock: Any = SystemClock()
    store: Any = SqliteStore.open(folder / "log.db")
    catalogue: Any = OneWindow(window)
    engine = Engine(store, clock=clock, ids=Ulids(clock), lock=ThreadLock, catalogue=catalogue)
    session = drive(engine.session(model=MODEL))
    messages = window * times // MESSAGE
    said = [body(step) for step in steps(messages)]
    for start in range(0, messages, 1_000):
        drive(session.append_all(said[start : start + 1_000]))
    drive(session.append(user("Where were we?")))
    taken = [drive(_planned(engine, session.id)) for _ in range(rounds + 1)][1:]
    engine.close()
    looked, decided, quiet = (median(one) for one in zip(*taken, strict=True))
    return Planned(window, times, messages, looked, decided, quiet)


async def _planned(engine: Engine, id: str) -> tuple[float, float, float]:
    """One compaction planned by whoever has just opened the session; counting left out."""
    from holdfast.core.compaction.ladder import first_telling, next_plan

    session = await engine.session(id)
    turn = (await session.turns.turn(system=SYSTEM, tools=TOOLS)).preview()
    view = await session.view()
    climb = Ladder(turn, await TokenCount(turn).begin())
    began = time.process_time()
    now = await climb.situation(view)
    looked = time.process_time()
    made = next_plan(now) or first_telling(replace(now, forced=True, trigger="manual"))
    decided = time.process_time()
    assert made is not None, "there is nothing to plan"
    calm = replace(now, beyond=(), count=replace(now.count, tokens=1), forced=False)
    before = time.process_time()
    next_plan(calm)
    return looked - began, decided - looked, time.process_time() - before


def table(result: Result) -> Table:
    """Planning at every window and length."""
    lengths = sorted({p.times for p in result.planned})
    heading = ("window", *(f"log {n}×" for n in lengths), "of which deciding", "nothing due")
    rows: list[tuple[str, ...]] = []
    for window in sorted({p.window for p in result.planned}):
        row = [result.of(window, times) for times in lengths]
        last = [planned for planned in row if planned][-1]
        cells = (duration(planned.planning) if planned else "–" for planned in row)
        rows.append((count(window), *cells, duration(last.decided), duration(last.quiet)))
    return Table(heading, rows)


def kept(result: Result) -> list[Target]:
    """What must hold."""
    found: list[Target] = []
    for window in sorted({p.window for p in result.planned}):
        here = [p for p in result.planned if p.window == window]
        last = here[-1]
        name = f"window of {count(window)}"
        if window == max(WINDOWS):
            worst = max(p.planning for p in here)
            found.append(Target(f"planning, {name}", worst * 1_000, LIMIT * 1_000, " ms"))
        if len(here) > 2:
            grown = last.planning / here[-2].planning
            what = f"{name}: log {last.times}× against {here[-2].times}×"
            found.append(Target(what, grown, FLAT))
    return found


def show(result: Result) -> None:
    """On the terminal."""
    table(result).show("Planning a compaction, CPU time")
    targets(kept(result)).show("Targets")


def section(result: Result) -> str:
    """The section of the page."""
    return f"""
## Planning a compaction

CPU time to plan a compaction of a session that was just opened, beyond counting and without writing
the summary: reading what the plan looks at, and deciding what leaves. The log is up to 64 times as
long as the window, nothing of it covered yet; what is older than two windows is not read, so that
the cost grows with the window and not with the log. (A page of 512 messages is read at once, which
is more than a window of 32k holds.) `nothing due` is deciding so, at the longest log, for a window
that is read already.

{table(result).markdown()}

{targets(kept(result)).markdown()}

Measured on {result.date}: `python -m bench ladder`.
"""
