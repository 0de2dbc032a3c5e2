"""Looks at a store after a fault: is it sound, and does it hold what was acknowledged?"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import HoldfastError
from holdfast.stores.sqlite.store import SqliteStore
from tests.faults.board import GOOD, Verdict
from tests.faults.workload import State, Step, observe

FAILED = (HoldfastError, ArithmeticError, LookupError, TypeError, ValueError)
"""What reading a damaged store may raise."""


def look(store: SqliteStore, states: Sequence[State], acknowledged: int) -> Verdict:
    """The store must hold the state after `acknowledged` steps, or the one after the next step."""
    try:
        damage = damages(store)
        found = observe(store)
    except FAILED as error:
        return Verdict(f"cannot be read: {error}", corrupt=True)
    if damage:
        return Verdict(f"integrity check: {damage}", corrupt=True)
    return compare(found, states, acknowledged)


def damages(store: SqliteStore) -> str:
    """What SQLite's own checks find; empty when all is well."""
    found = [what for (what,) in store.db.rows("PRAGMA integrity_check") if what != "ok"]
    store.db.run("INSERT INTO search (search) VALUES ('integrity-check')")
    return "; ".join(found)


def compare(found: State, states: Sequence[State], acknowledged: int) -> Verdict:
    if found in states[acknowledged : acknowledged + 2]:
        return GOOD
    for earlier in reversed(range(acknowledged)):
        if found == states[earlier]:
            lost = acknowledged - earlier
            return Verdict(f"{lost} of {acknowledged} acknowledged steps are lost", lost=lost)
    return Verdict(
        f"no state after any step: {difference(found, states[acknowledged])}", corrupt=True
    )


def difference(found: State, wanted: State) -> str:
    """Where two states differ, in few words."""
    sessions = sorted(found.keys() ^ wanted.keys())
    if sessions:
        return f"sessions {', '.join(sessions)}"
    wrong = [id for id in found if found[id] != wanted[id]]
    lengths = [f"{id} has {len(found[id][1])} entries for {len(wanted[id][1])}" for id in wrong]
    return ", ".join(lengths) or "none"


def go_on(store: SqliteStore, steps: Sequence[Step], acknowledged: int, last: State) -> Verdict:
    """Retry what was not acknowledged and do the rest; it must end as if nothing had happened."""
    try:
        for number, step in enumerate(steps[acknowledged:]):
            step.run(store, again=number == 0)
        found = observe(store)
    except FAILED as error:
        return Verdict(f"cannot go on: {error}", corrupt=True)
    if found != last:
        return Verdict(f"a retry did not happen once: {difference(found, last)}", corrupt=True)
    return GOOD
