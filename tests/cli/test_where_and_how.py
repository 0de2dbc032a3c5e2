"""Going on where one is, being told to end, and warnings as plain sentences."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.cli.test_run import environment
from tests.cli.test_run_again import begun
from tools.tmux import Terminal

LONG = "echo $$ > parent; echo $PPID > agent; sleep 600 & echo $! > child; touch begun; wait"


def run(place: Path, server: StrictServer, *words: str) -> subprocess.CompletedProcess[str]:
    """A run in one of several directories beside each other, with one store."""
    place.mkdir(exist_ok=True)
    told = [sys.executable, "-m", "holdfast.cli", "run", *words]
    env = environment(place.parent, server)
    return subprocess.run(told, cwd=place, env=env, capture_output=True, text=True, timeout=60)


def session_of(done: subprocess.CompletedProcess[str]) -> str:
    return str(json.loads(done.stdout)["session"])


def test_it_goes_on_with_the_last_session_of_this_directory(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    with StrictServer("fine") as server:
        in_a = session_of(run(a, server, "-p", "one", "--json"))
        none = run(b, server, "-c", "-p", "two", "--json")
        assert none.returncode == 1
        assert f"no session has worked in {b} yet" in none.stderr
        assert "-r SESSION" in none.stderr
        assert "`holdfast sessions`" in none.stderr
        in_b = session_of(run(b, server, "-p", "three", "--json"))
        assert session_of(run(a, server, "-c", "-p", "four", "--json")) == in_a
        assert session_of(run(b, server, "-c", "-p", "five", "--json")) == in_b
        assert "it works in" not in run(b, server, "-c", "-p", "six").stderr


def test_a_session_of_elsewhere_says_where_it_works(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    write = answer(Ask("write", {"path": "made", "content": "x"}))
    answers = iter(["fine", write, "done", "done"])
    with StrictServer(lambda asked: next(answers)) as server:
        id = session_of(run(a, server, "-p", "one", "--json"))
        done = run(b, server, "-r", id, "-p", "two", "--allow", "write")
        assert f"it works in {a}\n" in done.stderr
        assert (a / "made").exists()
        assert not (b / "made").exists()
        told = json.loads(run(b, server, "-r", id, "-p", "three", "--json").stdout)
        assert told["loaded"]["directory"] == str(a)


def gone(pid: str) -> bool:
    """Whether a process has ended; what is only waited for no more has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def ended(work: Path) -> None:
    """Everything that was begun comes to its end."""
    pids = [(work / name).read_text().strip() for name in ("parent", "child")]
    end = time.monotonic() + 30
    while not all(map(gone, pids)):
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.usefixtures("hangups")
@pytest.mark.parametrize(("told", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_a_run_with_all_it_started(
    tmp_path: Path, told: signal.Signals, status: int
) -> None:
    answers = iter([answer(Ask("shell", {"command": LONG})), answer("All right.")])
    with StrictServer(lambda asked: next(answers)) as server:
        running = begun(tmp_path, server, "-p", "long", "--json", "--allow", "shell")
        while not (tmp_path / "work" / "begun").exists():
            pass
        os.kill(running.pid, told)
        said, wrong = running.communicate(timeout=30)
        assert running.returncode == status, wrong
        assert json.loads(said.splitlines()[-1])["type"] == "interrupted"
        assert "Traceback" not in wrong
        ended(tmp_path / "work")
        done = run(tmp_path / "work", server, "-c", "-p", "never mind")
        assert done.stdout == "All right.\n", done.stderr
        assert "turn_aborted" in str(server.asked[-1].body)
        assert not [one.rule for one in server.asked if one.rule]
    with holdfast.open(tmp_path / "log.db") as hf:
        assert hf.examine() == ()


def test_what_is_to_outlive_its_terminal_does(tmp_path: Path) -> None:
    wait = "touch begun; while [ ! -e go ]; do sleep 0.02; done"
    answers = iter([answer(Ask("shell", {"command": wait})), answer("All right.")])
    with StrictServer(lambda asked: next(answers)) as server:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
        try:
            running = begun(tmp_path, server, "-p", "long", "--allow", "shell")
        finally:
            signal.signal(signal.SIGHUP, before)
        while not (tmp_path / "work" / "begun").exists():
            pass
        os.kill(running.pid, signal.SIGHUP)
        (tmp_path / "work" / "go").touch()
        said, _ = running.communicate(timeout=30)
        assert (said, running.returncode) == ("All right.\n", 0)


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Terminal]:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    with StrictServer(lambda asked: answer(Ask("shell", {"command": LONG}))) as server:
        made = Terminal(tmp_path, server.url("anthropic"))
        try:
            made.run("chat", "--allow", "shell")
            made.wait("of the window of")
            yield made
        finally:
            made.close()


@pytest.mark.parametrize("busy", [True, False])
def test_sigterm_ends_a_chat(talk: Terminal, busy: bool) -> None:
    if busy:
        talk.type("work for long")
    else:
        talk.type("!echo $PPID > agent; touch begun")
        talk.wait("[exit status 0]")
    while not (talk.work / "begun").exists():
        pass
    os.kill(int((talk.work / "agent").read_text()), signal.SIGTERM)
    talk.wait("holdfast chat -c goes on")
    talk.type("echo left with $?")
    talk.wait("left with 143")
    assert talk.echoes()
    if busy:
        ended(talk.work)


def test_a_terminal_that_goes_away_ends_a_chat_with_all_it_started(
    talk: Terminal, tmp_path: Path
) -> None:
    talk.type("work for long")
    while not (talk.work / "begun").exists():
        pass
    agent = (talk.work / "agent").read_text().strip()
    talk.close()
    ended(talk.work)
    until = time.monotonic() + 30
    while not gone(agent):
        assert time.monotonic() < until
        time.sleep(0.02)
    with holdfast.open(tmp_path / "log.db") as hf:
        assert hf.examine() == ()
        said = [str(one.body) for one in hf.session(hf.sessions()[0].id).entries()]
        assert "turn_aborted" in said[-1]
        assert "[interrupted]" in said[-2]


def test_warnings_are_plain_sentences(tmp_path: Path) -> None:
    with StrictServer("fine") as server:
        done = run(tmp_path / "work", server, "-m", "claude-of-tomorrow", "-p", "hello")
    assert done.stdout == "fine\n"
    (assumed,) = [line for line in done.stderr.splitlines() if "is known of" in line]
    assert assumed.startswith("nothing is known of the model 'claude-of-tomorrow': it is taken to")
    assert "Warning" not in done.stderr
