"""Whatever a call asks for, it is answered, and nothing of it runs on or is kept unseen."""

import _thread
import os
import subprocess
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from holdfast.agent.hooks import Hooks, hooks
from holdfast.agent.tools import shell
from holdfast.agent.tools.shell import Interrupted, ran
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer, in_order
from tests.agent.opening import agent, results


def gone(pid: int) -> bool:
    """Whether a process has ended, or ends in a while."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("timeout", [10**400, -(10**400), 10**12])
def test_a_time_of_any_length_is_a_time(tmp_path: Path, timeout: int) -> None:
    script = in_order(answer(Ask("shell", {"command": "echo hi", "timeout": timeout})), "So.")
    with StrictServer(script) as server, agent(tmp_path, server, allow=("shell",)) as made:
        made.turn("go")
        assert [one.output for one in results(made)] == ["hi\n[exit status 0]"]


def test_what_was_started_ends_whatever_goes_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        while not (tmp_path / "pid").exists():
            pass
        raise RuntimeError("broken")

    monkeypatch.setattr(shell, "_waited", broken)
    with pytest.raises(RuntimeError, match="broken"):
        ran("echo $$ > new; mv new pid; sleep 60", str(tmp_path), 60)
    assert gone(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc")
def test_what_left_the_session_of_a_command_ends_with_it_and_only_if_it_is_ended(
    tmp_path: Path,
) -> None:
    away = "setsid sh -c 'echo $$ > new; mv new pid; exec sleep 60' & "
    away += "while ! test -e pid; do :; done; "
    stop = threading.Event()

    def begun() -> None:
        while not (tmp_path / "pid").exists():
            time.sleep(0.01)
        stop.set()

    threading.Thread(target=begun, daemon=True).start()
    with pytest.raises(Interrupted):
        ran(f"{away} sleep 60", str(tmp_path), 60, stop=stop)
    assert gone(int((tmp_path / "pid").read_text()))
    (tmp_path / "pid").unlink()
    assert ran(f"({away}) >/dev/null 2>&1", str(tmp_path), 60).status == 0
    left = int((tmp_path / "pid").read_text())
    os.kill(left, 9)
    assert gone(left)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc")
def test_what_is_just_becoming_another_program_is_known_by_its_mark(tmp_path: Path) -> None:
    (tmp_path / "again").write_text("exec sh again\n")  # it does so all the time
    with subprocess.Popen(["sh", "again"], cwd=tmp_path, env={**os.environ, "MARK": "m"}) as made:
        try:
            looks = [shell._environment(made.pid) for _ in range(500)]  # type: ignore[reportPrivateUsage]
        finally:
            made.kill()
    assert all(b"MARK=m" in found for found in looks)
    assert shell._environment(made.pid) == b""  # type: ignore[reportPrivateUsage]


def test_a_command_that_cannot_be_started_is_not_waited_for(tmp_path: Path) -> None:
    starting: Future[Any] = Future()
    odd: Any = object()
    shell._start(starting, "mark", "true", odd, False, False)  # type: ignore[reportPrivateUsage]
    assert isinstance(starting.exception(0), TypeError)


def test_an_odd_offset_into_a_subtask_is_told(tmp_path: Path) -> None:
    with StrictServer(lambda asked: next(answers)) as server, agent(tmp_path, server) as made:
        child = made.session.subtask("a part")
        child.user("something")
        odd = Ask("recall", {"handle": child.id, "offset": [1]})
        answers = iter([answer(odd), answer("I see.")])
        made.turn("go")
        (told,) = results(made)
        assert told.error
        assert "its offset as a whole number" in told.output


def test_a_tool_that_breaks_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise RecursionError("too deep")

    monkeypatch.setattr(Toolbox, "run", broken)
    script = in_order(answer(Ask("read", {"path": "a"})), "I see.")
    with StrictServer(script) as server, agent(tmp_path, server) as made:
        made.turn("go")
        (told,) = results(made)
        assert told.error
        assert told.output == "read failed: RecursionError: too deep"


def masking(tmp_path: Path) -> Hooks:
    """A hook that is never done."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("the secret\n")
    file = tmp_path / "hooks.toml"
    file.write_text('[[tool_output]]\ncommand = "touch seen; sleep 60"\nseconds = 60\n')
    return hooks(str(tmp_path / "work"), file)


@pytest.mark.parametrize(
    ("call", "until", "told"),
    [
        (Ask("read", {"path": "a.txt"}), "seen", "[this was done; its output is left out"),
        (Ask("shell", {"command": "cat a.txt; touch begun; sleep 60"}), "begun", "[interrupted; "),
    ],
)
def test_nothing_is_kept_of_what_a_hook_did_not_see(
    tmp_path: Path, call: Ask, until: str, told: str
) -> None:
    def interrupt() -> None:
        while not (tmp_path / "work" / until).exists():
            pass
        _thread.interrupt_main()

    made = masking(tmp_path)
    with (
        StrictServer(in_order(answer(call), "All right.")) as server,
        agent(tmp_path, server, allow=("shell",), hooks=made) as at_work,
    ):
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            at_work.turn("go")
        (found,) = results(at_work)
        assert found.output.startswith(told)
        assert "secret" not in found.output
        assert found.error
