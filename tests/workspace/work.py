"""Some work of an agent on files, of every kind, for tests that take it back."""

from __future__ import annotations

import os
from pathlib import Path

import holdfast
from holdfast.engine.blocking import Session
from holdfast.engine.client import Holdfast
from holdfast.failpoints import POINTS, arm, disarm

REWINDING = """
import os, sys
from holdfast import open as opened
from holdfast.failpoints import arm_from
with opened(sys.argv[1]) as hf:
    session = hf.session(sys.argv[2])
    arm_from(os.environ)
    session.rewind(0, restore="both")
"""


def worked(hf: Holdfast, place: Path) -> Session:
    """A session in which an agent changed, made, removed, linked and moved files in a directory."""
    (place / "folder").mkdir(parents=True)
    place.chmod(0o755)
    for name, content, mode in (
        ("kept", b"kept\n", 0o644),
        ("gone", b"gone\n", 0o755),
        ("folder/file", b"in a folder\n", 0o600),
    ):
        (place / name).write_bytes(content)
        (place / name).chmod(mode)
    (place / "folder").chmod(0o755)
    (place / "link").symlink_to("kept")
    session = hf.session(directory=place)
    workspace = session.workspace()
    session.user("work on them")
    with workspace.recording("kept"):
        (place / "kept").write_bytes(b"changed\n")
    with workspace.recording(cause="command"):
        (place / "gone").unlink()
        (place / "link").unlink()
        (place / "link").symlink_to("folder")
        os.rename(place / "folder", place / "moved")
        (place / "made" / "deep").mkdir(parents=True)
        (place / "made" / "deep" / "file").write_bytes(b"made\n")
        (place / "kept").chmod(0o600)
    return session


def points_reached(place: Path) -> set[str]:
    """The failpoints that a rewind passes."""
    found: set[str] = set()
    with holdfast.open(place / "log.db") as hf:
        session = worked(hf, place / "work")
        for point in POINTS:
            if point.startswith("rewind."):
                arm(point, lambda point=point: found.add(point))
        try:
            session.rewind(0, restore="both")
        finally:
            disarm()
    return found
