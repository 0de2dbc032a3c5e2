"""Nothing that is typed ends the chat but what is meant to."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.testing import StrictServer
from tools.tmux import Terminal


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Terminal]:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    with StrictServer("All right.") as server:
        made = Terminal(tmp_path, server.url("anthropic"))
        try:
            made.run("chat")
            made.wait("of the window of")
            yield made
        finally:
            made.close()


def test_a_command_that_cannot_be_started(talk: Terminal) -> None:
    shutil.rmtree(talk.work)
    talk.type("!true")
    talk.wait("error: it could not be started: [Errno 2]")
    talk.type("hello")
    talk.wait("All right.")


def test_numbers_that_are_none(talk: Terminal) -> None:
    talk.type("/pin ²")
    talk.wait("pinned: it is in every window")
    talk.paste(f"/pin {'9' * 5_000}")
    talk.press("Enter")
    seen = talk.wait("HOLDFAST_DEBUG=1")
    assert "error: this should not have happened" in seen
    talk.type("hello")
    talk.wait("All right.")
