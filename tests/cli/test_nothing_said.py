"""A chat in which nothing was said leaves no session, and nobody goes on with an empty one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.testing import StrictServer
from tests.cli.person import sitting
from tests.cli.test_run import environment, run


@pytest.mark.parametrize("how", ["Ctrl-D", "/exit", "terminal"])
def test_a_chat_that_is_opened_and_left_leaves_no_session(tmp_path: Path, how: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with StrictServer("Well.") as server:
        env = environment(tmp_path, server)
        with sitting("chat", place=work, env=env) as person:
            person.wait("of the window of")
            if how == "terminal":
                person.close()
            else:
                person.press("\x04" if how == "Ctrl-D" else "/exit\r")
                person.wait("nothing was said, so there is no session to go on with")
            person.ended(10)
    with holdfast.open(tmp_path / "log.db") as hf:
        assert hf.sessions() == ()
        assert hf.examine() == ()


def test_sessions_begun_anew_and_left_are_not_kept_either(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with StrictServer("Well.") as server:
        env = environment(tmp_path, server)
        with sitting("chat", place=work, env=env) as person:
            person.wait("of the window of")
            person.type("/clear")
            person.wait("a new session")
            person.type("hello")
            person.wait("Well.")
            person.type("/clear")
            person.wait("a new session")
            person.wait("of the window of")
            person.press("\x04")
            assert person.ended(10) == 0
    with holdfast.open(tmp_path / "log.db") as hf:
        (one,) = hf.sessions()
        assert hf.opening(one) == "hello"


def test_an_empty_session_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with holdfast.open(tmp_path / "log.db") as hf:
        id = hf.session(model="claude-sonnet-4-6", directory=work).id
    with StrictServer("Well.") as server:
        env = environment(tmp_path, server)
        with sitting("chat", "-r", id, place=work, env=env) as person:
            person.wait("of the window of")
            person.press("\x04")
            person.ended(10)
    with holdfast.open(tmp_path / "log.db") as hf:
        assert [one.id for one in hf.sessions()] == [id]


def test_going_on_skips_empty_sessions(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with StrictServer("Well.") as server, holdfast.open(tmp_path / "log.db") as hf:
        said = hf.session(model="claude-sonnet-4-6", directory=work)
        said.user("the question")
        for _ in range(3):
            hf.session(model="claude-sonnet-4-6", directory=work)
        done = run(tmp_path, server, "-c", "-p", "again", "--json")
        assert json.loads(done.stdout)["session"] == said.id
        assert "the question" in str(server.asked[-1].body)


def test_where_only_empty_sessions_are_there_is_none_to_go_on_with(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with StrictServer("Well.") as server, holdfast.open(tmp_path / "log.db") as hf:
        hf.session(model="claude-sonnet-4-6", directory=work)
        done = run(tmp_path, server, "-c", "-p", "again")
    assert done.returncode == 1
    assert "no session has worked in" in done.stderr


WORDS = {
    "file": ("something that is no directory",),
    "read-only": ("the model cannot be kept in", "XDG_DATA_HOME"),
    "full": ("the model could not be fetched",),
}


@pytest.mark.parametrize("kind", WORDS)
def test_a_model_that_cannot_be_kept_is_a_clear_error(tmp_path: Path, kind: str) -> None:
    home = tmp_path / "home"
    if kind == "file":
        home.write_text("no directory")
    else:
        (home / "holdfast" / "models").mkdir(parents=True, mode=0o700)
    if kind == "read-only":
        (home / "holdfast" / "models").chmod(0o500)
        if os.access(home / "holdfast" / "models", os.W_OK):
            home = Path("/sys")  # nobody can write there, root neither
    limit = "ulimit -f 1; " if kind == "full" else ""
    told = f"{limit}exec {sys.executable} -m holdfast.cli models pull"
    env = {**os.environ, "XDG_DATA_HOME": str(home), "PIP_NO_INDEX": "1"}
    done = subprocess.run(["sh", "-c", told], cwd=tmp_path, env=env, capture_output=True, text=True,
                          timeout=60, check=False)  # fmt: skip
    assert done.returncode == 1
    assert "should not have happened" not in done.stderr
    assert "Traceback" not in done.stderr
    said = " ".join(done.stderr.split())
    assert [words for words in WORDS[kind] if words not in said] == []
