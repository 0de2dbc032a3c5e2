"""The fuses of tests/conftest.py blow when they should, and only then."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"])
def test_a_test_cannot_connect_to_another_machine(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as s, pytest.raises(OSError, match="may not reach the network"):
        s.connect((host, 80))


def test_a_test_cannot_look_up_a_name() -> None:
    with pytest.raises(OSError, match="may not reach the network"):
        socket.create_connection(("example.invalid", 80))


def test_a_test_can_speak_to_itself() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


def test_a_test_has_a_store_of_its_own(tmp_path: Path) -> None:
    assert Path(os.environ["HOLDFAST_STORE"]).is_relative_to(tmp_path)


def test_a_test_starts_programs_that_buffer_and_can_be_interrupted() -> None:
    child = "import os, signal; print(os.environ.get('PYTHONUNBUFFERED'), signal.getsignal(2))"
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True)
    assert done.stdout == f"None {signal.default_int_handler}\n"


HANGS = """
import threading

def test_hangs():
    threading.Event().wait()
"""


def test_a_test_that_hangs_ends_with_its_stack(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("timeout")) > 0
    (tmp_path / "test_hanging.py").write_text(HANGS, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--timeout", "1", "test_hanging.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "Timeout" in done.stdout
    assert "threading.Event().wait()" in done.stdout
