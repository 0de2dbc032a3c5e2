"""No command that the agent runs finds our key in what the system shows of our processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.cli.person import sitting
from tests.cli.test_run import KEY, environment, run

LOOK = """
pid=$$
while [ "$pid" -gt 1 ]; do
  parent=$(sed 's/.*) . //' /proc/$pid/stat | cut -d' ' -f1)
  tr '\\0' '\\n' < /proc/$parent/cmdline | grep -q holdfast.cli || break
  echo "$parent" >> seen
  cat /proc/$parent/environ >> found
  pid=$parent
done
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")


def keys(server: StrictServer, place: Path) -> dict[str, str]:
    """Every variable that may hold a key of ours, each with one."""
    others = {"OPENAI_API_KEY": f"{KEY}-openai", "ANTHROPIC_AUTH_TOKEN": f"{KEY}-token"}
    return {**environment(place, server), **others, "NOT_A_KEY": "left alone"}


def found_nothing(work: Path) -> None:
    """The command looked at the program that ran it, and found everything but keys there."""
    assert (work / "seen").read_text().strip(), "it looked at nobody"
    found = (work / "found").read_bytes()
    assert KEY.encode() not in found
    assert b"NOT_A_KEY=left alone" in found or os.getuid(), "it saw the rest"


def test_in_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([answer(Ask("shell", {"command": LOOK})), answer("Looked.")])
    with StrictServer(lambda asked: next(answers)) as server:
        for name, value in keys(server, tmp_path).items():
            monkeypatch.setenv(name, value)
        done = run(tmp_path, server, "-p", "look", "--allow", "shell", "-q")
    assert done.stdout == "Looked.\n", done.stderr
    found_nothing(tmp_path / "work")


def test_in_a_chat_and_by_a_hook(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "config" / "holdfast").mkdir(parents=True)
    hook = f"[[session_start]]\ncommand = '''{LOOK}'''\n"
    (tmp_path / "config" / "holdfast" / "hooks.toml").write_text(hook)
    with StrictServer(lambda asked: answer("Well.")) as server:
        env = keys(server, tmp_path)
        with sitting("chat", place=work, env=env) as person:
            person.wait("of the window of")
            person.type("!" + LOOK.replace("\n", ";").replace("do;", "do ").strip(";"))
            person.wait("[exit status 0]")
            person.type("hello")
            person.wait("Well.")
    assert len(set((work / "seen").read_text().split())) == 1
    assert len((work / "seen").read_text().split()) == 2, "the command and the hook have looked"
    found_nothing(work)


def test_the_process_cannot_be_traced_by_others(tmp_path: Path) -> None:
    told = (
        "import ctypes; from holdfast.cli.key_concealment import conceal_keys\n"
        "before = ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)\n"
        "conceal_keys(); print(before, ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    )
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, timeout=60,
                          check=True)  # fmt: skip
    assert done.stdout == "1 0\n"


CHANGED = """
import os
from holdfast.cli.key_concealment import conceal_keys
os.environ["OPENAI_API_KEY"] += "-again"
shown = open("/proc/self/environ", "rb")  # soon it is nobody's who is not root
conceal_keys()
print(os.environ["OPENAI_API_KEY"], shown.read().count(b"sk-one"))
"""


def test_keys_that_were_changed_after_the_start_are_concealed_too() -> None:
    env = {**os.environ, "OPENAI_API_KEY": "sk-one"}
    done = subprocess.run([sys.executable, "-c", CHANGED], capture_output=True, text=True,
                          timeout=60, env=env, check=True)  # fmt: skip
    assert done.stdout == "sk-one-again 0\n"
