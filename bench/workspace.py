"""Files around a shell command: what a baseline and the scans cost, beside `git status`.

    python -m bench workspace   # 50,000 files

Every number is a median of rounds that alternate, in one process, on files that are warm.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from holdfast.workspace.directory import Directory

FILES: Final = 50_000
IN_EACH: Final = 50
"""So many files are in one directory, three directories deep."""

ROUNDS: Final = 9
COMMAND: Final = "echo changed >> {0}/m0/src/f0.py; mkdir -p {0}/new; echo new > {0}/new/file"


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Medians in milliseconds; the baselines in seconds."""

    files: int
    baseline_git: float
    baseline_bare: float
    """Without a repository every file is read."""
    scans: float
    """Both scans around one command that changed files, where the system says what changed."""
    scans_unwatched: float
    """The same where every file's times are looked at twice."""
    git_status: float
    walk: float
    """A bare walk that looks at every file once."""


def measure(files: int = FILES, rounds: int = ROUNDS) -> Result:
    """Make a directory and measure in it."""
    with tempfile.TemporaryDirectory(prefix="bench-workspace-") as place:
        root = Path(place) / "work"
        _make(root, files)
        bare = _baseline(root, Path(place))
        _git(root, "init", "-q", ".")
        _git(root, "config", "gc.auto", "0")  # it would run beside what is measured
        _git(root, "add", "-A")
        _git(root, "-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "all")
        time.sleep(1.1)  # what is as young as the index is read, as git does it
        _git(root, "status")
        directory = Directory(str(root), spool=Path(place) / "spool")
        unwatched = Directory(str(root), spool=Path(place) / "spool")
        try:
            git = _timed(directory.prepare)
            unwatched.prepare()
            unwatched._scanner.watch.close()  # pyright: ignore[reportPrivateUsage]
            found = _rounds(root, directory, unwatched, rounds)
        finally:
            directory.close()
            unwatched.close()
    medians = {name: statistics.median(times) * 1000 for name, times in found.items()}
    return Result(files=files, baseline_git=git, baseline_bare=bare, **medians)


def _rounds(
    root: Path, directory: Directory, unwatched: Directory, rounds: int
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"scans": [], "scans_unwatched": [], "git_status": [],
                                     "walk": []}  # fmt: skip
    for number in range(rounds):
        for name, one in (("scans", directory), ("scans_unwatched", unwatched)):
            before = _timed(one.scan)
            subprocess.run(COMMAND.format(f"p{number}"), shell=True, cwd=root, check=True)
            found[name].append(before + _timed(one.scan))
        found["git_status"].append(_timed(lambda: _git(root, "status", "--porcelain")))
        found["walk"].append(_timed(lambda: _walk(root)))
    return found


def _walk(root: Path) -> int:
    """How many files there are, each looked at."""
    found = 0
    for place, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        found += sum(1 for name in files if os.lstat(os.path.join(place, name)))
    return found


def _baseline(root: Path, place: Path) -> float:
    directory = Directory(str(root), spool=place / "spool")
    try:
        return _timed(directory.prepare)
    finally:
        directory.close()


def _make(root: Path, files: int) -> None:
    for number in range(files // IN_EACH):
        folder = root / f"p{number // 20}" / f"m{number % 20}" / "src"
        folder.mkdir(parents=True)
        for each in range(IN_EACH):
            (folder / f"f{each}.py").write_text(f"value = {number}\n" * (1 + each))


def _git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


def _timed(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def show(result: Result) -> None:
    """The numbers, and whether they are within their bounds."""
    from bench.table import Table

    bounds = {
        "both scans around a command": (result.scans, 300, "ms"),
        "the same, every file looked at": (result.scans_unwatched, 0, "ms"),
        "`git status`": (result.git_status, 0, "ms"),
        "a bare walk": (result.walk, 0, "ms"),
        "baseline in a repository": (result.baseline_git, 20, "s"),
        "baseline without one": (result.baseline_bare, 20, "s"),
    }
    rows = [
        (name, f"{value:.1f} {unit}", f"at most {most} {unit}" if most else "–")
        for name, (value, most, unit) in bounds.items()
    ]
    ratio = result.scans / result.git_status
    rows.append(("both scans ÷ `git status`", f"{ratio:.2f}", "at most 3"))
    Table(("", "median", "bound"), rows).show(f"a workspace of {result.files:,} files")


if __name__ == "__main__":
    show(measure())
