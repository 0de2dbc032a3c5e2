"""The server that forks the children of the fault rows ends with the module that started it."""

from collections.abc import Iterator
from multiprocessing import forkserver

import pytest


@pytest.fixture(autouse=True, scope="module")
def fork_server_ended() -> Iterator[None]:
    """It would live as long as the tests do, and count as a process that a test has left."""
    yield
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
