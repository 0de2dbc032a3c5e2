"""Importing 100 MB of transcripts and indexing them, against a bare loop that writes the same rows.

The floor (bare.py) decodes the same lines and writes what an import of them has left in the store.
Both begin with an empty store each time; how much memory an import takes is told by one from the
command line, in a process of its own.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

import holdfast
from bench import bare, transcripts
from bench.machine import Machine, load, machine
from bench.measure import Series, ratio
from bench.page import PICTURES, facts, write
from bench.picture import bars
from bench.progress import Stage, silent
from bench.table import Table, Target, cell, spread, targets
from bench.transcripts import Made

SIZE = 100_000_000
ROUNDS = 5
STEP = 1000
"""How many parts are indexed at a time."""

IMPORT, INDEX = "importing", "the index"
BOTH = "both"
RAW = "bare loop"

MOST = 1.6
MEMORY = 256

LOOK = 0.02
"""How long it is between two looks at the memory, in seconds."""


class Result(msgspec.Struct):
    """Seconds by what was done, ours under its name and the floor's behind RAW."""

    when: str
    machine: Machine
    made: Made
    rows: dict[str, int]
    """How many rows there are in each table."""
    words: int
    """Bytes of text in the index."""
    memory: int
    """The most that all processes of an import took together, in bytes."""
    series: dict[str, Series]


def measure(
    size: int = SIZE, rounds: int = ROUNDS, scratch: Path | None = None, stage: Stage = silent
) -> Result:
    """Let both do it, in turns."""
    folder = (scratch or Path("build")) / f"import-{size}"
    made = transcripts.made(folder, size, stage)
    files, place = folder / "files", folder / "store"
    about = machine(("apsw", "msgspec"), folder)
    memory = _memory(files, _emptied(place))
    floor = bare.Floor.of(place / "log.db")
    ways: dict[str, Callable[[Path, Path], tuple[float, float]]] = {
        "": ours,
        f"{RAW}, ": floor.run,
    }
    series = {way + what: Series() for way in ways for what in (IMPORT, INDEX, BOTH)}
    tick, source = stage("importing", rounds), random.Random(0)
    for _ in range(rounds):
        for way in source.sample(list(ways), len(ways)):
            taken = _timed(ways[way], files, _emptied(place))
            if (found := bare.counted(place / "log.db")) != floor.counts:
                raise SystemExit(f"not the same rows: {found} and {floor.counts}")
            for what, seconds in zip((IMPORT, INDEX, BOTH), (*taken, sum(taken)), strict=True):
                series[way + what].seconds.append(seconds)
        tick()
    shutil.rmtree(place)
    about.load = (about.load[0], load())
    return Result(
        when=f"{datetime.now(UTC):%Y-%m-%d}", machine=about, made=made, rows=floor.counts,
        words=floor.text, memory=memory, series=series,
    )  # fmt: skip


