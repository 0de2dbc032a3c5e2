"""What the facts of a session cost: gathering them, entry by entry, and the first window after.

One session of short entries grows to a million. At each length it is measured how long gathering
the facts of the newest entries took, how large what is frozen is, and what the first window takes
of whoever opens the session then: it is far too long for its model, so that it is compacted first.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from bench.progress import Stage, silent
from bench.table import Table, Target, count, duration, targets
from holdfast.core.ledger.bounds import ANSWERED, INTERRUPTED, OPEN
from holdfast.core.ledger.render import folded
from holdfast.core.tokens.count import weigh_body
from holdfast.engine.bridge import ThreadLock, drive
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.engine.inspect.ledger import VERSION, State, inflated
from holdfast.engine.writer import STRETCH
from holdfast.model import wire
from holdfast.model.log import Body, Draft
from holdfast.model.message import Message, ToolCall, ToolResult, assistant, tool, user
from holdfast.providers.catalogue import BuiltIn
from holdfast.stores.sqlite.store import SqliteStore

SIZES = (1_000, 10_000, 25_000, 100_000, 1_000_000)
BASE = 25_000
MODEL = "claude-sonnet-4-5"
BATCH = 2_000
REQUESTS = (OPEN, INTERRUPTED, ANSWERED)
FROZEN = 1_000_000
"""What is frozen of a ledger takes fewer bytes."""


class Measured(msgspec.Struct):
    """One length of the session."""

    entries: int
    gathered: float
    """Seconds of CPU for each entry since the length before."""
    window: float
    """Seconds of CPU for the first window, its compaction included."""
    requests: int
    ledger: int
    """Bytes of the ledger that is frozen."""
    snapshot: int
    """Bytes of the newest snapshot, compressed."""
    snapshots: int


class Result(msgspec.Struct):
    """Everything that was measured."""

    date: str
    measured: list[Measured]

    def of(self, entries: int) -> Measured | None:
        return next((one for one in self.measured if one.entries == entries), None)


def measure(
    stage: Stage = silent, sizes: tuple[int, ...] = SIZES, scratch: Path | None = None
) -> Result:
    """Let one session grow through these lengths."""
    tick = stage("gathering facts", max(sizes) // BATCH + len(sizes))
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-", dir=scratch) as folder:
        growing = _Growing(Path(folder))
        found: list[Measured] = []
        for size in sorted(sizes):
            while growing.head < size:
                growing.append(min(BATCH, size - growing.head))
                tick()
            found.append(growing.measured())
            tick()
        growing.close()
    return Result(datetime.now(UTC).date().isoformat(), found)


class _Growing:
    """A session that grows, and its facts with it."""

    def __init__(self, folder: Path) -> None:
        self._clock: Any = SystemClock()
        self._ids = Ulids(self._clock)
        self._store: Any = SqliteStore.open(folder / "log.db")
        self._session = drive(self._engine().session())
        self._said = _bodies()
        self.head, self._gathered, self._spent, self._since = 0, 0, 0.0, 0

    def _engine(self) -> Engine:
        """As a new process has it: nothing is known but what the store holds."""
        catalogue: Any = BuiltIn()
        return Engine(
            self._store, clock=self._clock, ids=self._ids, lock=ThreadLock, catalogue=catalogue
        )

    def append(self, many: int) -> None:
        """Append so many entries, and gather their facts as the writer of a session does."""
        drafts = [self._draft(body) for body in islice(self._said, many)]
        drive(self._store.log.append(self._session.id, drafts))
        self.head += many
        while self.head - self._gathered >= STRETCH:
            began = time.process_time()
            self._gathered += STRETCH
            drive(self._session.ledgers.catch_up(self._session.id, self._gathered, STRETCH))
            self._spent += time.process_time() - began

    def _draft(self, body: Body) -> Draft:
        now = self._clock.now()
        return Draft(
            id=self._ids.new(now), body=body, created=now, completed=now, counts=weigh_body(body)
        )

    def measured(self) -> Measured:
        """What it is like now; a fork is compacted, so that the session itself stays as it is."""
        forked = drive(_forked(self._engine(), self._session.id))
        began = time.process_time()
        drive(_window(self._engine(), forked))
        window = time.process_time() - began
        known = drive(self._session.ledgers.at(self._session.id, self.head))
        kept = drive(self._store.snapshots.newest(self._session.id, self.head, VERSION))
        many = len(drive(self._store.snapshots.places(self._session.id)))
        state = wire.decode(inflated(kept[1]), State) if kept else State()
        entries = self._gathered - self._since
        spent = self._spent / entries if entries else 0.0
        if entries:
            self._spent, self._since = 0.0, self._gathered
        return Measured(
            entries=self.head,
            gathered=spent,
            window=window,
            requests=len(known.requests) + sum(folded(known, title) for title in REQUESTS),
            ledger=len(wire.encode(state.ledger if kept else known)),
            snapshot=len(kept[1]) if kept else 0,
            snapshots=many,
        )

    def close(self) -> None:
        self._store.close()


async def _forked(engine: Engine, id: str) -> str:
    session = await engine.session(id)
    return (await session.fork()).id


async def _window(engine: Engine, id: str) -> None:
    """The first window of a session that was just opened."""
    session = await engine.session(id)
    await session.append(user("Where were we, and what is still to be done?"))
    made = await session.window(model=MODEL)
    assert not made.window.over


def _bodies() -> Iterator[Body]:
    """Requests, commands, files that are edited, and answers, without end."""
    number = 0
    while True:
        number += 1
        path = f"src/part_{number % 977}/module_{number % 89}.py"
        yield user(f"Please fix item {number} in {path}.")
        yield assistant(ToolCall(f"c{number}", "Bash", json.dumps({"command": f"make t{number}"})))
        yield _result(f"c{number}", "Bash", "Exit code 1\nno" if number % 9 == 0 else "ok")
        edit = {"file_path": path, "old_string": "a", "new_string": "b"}
        yield assistant(ToolCall(f"e{number}", "Edit", json.dumps(edit)))
        yield _result(f"e{number}", "Edit", f"The file {path} has been updated.")
        yield assistant(f"Item {number} is done: `handle_{number % 50}` works.")


def _result(call: str, name: str, output: str) -> Message:
    return tool(ToolResult(call, output, output.startswith("Exit"), name))


def table(result: Result) -> Table:
    """Every length."""
    heading = (
        "entries", "requests", "gathering, each entry", "first window, compacted", "ledger frozen",
        "snapshots",
    )  # fmt: skip
    rows = [
        (
            count(one.entries),
            f"{one.requests:,}",
            duration(one.gathered) if one.gathered else "–",
            duration(one.window),
            f"{one.ledger / 1_000:,.0f} kB",
            f"{one.snapshots} of about {one.snapshot / 1_000:,.0f} kB" if one.snapshots else "–",
        )
        for one in result.measured
    ]
    return Table(heading, rows)


def kept(result: Result) -> list[Target]:
    """What must hold."""
    found: list[Target] = []
    gathered = [one for one in result.measured if one.gathered]
    first, last, base = gathered[0], result.measured[-1], result.of(BASE)
    if last is not first:
        what = f"gathering at {count(last.entries)} against {count(first.entries)}"
        found.append(Target(what, last.gathered / first.gathered, 1.5))
    if base and base is not last:
        what = f"first window at {count(last.entries)} against {count(BASE)}"
        found.append(Target(what, last.window / base.window, 2))
    largest = max(one.ledger for one in result.measured)
    found.append(Target("largest frozen ledger", largest / 1_000, FROZEN / 1_000, " kB"))
    return found


def show(result: Result) -> None:
    """On the terminal."""
    table(result).show("The facts of a long session, CPU time")
    targets(kept(result)).show("Targets")


def section(result: Result) -> str:
    """The section of the page."""
    return f"""
## The facts of a long session

A session of short entries (a request, a command, an edit, an answer) grows to a million. What code
knows of it (requests, files, commands, and what a summary without a model is made from) is gathered
stretch by stretch and frozen in the store. `gathering` is the CPU time for each entry between one
length and the next; a session that is appended to pays it once every 8,192 entries. `first window`
is the CPU time of whoever opens the session then and asks for a window, which is compacted first,
since none of it fits. A frozen ledger is bounded: old answered requests are counted, no longer
listed.

{table(result).markdown()}

{targets(kept(result)).markdown()}

Measured on {result.date}: `python -m bench ledger`.
"""
