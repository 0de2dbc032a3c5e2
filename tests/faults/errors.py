"""Row 3: the Nth I/O call fails, at every N. Nothing is lost, silent or stuck."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from holdfast.stores.sqlite.store import SqliteStore
from tests.faults.board import GOOD, Tally, Trial, Verdict
from tests.faults.failing import Fault, Kind, failing
from tests.faults.look import look
from tests.faults.player import Player
from tests.faults.processes import scattered
from tests.faults.workload import states, steps


def run(trial: Trial) -> Tally:
    """Every placement of two workloads in the long form; one in thirteen of one in the short."""
    tally = Tally()
    placements = list(_placements(trial))[:: 1 if trial.long else 13]
    if trial.long:
        for done, part in enumerate(scattered(_place_all, _batches(trial, placements)), 1):
            tally.add(part)
            trial.progress(min(done * _BATCH, len(placements)), len(placements))
        return tally
    for seed, fault in placements:
        tally.count(*place(trial.folder, trial.store, seed, fault))
        if trial.enough(tally):
            break
    return tally


Placement = tuple[int, Fault]
"""The seed of a workload, and where it meets a fault."""


def _placements(trial: Trial) -> Iterator[Placement]:
    kinds: tuple[Kind, ...] = ("EIO", "ENOSPC")
    for seed, kind in product(range(trial.seed, trial.seed + 1 + trial.long), kinds):
        clean = Fault(kind)
        place(trial.folder, "holdfast", seed, clean)
        for at in range(1, clean.calls + 1):
            yield seed, Fault(kind, at)
            yield seed, Fault(kind, at, lasting=True)


_BATCH = 50


def _batches(trial: Trial, placements: list[Placement]) -> list[tuple[Any, ...]]:
    starts = range(0, len(placements), _BATCH)
    return [
        (trial.folder / str(start), trial.store, placements[start : start + _BATCH])
        for start in starts
    ]


def _place_all(folder: Path, store: str, placements: list[Placement]) -> Tally:
    tally = Tally()
    for seed, fault in placements:
        tally.count(*place(folder, store, seed, fault))
    return tally


def place(folder: Path, store: str, seed: int, fault: Fault) -> tuple[str, Verdict, Verdict]:
    """Play a workload on this disk; what was told meanwhile, and what is there at last."""
    folder.mkdir(parents=True)
    what = f"seed {seed}, {fault.kind} at I/O {fault.at}{' and after' if fault.lasting else ''}"
    with failing(fault) as vfs:
        told = Player(folder / "store.db", store, vfs, fault).play(seed)
    there = GOOD
    if told.good:
        calm = SqliteStore.open(folder / "store.db")
        there = look(calm, states(seed), len(steps(seed)))
        calm.close()
    shutil.rmtree(folder)
    return f"{what} ({', '.join(fault.struck[:3])})", told, there
