"""Running a command for the agent: bounded in time and output, without our keys.

A command is killed with all it started when its time is up, or when somebody interrupts: with its
session, and where there is /proc with what left that too, known by a mark in its environment. Its
output is taken as it comes, head and tail where it is long, and its exit status stands in the last
line.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import IO, Final, NamedTuple

from holdfast.engine.settings import KEYS

HEAD: Final = 200_000
TAIL: Final = 200_000
"""So many bytes of an output's beginning and end are kept."""

STARTING: Final = 5.0
"""No command takes longer to start, in seconds."""

MARK: Final = "HOLDFAST_COMMAND"
"""The variable that marks what a command has started, and those that run within it."""

ROUNDS: Final = 10
"""So often what is marked is looked for, as it may start more meanwhile."""

LOOKS: Final = 20
"""So often a process is looked at that shows no environment."""

LONGEST: Final = 86_400
"""No command has longer, in seconds, whatever it is given."""

TICK: Final = 0.05
"""How long it is between two looks at whether somebody has interrupted, in seconds."""


class Interrupted(KeyboardInterrupt):
    """Somebody interrupted a command; what it had said until then is kept."""

    def __init__(self, output: str) -> None:
        self.output = output
        super().__init__()


class Ended(NamedTuple):
    """How a command ended: what it said, and its status; None where its time was up."""

    output: str
    errors: str
    status: int | None


def run(command: str, directory: str, seconds: int, stop: threading.Event | None = None) -> str:
    """What a command says, and how it ended."""
    seconds = min(max(seconds, 1), LONGEST)
    ended = ran(command, directory, seconds, stop=stop)
    how = f"stopped after {seconds} s" if ended.status is None else f"exit status {ended.status}"
    return f"{ended.output}[{how}]"


def ran(
    command: str,
    directory: str,
    seconds: float,
    *,
    told: bytes = b"",
    apart: bool = False,
    stop: threading.Event | None = None,
) -> Ended:
    """Run a command to its end; `told` is its input, and `apart` keeps its errors to themselves."""
    output, errors, threads = Kept(), Kept(), list[threading.Thread]()
    starting: Future[subprocess.Popen[bytes]] = Future()
    mark, status = uuid.uuid4().hex, None
    _running[mark] = starting
    try:
        with _ending(starting, threads):
            _thread(_start, starting, mark, command, directory, bool(told), apart).start()
            started = starting.result()
            threads.append(_thread(_read, started.stdout, output))
            if apart:
                threads.append(_thread(_read, started.stderr, errors))
            if told:
                threads.append(_thread(_tell, started.stdin, told))
            for thread in threads:
                thread.start()
            try:
                status = _waited(started, min(seconds, LONGEST), stop)
            finally:  # before its output is waited for, which what left the session may hold open
                if status is None:
                    _end_marked(mark.encode())
    except KeyboardInterrupt:
        raise Interrupted(f"{output.text()}[interrupted]") from None
    finally:
        if status is None:
            _end_marked(mark.encode())
        _running.pop(mark, None)
    return Ended(output.text(), errors.text(), status)


_running: Final[dict[str, Future[subprocess.Popen[bytes]]]] = {}
"""The commands that have not ended, by their marks."""


def kill_all() -> None:
    """Kill every command with all that it started, for a program that cannot wait."""
    for starting in tuple(_running.values()):
        with suppress(TimeoutError, OSError):
            if starting.exception(STARTING / 50) is None:
                os.killpg(starting.result().pid, signal.SIGKILL)
    _end_marked(*(mark.encode() for mark in tuple(_running)))


@contextmanager
def _ending(
    starting: Future[subprocess.Popen[bytes]], threads: list[threading.Thread]
) -> Iterator[None]:
    """Whatever happens within, what was started ends."""
    try:
        yield
    finally:
        with suppress(TimeoutError):  # it was not even about to start
            if starting.exception(STARTING) is None:
                _end(starting.result(), threads)


def _thread(act: Callable[..., None], *given: object) -> threading.Thread:
    return threading.Thread(target=act, args=given, daemon=True)


def _start(
    starting: Future[subprocess.Popen[bytes]],
    mark: str,
    command: str,
    directory: str,
    told: bool,
    apart: bool,
) -> None:
    """Start a command, in a thread of its own, where no interrupt can make it unknown."""
    try:
        started = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=directory,
            env={**without_keys(), MARK: f"{os.environ.get(MARK, '')} {mark}".strip()},
            stdin=subprocess.PIPE if told else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if apart else subprocess.STDOUT,
            start_new_session=True,
        )
    except BaseException as error:  # whoever waits for it must hear of it
        starting.set_exception(error)
    else:
        starting.set_result(started)


def _waited(
    started: subprocess.Popen[bytes], seconds: float, stop: threading.Event | None
) -> int | None:
    """How it ended; None where its time was up."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        try:
            return started.wait(timeout=min(left, TICK) if stop else left)
        except subprocess.TimeoutExpired:
            if stop and stop.is_set():
                raise KeyboardInterrupt from None
    return None


def without_keys() -> dict[str, str]:
    """The environment of this process, without the keys that are ours."""
    return {name: value for name, value in os.environ.items() if name not in KEYS}


class Kept:
    """The head and the tail of what comes by."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._held = 0
        self._left = 0

    def take(self, data: bytes) -> None:
        """Take in what has come."""
        room = max(HEAD - len(self._head), 0)
        self._head += data[:room]
        rest = data[room:]
        self._tail.append(rest)
        self._held += len(rest)
        while self._held > TAIL and len(self._tail) > 1:
            gone = self._tail.popleft()
            self._held -= len(gone)
            self._left += len(gone)

    def text(self) -> str:
        """What was kept, and how much was not."""
        between = f"\n[… {self._left:,} bytes left out …]\n".encode() if self._left else b""
        data = bytes(self._head) + between + b"".join(self._tail)
        text = data.decode("utf-8", "replace")
        return text if not text or text.endswith("\n") else f"{text}\n"


def _read(pipe: IO[bytes], kept: Kept) -> None:
    with suppress(ValueError, OSError):
        while data := os.read(pipe.fileno(), 65_536):
            kept.take(data)


def _tell(pipe: IO[bytes], told: bytes) -> None:
    with suppress(ValueError, OSError), pipe:  # a command need not listen
        pipe.write(told)


def _end(started: subprocess.Popen[bytes], threads: list[threading.Thread]) -> None:
    """End a command with all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    for thread in filter(threading.Thread.is_alive, threads):
        thread.join(2)  # what is still in a pipe is part of the answer
    for pipe in filter(None, (started.stdin, started.stdout, started.stderr)):
        with suppress(OSError):  # nobody reads what was not told
            pipe.close()


def _end_marked(*marks: bytes) -> None:
    """End what commands started in sessions of their own."""
    for _ in range(ROUNDS if marks else 0):
        found = [pid for pid in _processes() if any(map(_environment(pid).__contains__, marks))]
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:  # there is no /proc
        return []


def _environment(pid: int) -> bytes:
    """With which environment a process was started; nothing where it has ended, or is not ours.

    One that is just becoming another program shows none for a moment.
    """
    with suppress(OSError):
        for _ in range(LOOKS):
            with open(f"/proc/{pid}/environ", "rb") as file:
                if found := file.read():
                    return found
            os.readlink(f"/proc/{pid}/exe")  # what has no program has ended, or is the kernel's
            time.sleep(TICK / LOOKS)
    return b""
