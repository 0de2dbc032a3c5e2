"""Row 1: kill -9 at every failpoint. What was acknowledged is there, and a retry happens once."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.failpoints import POINTS, VARIABLE, arm, arm_from, disarm
from tests.faults.board import Tally, Trial, Verdict
from tests.faults.look import go_on, look
from tests.faults.processes import context
from tests.faults.stores import STORES
from tests.faults.workload import states, steps


def run(trial: Trial) -> Tally:
    """Every passing of every point of one workload; in the long form of eight."""
    tally = Tally()
    kills = [
        (seed, point, count)
        for seed in range(trial.seed, trial.seed + (8 if trial.long else 1))
        for point, passings in reached(trial.folder / "count", seed, trial.store).items()
        for count in range(1, passings + 1)
    ]
    for done, (seed, point, count) in enumerate(kills, 1):
        verdicts = kill(trial.folder / "kill", trial.store, seed, point, count)
        tally.count(f"seed {seed}, killed at {point}, passing {count}", *verdicts)
        trial.progress(done, len(kills))
        if trial.enough(tally):
            break
    return tally


def reached(folder: Path, seed: int, store: str = "holdfast") -> Counter[str]:
    """How often the workload passes each point."""
    passings: Counter[str] = Counter()
    for point in POINTS:
        arm(point, lambda point=point: passings.update([point]))
    try:
        folder.mkdir(parents=True)
        opened = STORES[store].open(folder / "store.db")
        for step in steps(seed):
            step.run(opened)
        opened.close()
    finally:
        disarm()
        shutil.rmtree(folder)
    return passings


def kill(folder: Path, store: str, seed: int, point: str, count: int) -> list[Verdict]:
    """One life and death of a process, and what it left."""
    folder.mkdir(parents=True)
    try:
        acknowledged, status = watch(folder / "store.db", store, seed, f"{point}=kill:{count}")
        if status != -signal.SIGKILL:
            return [Verdict(f"it should have been killed, and ended with {status}")]
        return aftermath(folder / "store.db", store, seed, acknowledged)
    finally:
        shutil.rmtree(folder)


def aftermath(path: Path, store: str, seed: int, acknowledged: int) -> list[Verdict]:
    """What a process left, and whether another can go on from there."""
    try:
        opened = STORES[store].open(path)
    except HoldfastError as error:
        return [Verdict(f"cannot be opened: {error}", corrupt=True)]
    try:
        return [
            look(opened, states(seed), acknowledged),
            go_on(opened, steps(seed), acknowledged, states(seed)[-1]),
        ]
    finally:
        opened.close()


def watch(path: Path, store: str, seed: int, wish: str) -> tuple[int, int | None]:
    """Let a process live; how many steps it acknowledged, and how it ended."""
    ours, theirs = context().Pipe(duplex=False)
    process = context().Process(target=live, args=(path, store, seed, wish, theirs))
    process.start()
    theirs.close()
    acknowledged = 0
    with ours:
        try:
            while ours.recv_bytes():
                acknowledged += 1
        except EOFError:
            process.join()
    return acknowledged, process.exitcode


def live(path: Path, store: str, seed: int, wish: str, pipe: Connection) -> None:
    """The life of a process: each step is acknowledged once it has returned."""
    arm_from({VARIABLE: wish})
    opened = STORES[store].open(path)
    for step in steps(seed):
        step.run(opened)
        pipe.send_bytes(b"done")
    opened.close()
