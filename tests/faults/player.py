"""Someone who uses a store on a failing disk: retries what fails, and reopens at last."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.stores.sqlite.store import SqliteStore
from tests.faults.board import GOOD, Verdict
from tests.faults.failing import Fault
from tests.faults.stores import STORES
from tests.faults.workload import Append, Say, Step, steps

LASTING = 3
"""How many calls of ours a lasting fault makes fail before the disk is well again."""

TRIES = LASTING + 3


class Player:
    """Plays a workload through, whatever the disk does."""

    def __init__(self, path: Path, store: str, vfs: str, fault: Fault) -> None:
        self._path, self._made, self._vfs, self._fault = path, STORES[store], vfs, fault
        self._store: SqliteStore | None = None
        self._failures = 0

    def play(self, seed: int) -> Verdict:
        """Do every step, each until it is acknowledged; what was told wrongly meanwhile."""
        for step in steps(seed):
            verdict = self._insist(step)
            if not verdict.good:
                break
        else:
            verdict = GOOD
        self._fault.at = 0
        self._close()
        return verdict

    def _insist(self, step: Step) -> Verdict:
        last = ""
        for attempt in range(TRIES):
            before = len(self._fault.struck)
            try:
                self._attempt(step, again=attempt > 0)
            except HoldfastError as error:
                self._recover(attempt)
                last = str(error)
            except Exception as error:
                return Verdict(f"{type(error).__name__}, which is not ours: {error}", silent=True)
            else:
                return self._believe(step, self._fault.struck[before:])
        return Verdict(f"stuck after the fault has passed: {last}")

    def _attempt(self, step: Step, *, again: bool) -> None:
        if self._store is None:
            self._store = self._made.open(self._path, vfs=self._vfs)
        step.run(self._store, again=again)

    def _recover(self, attempt: int) -> None:
        """The disk gets well in time; the handle is kept as long as it works."""
        self._failures += 1
        if self._failures >= (LASTING if self._fault.lasting else 1):
            self._fault.at = 0
        if attempt > LASTING:
            self._close()

    def _believe(self, step: Step, struck: list[str]) -> Verdict:
        """Success must not be told of an append whose writing or syncing failed."""
        failed = [what for what in struck if what.endswith("-wal") and what[:4] in ("writ", "sync")]
        if failed and isinstance(step, Append | Say):
            return Verdict(f"success was told although {failed[0]} failed", silent=True)
        return GOOD

    def _close(self) -> None:
        if self._store is not None:
            with suppress(HoldfastError):
                self._store.close()
            self._store = None
