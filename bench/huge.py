"""How much memory it takes to open and read a session that is larger than memory should have to be.

A session is read twice: without a summary, so that everything is visible, and with one that stands
for all but the newest messages. A new process, held to a limit of address space, opens it through
the door, reads its visible window entry by entry, and says how much memory it had at most.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from bench.contenders import Door
from bench.corpus import MEAN, Said, conversation
from bench.machine import load
from bench.progress import Stage, silent
from bench.table import Table, Target, count, targets

LIMIT = 256_000_000
"""What the process may have, in bytes."""

WINDOW = 260


class Reading(msgspec.Struct):
    """What the reading process says of itself, in bytes where it is memory."""

    opened: int
    """Its memory once the library is loaded and the session open."""
    peak: int
    """The most it ever had resident."""
    entries: int
    characters: int


class Result(msgspec.Struct):
    """Both ways of the session."""

    payload: int
    messages: int
    file: int
    limit: int
    load: float
    readings: dict[str, Reading]


SUMMARISED, WHOLE = "a summary and the newest 260", "all of it"


def measure(
    payload: int, scratch: Path | None = None, stage: Stage = silent, limit: int = LIMIT
) -> Result:
    """Make a session of so many bytes of text, and read it in processes of their own."""
    messages = int(payload / MEAN)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-", dir=scratch) as folder:
        door = Door(Path(folder))
        door.open()
        door.seed(_ticking(messages, stage(f"making {count(messages)} messages", messages)))
        tick = stage("reading", 2)
        readings = {WHOLE: read(door.path, door.id, limit)}
        tick()
        _summarise(door)
        readings[SUMMARISED] = read(door.path, door.id, limit)
        tick()
        door.close()
        size = door.path.stat().st_size
    return Result(payload, messages, size, limit, load(), readings)


def _ticking(messages: int, tick: Callable[[], None]) -> Iterator[Said]:
    for said in conversation(messages):
        tick()
        yield said


def _summarise(door: Door) -> None:
    from holdfast.model.log import Summary
    from holdfast.model.span import Span

    head = door.session.refresh().head
    door.session.append(Summary(covers=(Span(1, head - WINDOW),), text="What was done so far."))


def read(path: Path, id: str, limit: int) -> Reading:
    """Open and read it in a new process under a limit; what that process says."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.huge", str(path), id, str(limit)],
        check=True, capture_output=True, cwd=Path(__file__).resolve().parents[1], env=os.environ,
    )  # fmt: skip
    return msgspec.json.decode(done.stdout, type=Reading)


def main(path: str, id: str, limit: str) -> None:
    """What the new process does."""
    resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    import holdfast

    with holdfast.open(path) as hf:
        session = hf.session(id=id)
        opened = memory("VmRSS")
        entries = characters = 0
        for entry in session.visible():
            entries += 1
            characters += len(msgspec.json.encode(entry.body))
    told = Reading(opened, memory("VmHWM"), entries, characters)
    sys.stdout.write(msgspec.json.encode(told).decode())


def memory(field: str) -> int:
    """What the kernel says of this process. `ru_maxrss` would begin with what its parent had."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"this system does not tell {field}")


def table(result: Result) -> Table:
    """What was read, and the memory it took."""
    rows = [
        (name, f"{told.entries:,}", _mb(told.characters), _mb(told.opened), _mb(told.peak))
        for name, told in result.readings.items()
    ]
    return Table(("visible", "entries read", "text read", "memory once open", "at most"), rows)


def section(result: Result) -> str:
    """Its part of the page."""
    kept = [
        Target(f"memory at most, {name} visible", told.peak / 1e6, result.limit / 1e6, " MB")
        for name, told in result.readings.items()
    ]
    told = _SECTION.format(
        payload=result.payload / 1e9, messages=result.messages, file=result.file / 1e9,
        limit=result.limit / 1e6, load=result.load,
    )  # fmt: skip
    return f"{told}\n\n{table(result).markdown()}\n\n{targets(kept).markdown()}"


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


_SECTION = """\
## A session larger than memory

{messages:,} messages, {payload:.2f} GB of text in a file of {file:.2f} GB. A new process whose
address space is limited to {limit:.0f} MB opens the session and reads everything that is visible,
entry by entry. Load average {load}."""


if __name__ == "__main__":
    main(*sys.argv[1:])
