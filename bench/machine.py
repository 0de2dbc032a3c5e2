"""What numbers were measured on: cores, memory, the disk's sync, versions; no names, no paths."""

from __future__ import annotations

import os
import platform
import statistics
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec


class Machine(msgspec.Struct):
    """The facts that explain a number."""

    cores: int
    memory: float
    """In GiB."""
    sync: tuple[float, float]
    """Median and ninetieth percentile of appending 4 kB and syncing, in seconds."""
    load: tuple[float, float]
    """The load average of one minute, before and after."""
    real_time: bool
    """Whether the process is scheduled before all others, so that it never waits for a core."""
    python: str
    sqlite: str
    versions: dict[str, str]


def machine(packages: tuple[str, ...], folder: Path) -> Machine:
    """This machine as it is now."""
    import apsw

    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Machine(
        cores=os.cpu_count() or 0,
        memory=round(pages / 2**30, 1),
        sync=sync_time(folder),
        load=(load(), 0.0),
        real_time=os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR),
        python=platform.python_version(),
        sqlite=apsw.sqlite_lib_version(),
        versions={name: _version(name) for name in packages},
    )


def busy(machine: Machine) -> bool:
    """Whether others wanted the cores too.

    Then a process that wakes up from a sync waits milliseconds for the scheduler's next tick, where
    the disk needs a fraction of one: what is measured is the wait, and ratios mean nothing.
    """
    return max(machine.load) > machine.cores and not machine.real_time


def load() -> float:
    """The load average of the last minute."""
    return round(os.getloadavg()[0], 2)


def sync_time(folder: Path, times: int = 200) -> tuple[float, float]:
    """How long the disk takes to keep 4 kB for good."""
    taken: list[float] = []
    with tempfile.NamedTemporaryFile(dir=folder, buffering=0) as file:
        for _ in range(times):
            start = time.perf_counter()
            file.write(b"x" * 4096)
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - start)
    return statistics.median(taken), statistics.quantiles(taken, n=10)[-1]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
