"""Row 5: the clock stands still, jumps back and leaps ahead. Order is `seq` all the same."""

from __future__ import annotations

from pathlib import Path
from random import Random

from holdfast.engine.client import drive
from holdfast.model.log import Draft, Pin, SessionInfo
from holdfast.model.message import user
from holdfast.model.span import EVERYTHING
from holdfast.ports import Store
from tests.faults.board import GOOD, Tally, Trial, Verdict
from tests.faults.stores import STORES
from tests.faults.workload import NOON

DAY = 86_400_000
LENGTH = 12


def run(trial: Trial) -> Tally:
    """Many short sessions, each on a bad clock of its own."""
    tally, random = Tally(), Random(trial.seed)
    trial.folder.mkdir(parents=True, exist_ok=True)
    path, many = trial.folder / "store.db", 2000 if trial.long else 50
    for number in range(many):
        trial_of(path, trial.store, number, bad_clock(random), tally)
        trial.progress(number + 1, many)
    return tally


def bad_clock(random: Random) -> list[int]:
    """Times as a broken clock tells them."""
    kind = random.choice(("still", "back", "wild"))
    if kind == "still":
        return [NOON] * LENGTH
    if kind == "back":
        return [NOON - tick for tick in range(LENGTH)]
    return [NOON + random.choice((-DAY, 0, DAY, -NOON)) for _ in range(LENGTH)]


def trial_of(path: Path, name: str, number: int, times: list[int], tally: Tally) -> None:
    """Append by a bad clock, with ids that go down, and read it back from a store opened anew."""
    session, wanted = f"s{number}", [f"s{number}-{LENGTH - n:02}" for n in range(LENGTH)]
    store = STORES[name].open(path)
    drive(store.sessions.create(SessionInfo(id=session, created=times[0])))
    for n, (id, time) in enumerate(zip(wanted, times, strict=True)):
        body = Pin(fact=id) if n % 3 == 2 else user(id)
        drive(store.log.append(session, [Draft(id=id, body=body, created=time)]))
    store.close()
    store = STORES[name].open(path)
    tally.count(f"times {times}", in_order(store, session, wanted))
    store.close()


def in_order(store: Store, session: str, wanted: list[str]) -> Verdict:
    """Whether every way to read a session gives its entries in the order they were appended."""
    log = store.log
    ways = {
        "read": [e.id for e in drive(log.read(session, EVERYTHING))],
        "heads": [h.id for h in drive(log.heads(session, EVERYTHING))],
    }
    for way, found in ways.items():
        if found != wanted:
            return Verdict(f"{way} gives another order", corrupt=True)
    markers = [e.id for e in drive(log.markers(session, before=LENGTH + 1))]
    if markers != wanted[2::3]:
        return Verdict("markers gives another order", corrupt=True)
    return GOOD
