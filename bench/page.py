"""The page docs/benchmarks.md: one section for each benchmark, written again by its own run."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from bench.machine import Machine

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
PICTURES = ROOT / "docs" / "pictures"
RESULTS = ROOT / "bench" / "results"

OPENING = """\
# Benchmarks

How fast Holdfast is, side by side with others in one run. This page is written by one command,
which makes its own environment with the libraries it compares:

```console
$ make bench
```

How it is measured:

- Everything compared runs in the same process and the same minutes: every round asks each contender
  once, in an order shuffled anew. Other work on the machine hits all of them alike.
- Numbers are medians. Quote the ratios: they keep, while milliseconds belong to a machine.
- Files are read from the page cache. The garbage collector waits while the clock runs, for all.
- Afterwards every contender is asked how many messages it holds, and must hold all of them.
"""


def save(name: str, result: object) -> Path:
    """Keep the raw numbers."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1))
    return path


def write(name: str, section: str, page: Path = PAGE) -> None:
    """Put a section into the page in place of the one of that name, or at its end."""
    text = page.read_text("utf-8") if page.exists() else OPENING
    kept = dict(re.findall(r"<!-- (\w+) -->\n(.*?)<!-- end -->\n", text, re.DOTALL))
    kept[name] = section.strip() + "\n"
    sections = (f"\n<!-- {each} -->\n{words}<!-- end -->\n" for each, words in kept.items())
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(OPENING + "".join(sections), "utf-8")


def facts(machine: Machine) -> str:
    """What it was measured on."""
    median, slow = (f"{seconds * 1000:.2f}" for seconds in machine.sync)
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    before, after = machine.load
    return (
        f"{machine.cores} cores, {machine.memory:.0f} GiB; appending 4 kB and syncing takes "
        f"{median} ms (ninetieth percentile {slow} ms); load average {before} before and {after} "
        f"after{', real-time scheduling' if machine.real_time else ''}. "
        f"Python {machine.python}, SQLite {machine.sqlite} in Holdfast and the raw rows; "
        f"{versions}."
    )
