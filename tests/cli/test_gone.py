"""A chat whose terminal is gone ends within a second, wherever it is, and leaves nothing behind."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.model.message import Message
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.cli.person import Person, all_gone, sitting
from tests.cli.test_run import environment
from tools.tmux import Terminal

SECONDS = 3.0
"""It takes less than one; the rest is for a machine that has much else to do."""

APART = "setsid sleep 600 & echo $! > apart"
BUSY = f"{APART}; sleep 600 & echo $! > child; touch begun; wait"
STUBBORN = f"trap '' TERM HUP INT; {BUSY}; sleep 600"

LOADING = """
import ctypes, os
class CommonParams:
    def __getattr__(self, name):
        setattr(self, name, CommonParams())
        return getattr(self, name)
class Server:
    def __init__(self, told):
        open(os.environ["TMPDIR"] + "/begun", "w").write(str(os.getpid()))
        ctypes.PyDLL(None).sleep(600)  # holds the interpreter, as loading does
"""


def script(asked: Any) -> Any:
    if not asked.body.get("tools"):
        return answer("never", delay=60)
    said = str(asked.body["messages"][-1]["content"])
    told = {
        "silence": answer("never", delay=60),
        "at length": answer("word " * 3_000, pace=0.05),
        "run it": answer(Ask("shell", {"command": STUBBORN})),
        "search": answer(Ask("grep", {"pattern": "(a+)+$"})),
        "busy": answer(status=429, error="busy", headers={"retry-after": "40"}),
    }
    return next((made for words, made in told.items() if words in said), answer("Well."))


def begun(work: Path) -> None:
    end = time.monotonic() + 60
    while not (work / "begun").exists():
        assert time.monotonic() < end
        time.sleep(0.01)


def at_the_prompt(person: Person, work: Path) -> None:
    person.wait("of the window of")


def with_something_typed(person: Person, work: Path) -> None:
    at_the_prompt(person, work)
    person.press("half a sen")
    person.wait("half a sen")


def waiting_for_a_word(person: Person, work: Path) -> None:
    at_the_prompt(person, work)
    person.type("silence")
    person.wait("thinking…")


def waiting_to_try_again(person: Person, work: Path) -> None:
    at_the_prompt(person, work)
    person.type("busy")
    person.wait("to try again…")


def streaming(person: Person, work: Path) -> None:
    at_the_prompt(person, work)
    person.type("at length")
    person.wait("writing…")


def asked_for_consent(person: Person, work: Path) -> None:
    at_the_prompt(person, work)
    person.type("run it")
    person.wait("then Enter")


def running_a_tool(person: Person, work: Path) -> None:
    asked_for_consent(person, work)
    person.type("y")
    begun(work)


def running_a_command(person: Person, work: Path) -> None:
    at_the_prompt(person, work)
    person.type(f"!{STUBBORN}")
    begun(work)


def searching(person: Person, work: Path) -> None:
    (work / "long.txt").write_text("a" * 60 + "!\n")
    at_the_prompt(person, work)
    person.type("search")
    person.wait("grep")


def summarising(person: Person, work: Path) -> None:
    at_the_prompt(person, work)
    person.type("/compact")
    person.wait("compacting…")


def loading(person: Person, work: Path) -> None:
    person.wait("loading small.gguf…")
    begun(work)


PLACES = (
    at_the_prompt, with_something_typed, waiting_for_a_word, waiting_to_try_again, streaming,
    asked_for_consent, running_a_tool, running_a_command, searching, summarising, loading,
)  # fmt: skip


def words_of(where: Callable[..., None]) -> tuple[str, ...]:
    return {loading: ("-m", "small.gguf"), summarising: ("-c",)}.get(where, ())


@pytest.fixture
def place(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "small.gguf").write_bytes(b"GGUF")
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "xllamacpp.py").write_text(LOADING)
    return work


def surroundings(place: Path, server: StrictServer) -> dict[str, str]:
    home = place.parent
    path = os.pathsep.join(filter(None, (str(home / "fake"), os.environ.get("PYTHONPATH"))))
    more = {"PYTHONPATH": path, "TMPDIR": str(place), "HOME": str(home)}
    return {**environment(home, server), **more}


def conversation(place: Path) -> None:
    with holdfast.open(place.parent / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6", directory=place)
        for n in range(20):
            s.user(f"question {n} " + "word " * 300)
            s.append(holdfast.assistant(f"answer {n} " + "word " * 300))


def left_behind(person: Person, family: list[int], work: Path) -> list[int]:
    """What is still there of all that the chat has started."""
    named = [work / name for name in ("child", "apart")]
    told = [int(file.read_text()) for file in named if file.exists()]
    return all_gone([*family, *told])


def sound(store: Path) -> None:
    """The log is whole, and every session of it can be gone on with."""
    with holdfast.open(store) as hf:
        assert hf.examine() == ()
        for one in hf.sessions():
            s = hf.session(one.id)
            s.user("go on")
            assert s.window(model="claude-sonnet-4-6").request("anthropic")["messages"]


UNTOLD = (at_the_prompt, streaming, running_a_tool)


@pytest.mark.parametrize(
    ("where", "hangup"),
    [*((where, True) for where in PLACES), *((where, False) for where in UNTOLD)],
    ids=lambda one: getattr(one, "__name__", "told" if one else "untold"),
)
def test_it_ends_when_its_terminal_is_gone(
    place: Path, where: Callable[[Person, Path], None], hangup: bool
) -> None:
    if where is summarising:
        conversation(place)
    with StrictServer(script) as server:
        env = surroundings(place, server)
        words = ("chat", *words_of(where))
        with sitting(*words, place=place, env=env, hangup=hangup) as person:
            where(person, place)
            family = person.family()
            person.close()
            status = person.ended(SECONDS)
            assert left_behind(person, family, place) == []
    assert status == 129
    sound(place.parent / "log.db")


@pytest.mark.parametrize("where", [at_the_prompt, running_a_tool], ids=lambda one: one.__name__)
def test_sigterm_ends_it_and_the_terminal_is_as_it_was(
    place: Path, where: Callable[[Person, Path], None]
) -> None:
    with StrictServer(script) as server:
        env = surroundings(place, server)
        with sitting("chat", *words_of(where), place=place, env=env) as person:
            where(person, place)
            family = person.family()
            person.process.send_signal(signal.SIGTERM)
            assert person.ended(SECONDS) == 143
            assert left_behind(person, family, place) == []
    sound(place.parent / "log.db")


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_loads_a_model_can_be_interrupted(place: Path, told: signal.Signals) -> None:
    with StrictServer(script) as server:
        env = surroundings(place, server)
        words = ("run", "-m", "small.gguf", "-p", "hello")
        with sitting(*words, place=place, env=env) as person:
            loading(person, place)
            family = person.family()
            person.process.send_signal(told)
            assert person.ended(SECONDS) == 128 + told
            assert left_behind(person, family, place) == []


def test_what_loads_a_model_ends_with_its_process_however_that_ends(place: Path) -> None:
    with StrictServer(script) as server:
        env = surroundings(place, server)
        with sitting("run", "-m", "small.gguf", "-p", "hi", place=place, env=env) as person:
            loading(person, place)
            family = person.family()
            assert len(family) == 2, "one loads, the other watches"
            person.process.kill()
            assert left_behind(person, family, place) == []


def test_ctrl_c_leaves_a_chat_whose_model_is_loading(place: Path) -> None:
    with StrictServer(script) as server:
        env = surroundings(place, server)
        with sitting("chat", "-m", "small.gguf", place=place, env=env) as person:
            person.wait("loading small.gguf… 1 s")
            family = person.family()
            person.press("\x03")
            assert person.ended(SECONDS) == 130
            assert left_behind(person, family, place) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("raise RuntimeError('no such layer')", "cannot be loaded: no such layer"),
        ("os.abort()", "cannot be loaded: its process ended"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_an_error(place: Path, wrong: str, words: str) -> None:
    file = place.parent / "fake" / "xllamacpp.py"
    file.write_text(LOADING.replace("ctypes.PyDLL(None).sleep(600)", wrong))
    with StrictServer(script) as server:
        done = subprocess.run(
            [sys.executable, "-m", "holdfast.cli", "run", "-m", "small.gguf", "-p", "hi"],
            cwd=place, env=surroundings(place, server), capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert words in done.stderr
    assert "whether it is a GGUF file" in done.stderr


def test_what_does_not_end_in_time_is_not_waited_for() -> None:
    from holdfast.cli.chat.signals import PROMPT

    assert PROMPT < 1


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_waits_for_a_step_and_is_not_lost(told: signal.Signals) -> None:
    from holdfast.cli.chat.signals import interrupts_wait

    done: list[str] = []

    def step() -> None:
        with interrupts_wait():
            signal.raise_signal(told)
            done.append("the step")

    before = signal.signal(told, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            step()
        assert signal.getsignal(told) is signal.default_int_handler
    finally:
        signal.signal(told, before)
    assert done == ["the step"]


def test_a_session_of_tmux_that_is_killed_ends_its_chat(tmp_path: Path) -> None:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    with StrictServer(script) as server:
        talk = Terminal(tmp_path, server.url("anthropic"))
        try:
            talk.run("chat", "--allow", "shell")
            talk.wait("of the window of")
            talk.type("!echo $PPID > agent")
            talk.wait("[exit status 0]")
            talk.type("run it")
            begun(talk.work)
            talk._tmux("kill-session")  # type: ignore[reportPrivateUsage]
        finally:
            talk.close()
    pids = [int((talk.work / name).read_text()) for name in ("agent", "child", "apart")]
    assert all_gone(pids, SECONDS) == []
    with holdfast.open(tmp_path / "log.db") as hf:
        (one,) = hf.sessions()
        said = [entry.body for entry in hf.session(one.id).entries()]
        assert any(isinstance(body, Message) and "run it" in body.text for body in said)
    sound(tmp_path / "log.db")
