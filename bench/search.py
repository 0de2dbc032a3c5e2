"""How long finding something takes among a million parts, against ripgrep over the same text.

The text is invented (archive.py), and asked for through the library: what is measured is all that
somebody waits for, the snippets included.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

import holdfast
from bench.archive import A_SESSION, BEGUN, MINUTE, Corpus, built
from bench.machine import Machine, load, machine
from bench.measure import WARM_UP, Series, interleave, ratio
from bench.page import PICTURES, facts, write
from bench.picture import bars
from bench.progress import Stage, silent
from bench.table import Table, Target, cell, digits, spread, targets
from holdfast.engine.client import Holdfast

PARTS = 1_000_000
ROUNDS = 40
BUDGET = 120.0

TWO, RG_TWO = "two words", "ripgrep, two words"
COMMON, RG_COMMON = "a word in half of all parts", "ripgrep, that word"
PREFIX = "the beginning of a word, four letters"
FILTERED = "that word, by role, tool, path, project, model and month"


class Result(msgspec.Struct):
    """Seconds by what was looked for."""

    when: str
    machine: Machine
    parts: int
    text: int
    """Bytes of text in all."""
    file: int
    """Bytes of the store."""
    building: dict[str, float]
    """Seconds that appending and indexing took, where this run did it."""
    share: float
    """The share of parts that hold the common word."""
    series: dict[str, Series]


def measure(
    parts: int = PARTS, rounds: int = ROUNDS, scratch: Path | None = None, stage: Stage = silent
) -> Result:
    """Ask both, in turns."""
    rg = shutil.which("rg")
    if not rg:
        raise SystemExit("ripgrep is needed as `rg` on PATH: install the package ripgrep")
    folder = (scratch or Path("build")) / f"search-{parts}"
    folder.mkdir(parents=True, exist_ok=True)
    corpus = built(folder, parts, stage)
    about = machine(("apsw",), folder)
    about.versions["ripgrep"] = subprocess.run(
        [rg, "--version"], capture_output=True, text=True, check=True
    ).stdout.split()[1]
    with holdfast.open(folder / "log.db") as hf:
        calls = contenders(hf, corpus, rg, folder / "jsonl")
        tick = stage("searching", rounds + WARM_UP)
        series = interleave(calls, rounds=rounds, budget=BUDGET, tick=tick)
    about.load = (about.load[0], load())
    return Result(
        when=f"{datetime.now(UTC):%Y-%m-%d}",
        machine=about,
        parts=parts,
        text=corpus.text,
        file=(folder / "log.db").stat().st_size,
        building=corpus.building,
        share=corpus.share,
        series=series,
    )


def contenders(
    hf: Holdfast, corpus: Corpus, rg: str, folder: Path
) -> dict[str, Callable[[int], object]]:
    """What is asked, by name; each call with its number."""

    def pair(number: int) -> tuple[str, str]:
        return corpus.pairs[number % len(corpus.pairs)]

    def grep(pattern: str) -> object:
        command = [rg, "--count", "--ignore-case", "--no-messages", pattern, str(folder)]
        return subprocess.run(command, stdout=subprocess.DEVNULL, check=False)

    narrow: list[dict[str, Any]] = [
        {"role": "user"}, {"tool": "grep"}, {"path": "src/area3"}, {"project": "work7"},
        {"model": "small"}, {"since": BEGUN, "until": BEGUN + 30 * 24 * 60 * MINUTE},
    ]  # fmt: skip
    return {
        TWO: lambda number: hf.search(" ".join(pair(number))),
        RG_TWO: lambda number: grep(_both(*pair(number))),
        COMMON: lambda _: hf.search(corpus.common),
        RG_COMMON: lambda _: grep(rf"\b{corpus.common}\b"),
        FILTERED: lambda number: hf.search(corpus.common, **narrow[number % len(narrow)]),
        PREFIX: lambda number: hf.search(pair(number)[0][:4], prefix=True),
    }


def _both(one: str, other: str) -> str:
    return rf"\b{one}\b.*\b{other}\b|\b{other}\b.*\b{one}\b"


def late(series: Series) -> float | None:
    """The 95th percentile, in ms."""
    if len(series.seconds) < 2:
        return None
    return statistics.quantiles(series.seconds, n=20, method="inclusive")[-1] * 1000


def table(result: Result) -> Table:
    """Everything that was asked."""
    rows = [
        (name, cell(series, None), spread(series), f"{digits(late(series) or 0)} ms")
        for name, series in result.series.items()
    ]
    return Table(("looked for", "median", "p10 – p90", "p95"), rows)


def kept(result: Result) -> list[Target]:
    """What must hold."""
    series = result.series
    return [
        Target("two words, p95", late(series[TWO]), 50, " ms"),
        Target("ripgrep, of that", ratio(series[RG_TWO], series[TWO]), 20, least=True),
        Target("a word in half of all parts, p95", late(series[COMMON]), 100, " ms"),
        Target("the same with a filter, p95", late(series[FILTERED]), 100, " ms"),
    ]


def show(result: Result) -> None:
    """On the terminal."""
    table(result).show(f"Searching {result.parts:,} parts")
    targets(kept(result)).show("Targets")


def publish(result: Result) -> None:
    """To the page, with its picture."""
    medians = {name: (series.median or 0.0) * 1000 for name, series in result.series.items()}
    title = f"searching {result.parts:,} parts, ms (logarithmic)"
    bars(medians, title, PICTURES / "search.svg", [name for name in medians if "rip" not in name])
    write("search", section(result))


def section(result: Result) -> str:
    """The section of the page."""
    took = result.building
    return f"""
## Searching

{result.parts:,} parts in {result.parts // A_SESSION:,} sessions, {result.text / 1e6:,.0f} MB of
invented text with the frequencies that words have; the store takes {result.file / 1e6:,.0f} MB, its
index included. ripgrep reads the same parts as JSONL, a file for each session, and counts the lines
that match; `hf.search` returns the best twenty with their snippets. Each time another pair of words
that stand together somewhere. The common word is in {result.share:.0%} of all parts.

{table(result).markdown()}

{targets(kept(result)).markdown()}

![How long searching takes](pictures/search.svg)

Appending took {took["appending"]:,.0f} s and indexing, which waits until somebody searches,
{took["indexing"]:,.0f} s. Measured on {result.when}: {facts(result.machine)}
`python -m bench search`.
"""
