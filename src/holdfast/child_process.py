"""A process of our own for work that may never end: asked, answered, and killed when it is time.

Rule 1: what goes in and out is a length of four bytes, then so many bytes.
Rule 2: of our environment it has what Python needs to start, so no key; nothing of the directory
        it starts in is imported, and of this package the very files that we are.
Rule 3: it ends itself where nobody is left to end it: `limits` sets a clock that nothing holds up.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import BinaryIO, Final

MEMORY: Final = 1 << 30
ANSWER: Final = 16 << 20
"""The largest answer that is believed, in bytes."""

PIPE: Final = 1 << 20
"""How much it may say that nobody has read yet, where the system lets us choose, in bytes."""

TICK: Final = 0.05
"""How long it is between two looks at whether somebody has interrupted, in seconds."""

NEEDED: Final = frozenset(
    """
    PATH PYTHONPATH PYTHONHOME PYTHONUTF8 LD_LIBRARY_PATH DYLD_LIBRARY_PATH LANG LC_ALL LC_CTYPE
    TMPDIR SYSTEMROOT
    """.split()  # noqa: SIM905 (a literal would take a line for each)
)

HOME: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN: Final = """
import runpy, sys
sys.path.insert(0, sys.argv[2])
import holdfast
del sys.path[0]
runpy.run_module(sys.argv[1], run_name="__main__")
"""


class Child:
    """A module of ours, running in a process of its own."""

    def __init__(self, module: str) -> None:
        pipe = subprocess.PIPE
        # -P: what lies in the working directory is not ours to import.
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-P", "-c", BEGIN, module, HOME],
            env={name: value for name, value in os.environ.items() if name in NEEDED},
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            pipesize=PIPE,
            start_new_session=True,  # an interrupt at the terminal is ours to pass on
        )
        _running.add(self.process)

    def tell(self, *pieces: bytes) -> None:
        """Ask it something; EOFError where it has ended."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(b"".join(map(framed, pieces)))
            self.process.stdin.flush()
        except OSError as broken:
            raise EOFError from broken

    def answer(self, end: float, stop: threading.Event | None = None) -> bytearray:
        """What it says next; TimeoutError once it is `end`, EOFError where it has ended.

        KeyboardInterrupt where somebody sets `stop`.
        """
        size = int.from_bytes(self._read(4, end, stop), "big")
        if size > ANSWER:
            raise EOFError("an answer too long to be one")
        return self._read(size, end, stop)

    def ready(self, seconds: float) -> bool:
        """Whether it says something, or ends, within so many seconds."""
        assert self.process.stdout is not None
        return bool(select.select([self.process.stdout], [], [], seconds)[0])

    def close(self) -> None:
        """End it with all that it started, whatever they do."""
        _kill(self.process)
        self.process.communicate()
        _running.discard(self.process)

    def _read(self, size: int, end: float, stop: threading.Event | None) -> bytearray:
        assert self.process.stdout is not None
        file, data, done = self.process.stdout.fileno(), bytearray(size), 0
        room = memoryview(data)
        while done < size:
            left = end - time.monotonic()
            if stop and stop.is_set():
                raise KeyboardInterrupt
            if left <= 0:
                raise TimeoutError
            if not select.select([file], [], [], min(left, TICK))[0]:
                continue
            more = os.readv(file, [room[done:]])
            if not more:
                raise EOFError
            done += more
        return data


_running: Final[set[subprocess.Popen[bytes]]] = set()
"""The processes that have not been ended."""


def kill_all() -> None:
    """End every process of ours at once, for a program that cannot wait."""
    for process in tuple(_running):
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def framed(data: bytes) -> bytes:
    """Bytes with their length before them."""
    return len(data).to_bytes(4, "big") + data


def heard(stream: BinaryIO) -> bytes | None:
    """For the child: what it is asked next, None once nobody asks any more."""
    size = stream.read(4)
    return stream.read(int.from_bytes(size, "big")) if len(size) == 4 else None


def limits(seconds: int) -> None:
    """For the child: so long until it ends, and so much memory."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with suppress(AttributeError):  # Windows has no such clock
        signal.alarm(seconds)
