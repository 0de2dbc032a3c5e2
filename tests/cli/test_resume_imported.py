"""An imported session goes on in the chat and in a run, as any other."""

import shutil
from pathlib import Path

import pytest

import holdfast
from holdfast.testing import StrictServer
from tests.cli.test_run import run
from tests.importers.looking import bring, only
from tests.importers.writing import story
from tools.tmux import Terminal

SAID = ("The roof was mended and painted blue.", "What is left?", "Nothing is left.")


def imported(tmp_path: Path) -> str:
    with holdfast.open(tmp_path / "log.db") as hf:
        bring(hf, story().write(tmp_path / "p"))
        return only(hf).id


def heard(server: StrictServer) -> None:
    """The model was asked once, with all that was visible before, and nothing was refused."""
    assert [one.refusal for one in server.refused] == []
    asked = next(one for one in server.asked if "Go on, please." in str(one.body))
    assert [words for words in SAID if words not in str(asked.body)] == []


def test_it_goes_on_in_a_run(tmp_path: Path) -> None:
    id = imported(tmp_path)
    with StrictServer("So be it.") as server:
        done = run(tmp_path, server, "-r", id, "-p", "Go on, please.")
        assert done.stdout == "So be it.\n", done.stderr
        assert f"/home/me/project is not on this machine; the work goes on in {tmp_path}" in (
            done.stderr
        )
        heard(server)
    with holdfast.open(tmp_path / "log.db") as hf:
        assert hf.session(id).entry(hf.session(id).info.head).model == "claude-sonnet-4-6"


def test_it_goes_on_in_the_chat(tmp_path: Path) -> None:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    id = imported(tmp_path)
    with StrictServer("So be it.") as server:
        talk = Terminal(tmp_path, server.url("anthropic"))
        try:
            talk.run("chat", "--resume", id)
            talk.wait("of the window of")
            assert "only in 1 summary" in talk.screen()
            assert "/home/me/project is not on this machine" in talk.screen()
            assert "claude-sonnet-4-6 · /home/me/project" not in talk.screen()
            talk.type("Go on, please.")
            talk.wait("So be it.")
        finally:
            talk.close()
        heard(server)
