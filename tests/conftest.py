"""Fuses for every test: a store of its own, a bare environment, and no way out to the network."""

import gc
import ipaddress
import os
import signal
import socket
import sys
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.thorough import share

# How long an example takes is a matter of the machine: speed is measured in bench/, never here.
hypothesis.settings.register_profile("house", deadline=None, max_examples=share(100, of=2))
hypothesis.settings.load_profile("house")

ROOT = Path(__file__).resolve().parents[1]
MARK = "HOLDFAST_TESTED_BY"
RESOURCE_TRACKER = b"multiprocessing.resource_tracker"
"""It ends with the tests themselves."""
SHARED_DATA = (ROOT.parent / "shared" / "data").resolve()


def pytest_configure() -> None:
    """Whatever a test starts, and what that starts, is known by a mark of its own."""
    os.environ[MARK] = uuid.uuid4().hex


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """What a test leaves unclosed, in a cycle too, is warned of while it is that test's turn.

    What stays is looked through once for each module: each time would take most of the time.
    """
    yield
    if nextitem is None or nextitem.path != item.path:
        gc.unfreeze()
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def processes_ended() -> Iterator[None]:
    """What the tests of a module start has ended when they have; that may take a moment."""
    yield
    end = time.monotonic() + 10
    while left := processes():
        if time.monotonic() > end:
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            pytest.fail(f"left running by a test of this module: {[*left.values()]}")
        time.sleep(0.05)


@pytest.fixture(autouse=True)
def sockets_closed() -> Iterator[None]:
    """A test closes the sockets it opens, and so the clients of SDKs that it makes.

    One that is left is closed whenever memory is cleaned up, with a warning for the test that
    happens to run by then. What another thread closes may take a moment.
    """
    before, end = sockets(), 0.0
    yield
    while left := sockets() - before:
        end = end or time.monotonic() + 10
        assert time.monotonic() < end, f"{len(left)} sockets were left open by this test"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test ever opens the store of the person who runs it."""
    store = tmp_path / "holdfast" / "store.db"
    monkeypatch.setenv("HOLDFAST_STORE", str(store))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return store


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that a test starts buffer their output, and warn, as they do for any user.

    `holdfast` is on PATH, as it is for whoever has installed it: hints name it just so. What
    other servers run on this machine is no matter of theirs.
    """
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("HOLDFAST_LOCAL_PORTS", "none")
    monkeypatch.setenv("HOLDFAST_MEMORY", "off")  # a test that is about notes switches them on
    for name in ("PYTHONUNBUFFERED", "PYTHONWARNINGS", "PYTHONDEVMODE", "PYTHONIOENCODING"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Ctrl-C acts on a test and on what it starts, also where the tests run in the background.

    A shell starts background jobs with SIGINT ignored, and programs inherit that. A hangup stays
    ignored where it is, for `nohup make test` must outlive its terminal: the tests that send one
    take `hangups`.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def hangups() -> Iterator[None]:
    """A hangup acts on what a test starts, also under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets reach this machine only; anything else fails at once and names where it wanted."""
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, guarded(getattr(socket.socket, name)))
    lookup = socket.getaddrinfo

    def local_lookup(host: str | bytes | None, *args: Any, **kwargs: Any) -> Any:
        refuse_unless_loopback(host)
        return lookup(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", local_lookup)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Recorded transcripts and test sets, kept beside the repository because of their size."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"recorded data is missing: no directory ../shared/data beside {ROOT.name}")
    return SHARED_DATA


def sockets() -> set[str]:
    """The sockets that this process has open, where there is /proc."""
    found: set[str] = set()
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc/self/fd"):
            with suppress(FileNotFoundError):
                found.add(os.readlink(f"/proc/self/fd/{name}"))
    return {link for link in found if link.startswith("socket:")}


def processes() -> dict[int, str]:
    """The processes that tests here have started and that run, where there is /proc."""
    found: dict[int, str] = {}
    mark = f"{MARK}={os.environ[MARK]}".encode()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "cmdline").read_bytes().replace(b"\0", b" ")
            ours = mark in (place / "environ").read_bytes().split(b"\0")
            if ours and RESOURCE_TRACKER not in words:
                found[int(place.name)] = words.decode("utf-8", "replace")
    return found


def guarded(connect: Callable[..., Any]) -> Callable[..., Any]:
    def local_connect(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            refuse_unless_loopback(address[0])
        return connect(self, address)

    return local_connect


def refuse_unless_loopback(host: str | bytes | None) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return
    try:
        local = ipaddress.ip_address(name).is_loopback
    except ValueError:
        local = False
    if not local:
        raise OSError(f"tests may not reach the network: {name}")
