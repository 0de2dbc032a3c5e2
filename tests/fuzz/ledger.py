"""What a process that fuzzes leaves for the one that watches it, be it killed at any moment.

Rule 1: before an input is read it stands in the ledger, so that whatever ends the process has a
        cause that can be read again.
"""

from __future__ import annotations

import mmap
import re
import struct
from hashlib import blake2b
from pathlib import Path

from tests.fuzz.judging import Judge, Outcome
from tests.fuzz.mutating import MOST

_COUNTS = struct.Struct("<6Q")
_PLACE = 64
_SIZE = _PLACE + MOST


WEIGHED = 100
"""After every so many-eth execution the peak is looked at; it forgets nothing in between."""


def peak() -> int:
    """The most memory that this process ever took, in MiB.

    Where Hypothesis runs for the first time it makes its table of characters, which takes 247.
    """
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) // 1024 if found else 0


class Ledger:
    """Counts, and the input that is being read."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_SIZE))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE)
        counts = _COUNTS.unpack_from(self._map)
        self.executions, self.refused, self.crashes, self.hangs, self.peak, self._length = counts

    def begin(self, data: bytes) -> None:
        """An input is about to be read."""
        self._map[_PLACE : _PLACE + len(data)] = data
        self._length = len(data)
        self._write()

    def end(self, outcome: Outcome) -> None:
        """It was."""
        self.executions += 1
        self.refused += outcome.verdict == "refused"
        self.crashes += outcome.verdict == "crash"
        self.hangs += outcome.verdict == "hang"
        if self.executions % WEIGHED == 1:
            self.peak = max(self.peak, peak())
        self._length = 0
        self._write()

    @property
    def unfinished(self) -> bytes:
        """The input that nobody came back from; empty where there is none."""
        return bytes(self._map[_PLACE : _PLACE + self._length])

    def _write(self) -> None:
        counts = (self.executions, self.refused, self.crashes, self.hangs, self.peak)
        _COUNTS.pack_into(self._map, 0, *counts, self._length)


class Trier:
    """Tries inputs, counts them, and saves one of each kind that went wrong."""

    def __init__(self, judge: Judge, ledger: Ledger, findings: Path) -> None:
        self._judge, self.ledger, self._findings = judge, ledger, findings
        self._known: set[str] = set()

    def __call__(self, data: bytes) -> None:
        data = data[:MOST]
        self.ledger.begin(data)
        outcome = self._judge(data)
        self.ledger.end(outcome)
        if outcome.why and outcome.place not in self._known:
            self._known.add(outcome.place)
            save(self._findings, self._judge.form.name, data, outcome)


def save(folder: Path, form: str, data: bytes, outcome: Outcome) -> Path:
    """Write down an input that went wrong, and how, beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    print = blake2b(data, digest_size=6).hexdigest()
    path = folder / f"{form.replace(' ', '_')}-{outcome.verdict}-{print}"
    path.write_bytes(data)
    path.with_name(path.name + ".txt").write_text(outcome.why, "utf-8", "backslashreplace")
    return path
