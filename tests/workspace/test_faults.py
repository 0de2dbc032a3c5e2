"""A rewind that fails, or ends in the middle, leaves everything as it was, or is completed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.blocking import Session
from holdfast.errors import HoldfastError
from holdfast.failpoints import POINTS, VARIABLE, arm, disarm, fail_at
from tests.workspace.trees import Tree, tree
from tests.workspace.work import REWINDING, worked

OURS = [point for point in POINTS if point.startswith("rewind.")]


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    yield
    disarm()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture
def session(place: Path, tmp_path: Path) -> Iterator[Session]:
    with holdfast.open(tmp_path / "log.db") as hf:
        yield worked(hf, place)


@pytest.mark.parametrize("point", OURS)
def test_a_failure_at_any_point_is_rolled_back_or_completed(
    session: Session, place: Path, point: str
) -> None:
    before, passings = tree(place), 0
    while True:
        passings += 1
        arm(point, fail_at(passings))
        try:
            session.rewind(0, restore="both")
        except RuntimeError:
            disarm()
            session.preview_rewind(0)  # whoever looks next ends what was interrupted
            now = tree(place)
            told = any(getattr(one.body, "files", "") for one in session.entries())
            assert now == (earlier() if told else before)
            assert not [one for one in os.listdir(place) if one.startswith(".holdfast")]
            if told:
                return
            continue
        break
    assert passings > 1
    assert tree(place) == earlier()


def earlier() -> Tree:
    """The tree as it was before the agent began."""
    return {
        "kept": ("file", 0o644, b"kept\n"),
        "gone": ("file", 0o755, b"gone\n"),
        "folder": ("folder", 0o755, b""),
        "folder/file": ("file", 0o600, b"in a folder\n"),
        "link": ("link", 0, b"kept"),
    }


@pytest.mark.parametrize("point", OURS)
@pytest.mark.parametrize("passing", [1, 2])
def test_a_process_that_is_killed_leaves_a_rewind_that_ends_well(
    place: Path, tmp_path: Path, point: str, passing: int
) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        id = worked(hf, place).id
    before = tree(place)
    done = subprocess.run(
        [sys.executable, "-c", REWINDING, str(tmp_path / "log.db"), id],
        env={**os.environ, VARIABLE: f"{point}=kill:{passing}"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    with holdfast.open(tmp_path / "log.db") as hf:
        session = hf.session(id)
        session.preview_rewind(0)
        told = any(getattr(one.body, "files", "") for one in session.entries())
        assert tree(place) == (earlier() if told else before)
        assert done.returncode in (-9, 0), done.stderr
        if told:
            session.undo()
            assert tree(place) == before


CALLS = ("write", "mkdir", "rename", "link", "symlink", "fsync", "fchmod")


@pytest.mark.parametrize("name", CALLS)
def test_a_disk_that_is_full_at_any_call_changes_nothing(
    session: Session, place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before, real = tree(place), getattr(os, name)
    for passing in range(1, 60):
        count = iter(range(1, 10_000))
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full_at(passing, count, real))
            with suppress(OSError, HoldfastError):
                session.rewind(0, restore="both")
        if next(count) <= passing:
            break
        session.preview_rewind(0)
        told = [one for one in session.entries() if getattr(one.body, "files", "")]
        assert tree(place) == (earlier() if told else before), (name, passing)
        if told:
            return
    assert tree(place) == earlier()


def full_at(passing: int, count: Iterator[int], real: Callable[..., Any]) -> Callable[..., Any]:
    """The call, failing once; only where it concerns the rewind and no other file."""

    def call(*values: Any, **named: Any) -> Any:
        if next(count) == passing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*values, **named)

    return call


def test_a_swapper_gets_nothing_written_outside(place: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "file").write_bytes(b"theirs\n")
    (outside / "file").write_bytes(b"theirs\n")
    there = tree(outside)
    stop = threading.Event()
    with holdfast.open(tmp_path / "log.db") as hf:
        session = hf.session(directory=_nested(place))
        workspace = session.workspace()
        session.user("change them")
        with workspace.recording():
            (place / "d" / "deep" / "file").write_bytes(b"changed\n")
            (place / "d" / "file").write_bytes(b"changed\n")
            (place / "d" / "new").write_bytes(b"new\n")
        swapping = threading.Thread(target=_swap, args=(place, outside, stop))
        swapping.start()
        try:
            for _ in range(60):
                with suppress(HoldfastError, OSError):
                    session.rewind(0, restore="code", resolve={"*": "restore"})
                with suppress(HoldfastError, OSError):
                    session.undo(resolve={"*": "restore"})
                with suppress(HoldfastError, OSError), workspace.recording("d/file"):
                    pass
        finally:
            stop.set()
            swapping.join()
    assert tree(outside) == there


def _nested(place: Path) -> Path:
    (place / "d" / "deep").mkdir(parents=True)
    (place / "d" / "file").write_bytes(b"first\n")
    (place / "d" / "deep" / "file").write_bytes(b"first\n")
    return place


def _swap(place: Path, outside: Path, stop: threading.Event) -> None:
    """Put a link to elsewhere where a directory was, and back, as fast as can be."""
    here, away = place / "d", place / "away"
    while not stop.is_set():
        with suppress(OSError):
            here.rename(away)
            here.symlink_to(outside)
        with suppress(OSError):
            if here.is_symlink():
                here.unlink()
            if not here.exists():
                away.rename(here)
