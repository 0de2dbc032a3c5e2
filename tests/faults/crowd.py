"""Row 4: four processes append to one store. Nothing is lost, and nobody is locked out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

from holdfast.engine.client import drive
from holdfast.errors import Conflict, StoreError
from holdfast.failpoints import arm
from holdfast.model.log import Draft, Entry, SessionInfo
from holdfast.model.message import user
from holdfast.model.span import EVERYTHING
from holdfast.model.store import Expect
from holdfast.ports import Store
from tests.faults.board import GOOD, Tally, Trial, Verdict
from tests.faults.processes import context
from tests.faults.stores import STORES
from tests.faults.workload import NOON

PROCESSES = 4
SHARED, AGREED = "shared", "agreed"
"""A session that all append to as they please, and one where each says what it has seen."""

Report = tuple[list[tuple[str, int, str]], int, list[str]]
"""What was acknowledged (session, seq, text), how many conflicts there were, and what failed."""


def run(trial: Trial) -> Tally:
    """Let the processes go all at once, then compare what they were told with what is there."""
    trial.folder.mkdir(parents=True, exist_ok=True)
    path, each = trial.folder / "store.db", 400 if trial.long else 25
    store = STORES[trial.store].open(path)
    for id in (SHARED, AGREED, *(own(number) for number in range(PROCESSES))):
        drive(store.sessions.create(SessionInfo(id=id, created=NOON)))
    store.close()
    reports = list(_reports(trial, path, each))
    return compare(trial, path, reports)


def own(number: int) -> str:
    return f"own-{number}"


def _reports(trial: Trial, path: Path, each: int) -> Iterator[Report]:
    barrier = context().Barrier(PROCESSES)
    pipes, processes = [], []
    for number in range(PROCESSES):
        ours, theirs = context().Pipe(duplex=False)
        values = (path, trial.store, number, each, barrier, theirs)
        process = context().Process(target=live, args=values)
        process.start()
        theirs.close()
        pipes.append(ours)
        processes.append(process)
    for done, (pipe, process) in enumerate(zip(pipes, processes, strict=True), 1):
        with pipe:
            yield pipe.recv()
        process.join()
        trial.progress(done, PROCESSES)


def live(path: Path, name: str, number: int, each: int, barrier: Barrier, pipe: Connection) -> None:
    """One of the processes: it appends to its own session, to the shared and to the agreed one."""
    # Time between reading and writing, so that whoever does not hold the lock by then is found out.
    arm("append.before_insert", lambda: time.sleep(0.0005))
    store = STORES[name].open(path)
    barrier.wait(60)
    writer = _Writer(store, number)
    for turn in range(each):
        writer.append(own(number), f"own {turn}")
        writer.append(SHARED, f"shared {turn}")
        writer.agree(f"agreed {turn}")
    store.close()
    pipe.send((writer.told, writer.conflicts, writer.failures))


class _Writer:
    """Appends, and remembers what it was told."""

    def __init__(self, store: Store, number: int) -> None:
        self._store, self._number, self._seen = store, number, 0
        self.told: list[tuple[str, int, str]] = []
        self.conflicts = 0
        self.failures: list[str] = []

    def append(self, session: str, text: str, expect: Expect | None = None) -> None:
        said = f"{self._number}: {text}"
        draft = Draft(id=said, body=user(said), created=NOON)
        try:
            (made,) = drive(self._store.log.append(session, [draft], key=said, expect=expect))
        except Conflict:
            raise
        except StoreError as error:
            self.failures.append(f"{said}: {error}")
        else:
            self.told.append((session, made.seq, said))
            if expect and made.seq != self._seen + 1:
                self.failures.append(f"{said}: expected to follow {self._seen}, is at {made.seq}")
            self._seen = made.seq if session == AGREED else self._seen

    def agree(self, text: str) -> None:
        """Append only after what was seen last; look again after a conflict."""
        while True:
            try:
                return self.append(AGREED, text, Expect(message=self._seen))
            except Conflict as conflict:
                self.conflicts += 1
                self._seen = conflict.found


def compare(trial: Trial, path: Path, reports: list[Report]) -> Tally:
    """Each acknowledged append is one that was tried, and so is each that failed."""
    tally = Tally()
    store = STORES["holdfast"].open(path)
    sessions = (SHARED, AGREED, *(own(number) for number in range(PROCESSES)))
    found = {id: drive(store.log.read(id, EVERYTHING, limit=100_000)) for id in sessions}
    store.close()
    there = {(id, e.seq, _text(e)) for id, entries in found.items() for e in entries}
    told = [one for report in reports for one in report[0]]
    for one in told:
        gone = Verdict(f"{one} was acknowledged and is not there", lost=1)
        tally.count(trial.store, GOOD if one in there else gone)
    for failure in (failure for report in reports for failure in report[2]):
        tally.count(trial.store, Verdict(failure, silent="expected" in failure))
    for id, entries in found.items():
        if [e.seq for e in entries] != list(range(1, len(entries) + 1)):
            tally.count(id, Verdict("its order has holes", corrupt=True))
    if len(told) != len(there):
        tally.count("all", Verdict(f"{len(there)} are there, {len(told)} told", corrupt=True))
    if sum(report[1] for report in reports) < PROCESSES - 1:  # all begin by expecting nothing
        tally.count("agreed", Verdict("conflicts were not told", silent=True))
    return tally


def _text(entry: Entry) -> str:
    return entry.id
