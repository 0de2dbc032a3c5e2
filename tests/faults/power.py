"""Row 2: the power goes, at every I/O of a workload. Each disk it could leave is opened."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import count
from pathlib import Path
from random import Random

from holdfast.errors import HoldfastError
from holdfast.stores.sqlite.store import SqliteStore
from tests.faults.board import Tally, Trial, Verdict
from tests.faults.disk import Mode, Op, Platter, Tape, taping
from tests.faults.look import look
from tests.faults.processes import scattered
from tests.faults.stores import STORES
from tests.faults.workload import states, steps

MODES: tuple[Mode, ...] = ("none", "all", "some", "torn")
ENOUGH = 100_000
"""How many different disks the long form judges at least."""


def run(trial: Trial) -> Tally:
    """The short form cuts one workload; the long form as many as it takes."""
    tally = Tally()
    if not trial.long:
        return cut(trial.folder, trial.store, trial.seed, each=1, enough=trial.enough)
    seeds = (range(first, first + 8) for first in count(trial.seed, 8))
    while tally.tried < ENOUGH:
        batch = [(trial.folder / str(s), trial.store, s, 3) for s in next(seeds)]
        for part in scattered(cut, batch):
            tally.add(part)
            trial.progress(min(tally.tried, ENOUGH), ENOUGH)
    return tally


def cut(
    folder: Path,
    store: str,
    seed: int,
    each: int,
    enough: Callable[[Tally], bool] = lambda tally: False,
) -> Tally:
    """Judge the disks of one workload, `each` being how many random and torn ones at a point."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "store.db"
    tape = record(path, store, seed)
    tally, random = Tally(), Random(seed)
    for where, acknowledged, files in disks(tape, path, random, each):
        tally.count(f"seed {seed}, {where}", judge(path, files, seed, acknowledged))
        if enough(tally):
            break
    shutil.rmtree(folder)
    return tally


def record(path: Path, store: str, seed: int) -> Tape:
    """Play a workload with the tape running."""
    tape: Tape = []
    with taping(tape) as vfs:
        opened = STORES[store].open(path, vfs=vfs)
        for number, step in enumerate(steps(seed)):
            if number == len(steps(seed)) // 2:
                opened.close()
                opened = STORES[store].open(path, vfs=vfs)
            step.run(opened)
            tape.append(Op("acknowledge"))
        opened.close()
    return tape


def disks(
    tape: Tape, path: Path, random: Random, each: int
) -> Iterator[tuple[str, int, dict[str, bytes]]]:
    """Every different disk a cut could leave, with the steps acknowledged by then."""
    platter, acknowledged, seen = Platter(str(path)), 0, set[bytes]()
    for number, op in enumerate(tape):
        platter.play(op)
        acknowledged += op.kind == "acknowledge"
        for mode in MODES:
            for _ in range(each if mode in ("some", "torn") else 1):
                files = platter.left(mode, random)
                mark = _digest(files, acknowledged)
                if mark not in seen:
                    seen.add(mark)
                    yield f"cut after I/O {number} ({mode})", acknowledged, files


def _digest(files: dict[str, bytes], acknowledged: int) -> bytes:
    hasher = blake2b(b"%d" % acknowledged, digest_size=16)
    for name in sorted(files):
        hasher.update(b"%s %d:" % (name.encode(), len(files[name])))
        hasher.update(files[name])
    return hasher.digest()


def judge(path: Path, files: dict[str, bytes], seed: int, acknowledged: int) -> Verdict:
    """Lay out a disk and open it as anybody would."""
    for old in path.parent.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    for name, content in files.items():
        Path(name).write_bytes(content)
    path.touch(0o600)
    path.chmod(0o600)
    try:
        store = SqliteStore.open(path)
    except HoldfastError as error:
        return Verdict(f"cannot be opened: {error}", corrupt=True)
    try:
        return look(store, states(seed), acknowledged)
    finally:
        store.close()