def _emptied(place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    os.sync()
    return place


def _timed(
    run: Callable[[Path, Path], tuple[float, float]], files: Path, place: Path
) -> tuple[float, float]:
    gc.collect()
    gc.disable()
    try:
        return run(files, place / "log.db")
    finally:
        gc.enable()


def ours(files: Path, store: Path) -> tuple[float, float]:
    """As a program does it: find the files, import them, let the index catch up."""
    hf = holdfast.open(store)
    begun = time.perf_counter()
    for _ in hf.import_sources(hf.transcripts(files)):
        pass
    brought = time.perf_counter()
    while hf.index(STEP):
        pass
    ended = time.perf_counter()
    hf.close()
    return brought - begun, ended - brought


def _memory(files: Path, place: Path) -> int:
    """The most memory that `holdfast import` takes, with the processes it starts."""
    command = [sys.executable, "-m", "holdfast.cli", "import", str(files),
               "--store", str(place / "log.db")]  # fmt: skip
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(sys.executable, command, os.environ, file_actions=quiet)
    most = 0
    while not (ended := os.wait4(child, os.WNOHANG))[0]:
        most = max(most, _held(child))
        time.sleep(LOOK)
    if ended[1]:
        raise SystemExit("`holdfast import` failed")
    return max(most, ended[2].ru_maxrss * 1024)


def _held(process: int) -> int:
    """What a process and its children have in memory now."""
    place = Path("/proc")
    found = [str(process)]
    with suppress(OSError):
        for children in (place / str(process) / "task").glob("*/children"):
            found += children.read_text().split()
    pages = 0
    for one in found:
        with suppress(OSError):
            pages += int((place / one / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def table(result: Result) -> Table:
    """Each phase, and both."""
    series = result.series
    rows = [
        (
            what,
            cell(series[what], series[f"{RAW}, {what}"]),
            spread(series[what]),
            cell(series[f"{RAW}, {what}"], None),
            f"{result.made.size / 1e6 / (series[what].median or 1):,.0f} MB/s",
        )
        for what in (IMPORT, INDEX, BOTH)
    ]
    return Table(("", "Holdfast", "p10 – p90", RAW, "transcripts"), rows)


def kept(result: Result) -> list[Target]:
    """What must hold."""
    much = ratio(result.series[BOTH], result.series[f"{RAW}, {BOTH}"])
    return [
        Target("importing and indexing, against the bare loop", much, MOST),
        Target("memory at most", result.memory / 1e6, MEMORY, " MB"),
    ]


def show(result: Result) -> None:
    """On the terminal."""
    table(result).show(f"Importing {result.made.size / 1e6:,.0f} MB")
    targets(kept(result)).show("Targets")


def publish(result: Result) -> None:
    """To the page, with its picture."""
    medians = {name: series.median or 0.0 for name, series in result.series.items()}
    title = f"{result.made.size / 1e6:,.0f} MB of transcripts, seconds (logarithmic)"
    ours = [name for name in medians if not name.startswith(RAW)]
    bars(medians, title, PICTURES / "import.svg", ours)
    write("import", section(result))


def section(result: Result) -> str:
    """The section of the page."""
    rows, made = result.rows, result.made
    return f"""
## Importing

{made.size / 1e6:,.0f} MB of JSONL in {made.files:,} files of Claude Code and Codex: recorded
sessions, copied with ids of their own and, in each copy, other words. Their {made.lines:,} records
become {rows["entries"]:,} entries with {rows["parts"]:,} parts, and
{result.words / 1e6:,.0f} MB of text in the index. Most of a transcript is what its program keeps
beside the conversation, which is stored and not indexed.

- *Holdfast* finds the files, imports them (`hf.import_sources`) and then lets the index catch up.
- *{RAW}* is the floor: it decodes every line with msgspec, and writes the very rows that an import
  leaves, session by session, with the same settings of the connection and as durably. Ids, hashes,
  estimates and places are made beforehand, and so are the words and tags of the index; what it does
  make is the JSON of each part and the compressed form of large ones. Nothing is read or checked.

In brackets: times the floor. {len(result.series[BOTH].seconds)} rounds.

{table(result).markdown()}

{targets(kept(result)).markdown()}

On two cores a second process reads files while the store is written, and makes the words for the
index too: they are written a few megabytes at a time, and what is left of them at the end is *the
index*. The floor uses one core, and so does an import where there is one. Memory is that of all
processes together. With real-time scheduling two busy processes leave the kernel's own threads no
core: commits wait for these, half of the time here, and for the floor they do not.

Where the time of both processes goes, by a profile: a fifth is reading records and understanding
them, a fifth laying out what is written, with fingerprints, by which nothing is imported twice, a
quarter the database with its index, a tenth masking secrets in the words, and a twentieth each the
estimates of parts, the paths that calls name, and our own extracts where a summary is encrypted.

![How long importing takes](pictures/import.svg)

Measured on {result.when}: {facts(result.machine)}
`python -m bench import`.
"""
