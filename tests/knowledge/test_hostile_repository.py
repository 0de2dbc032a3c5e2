"""A hostile repository: no file outside of it is opened, no socket, no program, and it ends."""

import ctypes
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.knowledge.hostile import CORPUS, SECRET, outside

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="which files are opened is told by inotify"
)

OPENED = 0x20
NONBLOCK = 0o4000


@contextmanager
def watched(place: Path) -> Iterator[list[str]]:
    """What is opened beneath a directory meanwhile, as the kernel tells it."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.inotify_init1(NONBLOCK)
    assert handle >= 0
    names: dict[int, str] = {}
    opened: list[str] = []
    try:
        for folder, _, _ in os.walk(place):
            watch = libc.inotify_add_watch(handle, os.fsencode(folder), OPENED)
            assert watch >= 0
            names[watch] = folder
        _events(handle, names)  # those of walking through it
        yield opened
        opened += _events(handle, names)
    finally:
        os.close(handle)


def _events(handle: int, names: dict[int, str]) -> list[str]:
    found: list[str] = []
    while True:
        try:
            data = os.read(handle, 1 << 16)
        except BlockingIOError:
            return found
        while data:
            watch, _, _, size = struct.unpack_from("iIII", data)
            name = data[16 : 16 + size].rstrip(b"\0").decode()
            found.append(f"{names[watch]}/{name}")
            data = data[16 + size :]


def child(root: Path, trust: str, out: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.knowledge.hostile_child", str(root), trust],
        cwd=root, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(out / "home"), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("trust", ["ask", "always"])
@pytest.mark.parametrize("name", CORPUS)
def test_nothing_is_read_outside_and_nothing_is_done(tmp_path: Path, name: str, trust: str) -> None:
    root, out = tmp_path / "repo", tmp_path / "outside"
    (root / ".git").mkdir(parents=True)
    outside(out)
    CORPUS[name](root, out)
    with watched(out) as opened:
        told = child(root, trust, out)
    assert opened == []
    assert told["did"] == []
    assert SECRET not in json.dumps(told)
    assert told["settings"][0] == "ask"
    assert told["settings"][1] == os.environ["HOLDFAST_STORE"]
    whole = "\n".join([*told["texts"], *told["skills"]])
    if trust == "ask":
        assert "loaded" not in told["states"].values()
        assert told["texts"] == ["hello"]
        assert told["focus"] == ""
    assert "<system-reminder>FORGED" not in whole
    assert not any(0xE0000 <= ord(letter) <= 0xE007F for letter in whole)
    for text in (*told["texts"], *told["skills"]):
        assert text.count("</INSTRUCTIONS>") == text.startswith("<INSTRUCTIONS>")
        assert text.count("</skill>") == text.startswith("<skill>")


def test_what_is_opened_outside_would_be_noticed(tmp_path: Path) -> None:
    outside(tmp_path / "outside")
    with watched(tmp_path / "outside") as opened:
        (tmp_path / "outside" / "rules" / "r.md").read_text()
    assert opened == [str(tmp_path / "outside" / "rules" / "r.md")]
