"""How many modules a window and a turn visit: what has to be read to follow one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
MOST = {"window": (35, 55), "turn": (43, 75)}
"""Modules of `core` and `engine`, and of all packages, without a compaction."""


OFF = 2
"""The page may be off by so many modules before it has to be written anew."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, int]]:
    """The trace in a process of its own: here the telemetry of another test may be listening."""
    made = subprocess.run(
        [sys.executable, "-m", "tools.turn_trace"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
        env={"PATH": "", "HOME": str(tmp_path_factory.mktemp("home"))},
    )  # fmt: skip
    rows = [line.split() for line in made.stdout.splitlines()[1:]]
    return {name: (int(inner), int(every)) for name, inner, every, *_ in rows}


def test_a_window_and_a_turn_visit_few_modules(found: dict[str, tuple[int, int]]) -> None:
    assert found.keys() == MOST.keys()
    for name, (inner, every) in found.items():
        assert inner <= MOST[name][0], f"{name}: see python -m tools.turn_trace --list"
        assert every <= MOST[name][1], f"{name}: see python -m tools.turn_trace --list"


def test_the_map_has_the_numbers(found: dict[str, tuple[int, int]]) -> None:
    rows = re.findall(r"\| a (?:whole )?(window|turn)[^|]*\| (\d+) \| (\d+) \|", PAGE.read_text())
    assert len(rows) == len(found)
    for name, *told in rows:
        off = [abs(int(one) - now) for one, now in zip(told, found[name], strict=True)]
        assert max(off) <= OFF, "write the numbers of python -m tools.turn_trace into the page"
