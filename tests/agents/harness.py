"""Real agents, run headless in a home of their own, with this machine as their only network."""

import os
import signal
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from holdfast.testing import StrictServer
from holdfast.testing.strict import Asked

ROOT = Path(__file__).resolve().parents[2]
AGENTS = ROOT / ".agents"
PLACES = (AGENTS / "node_modules" / ".bin", AGENTS / "python" / "bin")
SECONDS = 120
NOWHERE = "http://127.0.0.1:9"
"""A proxy that is not there: whatever an agent sends to the network ends here."""
NOTES = "The harbour is closed on Mondays."


class Ended(NamedTuple):
    """How a program ended."""

    status: int
    out: str
    err: str


class Place(NamedTuple):
    """Where an agent runs: its home, and the directory it works in."""

    home: Path
    work: Path

    @classmethod
    def at(cls, folder: Path) -> "Place":
        """A new place with a note and a picture in it."""
        place = cls(folder / "home", folder / "home" / "work")
        place.work.mkdir(parents=True)
        (place.work / "notes.txt").write_text(f"{NOTES}\n")
        (place.work / "dot.png").write_bytes(dot())
        return place

    def run(self, program: str, *arguments: str, **environment: str) -> Ended:
        """Run an installed program to its end, within two minutes."""
        surroundings = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HTTP_PROXY": NOWHERE,
            "HTTPS_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1,localhost",
        }
        running = subprocess.Popen(
            [str(installed(program)), *arguments],
            cwd=self.work,
            env=surroundings | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = running.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            out, err = running.communicate()
        return Ended(running.returncode, out, err)


class Played(NamedTuple):
    """A scripted task: what the server saw, what the agent said last in each turn."""

    server: StrictServer
    said: list[str]

    @property
    def made(self) -> list[Asked]:
        """The requests for an answer."""
        return [asked for asked in self.server.asked if asked.endpoint == "create"]


def installed(program: str) -> Path | None:
    """Where `make agents` has put a program; None where it has not."""
    return next((place / program for place in PLACES if (place / program).exists()), None)


def needs(program: str) -> None:
    """Skip a test whose program is not installed."""
    if installed(program) is None:
        pytest.skip(f"{program} is not installed here: run `make agents` to try the real one")


def kinds(body: dict[str, Any]) -> set[str]:
    """Every type that is named anywhere in a request."""
    found: set[str] = set()
    waiting: list[Any] = [body]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            found |= {value["type"]} if isinstance(value.get("type"), str) else set()
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found


def dot() -> bytes:
    """A picture of eight by eight red pixels."""
    rows = b"".join(b"\0" + b"\xff\0\0" * 8 for _ in range(8))
    size = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", size)
        + _chunk(b"IDAT", zlib.compress(rows))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
