"""Whoever has no key is told so before anything is written for the model it would open."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.files import data_home
from holdfast.providers.weights import SIZE, place
from holdfast.testing import StrictServer
from tools.tmux import Terminal

PROGRAM = (sys.executable, "-m", "holdfast.cli")


def command(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if "_API_KEY" not in name}
    env |= {"HOLDFAST_STORE": str(tmp_path / "log.db"), "HOLDFAST_MODEL": "",
            "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}  # fmt: skip
    return subprocess.run(
        [*PROGRAM, *words], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60
    )


def kept(tmp_path: Path) -> list[tuple[str, int]]:
    with holdfast.open(tmp_path / "log.db") as hf:
        return [(one.model, one.head) for one in hf.sessions()]


@pytest.mark.parametrize("words", [(), ("-m", "gpt-5"), ("-m", "absent.gguf")])
def test_a_run_that_cannot_begin_leaves_no_session(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = command(tmp_path, "run", "-p", "hi", *words)
    assert done.returncode == 1
    assert "error: " in done.stderr
    assert kept(tmp_path) == []
    told = command(tmp_path, "run", "-p", "hi", "--json", *words)
    assert json.loads(told.stdout.splitlines()[-1])["type"] == "error"


def test_a_session_of_a_model_without_a_key_is_left_as_it_is(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        id = hf.session(model="gpt-5", directory=tmp_path).user("hello").session
    for more in ((), ("--fork",)):
        done = command(tmp_path, "run", "-r", id, "-p", "hi", *more)
        assert "no key for openai, so gpt-5 cannot be asked" in done.stderr
        assert "OPENAI_API_KEY, or name another model" in done.stderr
        assert "-m smollm2-135m" in done.stderr
        assert "holdfast models pull" in done.stderr
    weights = tmp_path / place().relative_to(data_home().parent)
    weights.parent.mkdir(parents=True)
    weights.touch()
    os.truncate(weights, SIZE)
    here = command(tmp_path, "run", "-r", id, "-p", "hi").stderr
    assert "-m smollm2-135m, small and on this machine, wants none" in here
    assert "models pull" not in here
    assert kept(tmp_path) == [("gpt-5", 1)]


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Terminal]:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    with StrictServer(lambda asked: "All right.") as server:
        made = Terminal(tmp_path, server.url("anthropic"))
        try:
            yield made
        finally:
            made.close()


def test_a_chat_stays_with_its_model_where_the_other_has_no_key(
    screen: Terminal, tmp_path: Path
) -> None:
    screen.run("chat")
    screen.wait("of the window of")
    screen.type("hello")
    screen.wait("All right.")
    (before,) = kept(tmp_path)
    screen.type("/model gpt-5")
    screen.wait("error: no key for openai, so gpt-5 cannot be asked")
    assert kept(tmp_path) == [before]
    screen.type("hello again")
    screen.wait("All right.", 2)


def test_a_chat_does_not_begin_without_a_key(screen: Terminal, tmp_path: Path) -> None:
    screen.run("chat", "-m", "gpt-5")
    screen.wait("no key for openai")
    assert kept(tmp_path) == []
