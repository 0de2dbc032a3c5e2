"""Row 7: four processes append to a session while a slow compaction runs. Nothing is lost, and
nothing that came meanwhile is covered."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from holdfast.engine.bridge import drive
from holdfast.engine.client import Session
from holdfast.errors import Conflict, HoldfastError, OverBudget
from holdfast.model.log import Entry, SessionInfo, Summary
from holdfast.model.message import Message, assistant, user
from tests.faults.board import GOOD, Tally, Trial, Verdict
from tests.faults.compactions import MODEL, TALK, WINDOW
from tests.faults.processes import context
from tests.faults.stores import STORES
from tests.faults.workload import NOON
from tests.properties.ladders import engine

PROCESSES = 4
POLICY = "opencode"
SLOW = 0.25
"""How long a summary takes, in seconds."""
PAUSE = 0.01
TRIES = 200


def run(trial: Trial) -> Tally:
    """Let the processes append, compact meanwhile, then compare what was told and what is there."""
    trial.folder.mkdir(parents=True, exist_ok=True)
    path, each = trial.folder / "store.db", 300 if trial.long else 60
    store = STORES[trial.store].open(path)
    drive(store.sessions.create(SessionInfo(id=TALK, created=NOON, model=MODEL, policy=POLICY)))
    pipes = [_start(path, trial.store, number, each) for number in range(PROCESSES)]
    with engine(WINDOW, store) as hf:
        compacting = Compacting(store)
        compacting.run(hf.session, pipes)
        log = list(compacting.s.entries())
    reports = [pipe.recv() for pipe in pipes]
    trial.progress(PROCESSES, PROCESSES)
    return compare(trial.store, log, reports, compacting)


def _start(path: Path, store: str, number: int, each: int) -> Connection:
    ours, theirs = context().Pipe(duplex=False)
    context().Process(target=live, args=(path, store, number, each, theirs), daemon=True).start()
    theirs.close()
    return ours


def live(path: Path, store: str, number: int, each: int, pipe: Connection) -> None:
    """One of the processes: it goes on with the session, whoever else does."""
    told: list[tuple[int, str]] = []
    failures: list[str] = []
    with engine(WINDOW, STORES[store].open(path)) as hf:
        s = hf.session(TALK, on_conflict="raise")
        for turn in range(each):
            text = f"{number}: {turn} " + "said meanwhile, at some length " * 20
            try:
                told.append((_insist(s, user(text)).seq, text))
            except HoldfastError as error:
                failures.append(f"{number}: {turn}: {error}")
            time.sleep(PAUSE)
    pipe.send((told, failures))


def _insist(s: Session, message: Message) -> Entry:
    for _ in range(TRIES):
        try:
            return s.append(message)
        except Conflict:
            s.refresh()
    raise Conflict(s.id, 0, 0)


class Compacting:
    """Whoever makes windows all the while, and remembers where each plan was made."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.heads: list[int] = []
        """The newest entry at the moment of each plan."""
        self.grown = 0
        """How many entries came while a summary was being written."""

    def run(self, open_session: Any, pipes: list[Connection]) -> None:
        self.s: Session = open_session(
            TALK, summariser=self.summarise, hooks=(self.hook,), on_conflict="raise"
        )
        while not all(pipe.poll() for pipe in pipes):
            _insist(self.s, user("go on"))
            self._turn()
        self._turn()

    def _turn(self) -> None:
        """One turn: what has been answered may leave the next window."""
        with suppress(OverBudget):  # more came since the last reply than a window holds
            self.s.window()
        _insist(self.s, assistant("Going on."))

    def hook(self, plan: Any) -> None:
        self.heads.append(self._head())

    def _head(self) -> int:
        return drive(self._store.sessions.session(TALK)).head

    def summarise(self, question: Any) -> str:
        before = self._head()
        time.sleep(SLOW)
        self.grown += self._head() - before
        return f"It is about what is said meanwhile. Plan {len(self.heads)}."


def compare(
    store: str, log: list[Entry], reports: list[tuple[Any, Any]], compacting: Compacting
) -> Tally:
    """Each acknowledged append, and each compaction, is one that was tried."""
    tally = Tally()
    there = {(e.seq, e.body.text) for e in log if isinstance(e.body, Message)}
    for one in (one for told, _ in reports for one in told):
        gone = Verdict(f"entry {one[0]} was acknowledged and is not there", lost=1)
        tally.count(store, GOOD if one in there else gone)
    for failure in (failure for _, failures in reports for failure in failures):
        tally.count(store, Verdict(failure))
    for entry in log:
        if isinstance(entry.body, Summary) and entry.body.model:
            tally.count(f"the summary {entry.seq}", _covers(entry.body, compacting.heads))
    if not compacting.grown or not any(isinstance(e.body, Summary) for e in log):
        tally.count("all", Verdict("nothing was said while a summary was written"))
    return tally


def _covers(body: Summary, heads: list[int]) -> Verdict:
    """Whether a summary covers only what was there when it was planned."""
    found = re.search(r"Plan (\d+)", body.text)
    head = heads[int(found[1]) - 1] if found else 0
    last = body.covers[-1].last
    if last <= head:
        return GOOD
    return Verdict(f"it covers entry {last}, and the last was {head} when it was planned", lost=1)
