"""The process that runs tests over a mutated copy: it imports and collects once, and then it forks.

It reads one question a line and answers with one line. Each stage of a question runs in a child
with a process group of its own and with limits on processor time, memory and the clock; whatever
the child leaves behind is killed. Where test files are named, it collects their tests before the
first fork, and a mutant is grafted into what is imported already; otherwise the child imports the
package with the mutant in it.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.mutants.grafting import functions, graft

HEAVY = ("pytest", "hypothesis", "hypothesis.stateful", "msgspec", "apsw", "click.testing",
         "rich.console", "rich.table", "httpx2", "tiktoken", "asyncio", "sqlite3", "anthropic",
         "openai", "google.genai", "prompt_toolkit", "numpy")  # fmt: skip
QUIETLY = ["-x", "-q", "-p", "no:cacheprovider", "--basetemp=.tests"]
if find_spec("pytest_timeout"):
    QUIETLY += ["-p", "pytest_timeout", "--timeout=0"]  # the limits here are others

PROCESSOR, CLOCK = 20.0, 60.0
"""Seconds granted beyond what the tests took when they were collected."""

SLOWER = 6
"""And how many times as long as then they may take: the machine may be busy."""

MEMORY = 8 << 30
SUBREAPER = 36
COLD = 71
"""How a child ends that cannot graft the mutant."""


def main(files: list[str]) -> None:
    """Answer questions until there are no more; warm, where test files are named."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    # Finding the plug-ins of everything that is installed takes longer than most tests.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    questions, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    for name in () if files else HEAVY:  # what tests import is known once they are collected
        with suppress(ImportError):
            importlib.import_module(name)
    warm = Warm(files) if files else None
    answers.write("ready\n")
    answers.flush()
    for line in questions:
        answers.write(json.dumps(judge(warm, **json.loads(line))) + "\n")
        answers.flush()


class Warm:
    """Tests that are collected, and the mutant to be grafted into what they imported."""

    def __init__(self, files: list[str]) -> None:
        from _pytest.config import _prepareconfig  # type: ignore[reportPrivateUsage]
        from _pytest.main import Session

        from tests.mutants.ordering import Ordering

        config = _prepareconfig([*QUIETLY, *files], [Ordering()])
        config._do_configure()  # type: ignore[reportPrivateUsage]
        self.session = Session.from_config(config)
        config.hook.pytest_sessionstart(session=self.session)
        config.hook.pytest_collection(session=self.session)
        self.items = {item.nodeid: item for item in self.session.items}
        self.functions = functions(str(Path("src").resolve()))
        gc.freeze()  # a child that never looks at all this never has to copy it

    def run(self, tests: list[str], said: Path, mutant: dict[str, str]) -> int:
        """Run these tests, up to the first that fails."""
        if mutant:
            made = self.functions.get(mutant["file"], [])
            texts = mutant["source"].encode(), mutant["mutated"].encode()
            if not graft(made, mutant["file"], *texts):
                return COLD
        chosen = [self.items[test] for test in tests if test in self.items]
        self.session.items[:] = chosen
        for item, following in zip(chosen, [*chosen[1:], None], strict=False):
            said.write_text(item.nodeid)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.session.testsfailed:
                return 1
        return 0


def judge(
    warm: Warm | None, stages: list[list[str]], seconds: float, mutant: dict[str, str] | None = None
) -> dict[str, Any]:
    """Run the stages until one fails; says which test failed, or how the run ended."""
    began = time.perf_counter()
    caught = ""
    for stage in stages:
        if caught := _stage(warm, stage, seconds, mutant or {}):
            break
    return {"caught": caught, "seconds": round(time.perf_counter() - began, 1)}


def _stage(warm: Warm | None, tests: list[str], seconds: float, mutant: dict[str, str]) -> str:
    said = Path("said").resolve()
    said.write_text("died before its first test")
    child = os.fork()
    if not child:
        _child(warm, tests, said, seconds, mutant)
    status = _wait(child, CLOCK + SLOWER * seconds)
    _sweep(child)
    if status is None:
        return f"time: {said.read_text()}"
    if status == COLD << 8:
        return "cold"
    return "" if status == 0 else f"{_ending(status)}{said.read_text()}"


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return "time: " if name == "SIGXCPU" else f"{name}: "
    return ""


def _child(
    warm: Warm | None, tests: list[str], said: Path, seconds: float, mutant: dict[str, str]
) -> None:
    """Run the tests in this order; never returns."""
    os.setsid()
    os.dup2(1, 2)
    processor = int(PROCESSOR + SLOWER * seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (processor, processor + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    status = 70
    try:
        status = warm.run(tests, said, mutant) if warm else _cold(tests, said)
    finally:
        os._exit(status)


def _cold(tests: list[str], said: Path) -> int:
    import pytest

    from tests.mutants.ordering import Ordering

    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    ended = pytest.main([*QUIETLY, *files], [Ordering(tests, said)])
    return 0 if ended == pytest.ExitCode.NO_TESTS_COLLECTED else int(ended)


def _wait(child: int, seconds: float) -> int | None:
    """The status the child ended with, or nothing when its time was over."""
    end = time.monotonic() + seconds
    pause = 0.001
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    return None


def _sweep(child: int) -> None:
    """Kill the child's group, and every process that came to us because its parent is gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    for _ in range(1000):
        for orphan in _children():
            with suppress(ProcessLookupError):
                os.kill(orphan, signal.SIGKILL)
        try:
            done, _status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not done:
            time.sleep(0.005)


def _children() -> list[int]:
    """Who has this process as parent, where the system says so."""
    try:
        return [int(n) for n in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []


if __name__ == "__main__":
    main(sys.argv[1:])
