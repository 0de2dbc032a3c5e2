"""The rows of the board, and the mutants that each of them must catch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.faults import (
    clocks,
    compactions,
    crowd,
    errors,
    imports,
    kills,
    meanwhile,
    power,
    streams,
)
from tests.faults.board import Tally, Trial


@dataclass(frozen=True)
class Row:
    """One kind of fault."""

    name: str
    run: Callable[[Trial], Tally]
    mutants: dict[str, str]
    """Each by its name in `stores.STORES` or in its row, with the column that gives it away."""


ROWS = {
    "kill": Row(
        "kill -9 at each failpoint",
        kills.run,
        {"told before the commit": "lost", "keys ignored": "corrupt"},
    ),
    "power": Row(
        "power cut at each I/O",
        power.run,
        {"synchronous=NORMAL": "lost", "synchronous=OFF": "corrupt"},
    ),
    "disk": Row(
        "EIO, ENOSPC at each I/O",
        errors.run,
        {"commit errors swallowed": "silent", "errors not mapped": "silent"},
    ),
    "crowd": Row(
        "four processes, one store",
        crowd.run,
        {"BEGIN for IMMEDIATE": "survived", "expectations ignored": "silent"},
    ),
    "clock": Row(
        "clocks gone wrong",
        clocks.run,
        {"ordered by the clock": "corrupt"},
    ),
    "compact": Row(
        "kill -9 in a compaction",
        compactions.run,
        {"told before the commit": "lost"},
    ),
    "meanwhile": Row(
        "appends in a compaction",
        meanwhile.run,
        {"covers what came meanwhile": "lost"},
    ),
    "stream": Row(
        "answers broken on their way",
        streams.run,
        {"upstream left open": "silent", "the last piece dropped": "lost"},
    ),
    "import": Row(
        "kill -9 in an import",
        imports.run,
        {"keys not told": "lost"},
    ),
}


def caught(column: str, tally: Tally) -> bool:
    """Whether a column shows that something is wrong."""
    return not tally.passed if column == "survived" else getattr(tally, column) > 0


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for disks that live for milliseconds: in memory, where the machine has that."""
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="holdfast-faults-", dir=place) as folder:
        yield Path(folder) / "row"
