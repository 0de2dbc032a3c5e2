"""How long one waits: for `import holdfast`, and for the first prompt of `holdfast chat`.

Every measurement is a new process. Importing is measured against importing the OpenAI Agents SDK.
The first prompt, on a terminal of its own, is measured against a process that does nothing but
import the modules of the terminal libraries that the chat has imported by then.
"""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from bench.machine import Machine, load, machine
from bench.measure import WARM_UP, Series, interleave, ratio
from bench.page import facts
from bench.progress import Stage, silent
from bench.table import Table, Target, cell, spread, targets

ROUNDS = 15
BUDGET = 240.0
PATIENCE = 60.0
"""Seconds after which a prompt that has not come never will."""

TERMINAL = ("click", "prompt_toolkit", "rich", "wcwidth", "pygments", "markdown_it", "mdurl")
"""The terminal libraries, and what they bring along."""
HEAVY = (
    "agents", "anthropic", "openai", "google.genai", "tiktoken", "tokenizers", "matplotlib",
    "opentelemetry", "tree_sitter", "xllamacpp", "langchain", "langchain_core", "pydantic_ai",
)  # fmt: skip
"""What takes a second or more to import, or may be missing: only for what needs it."""

IMPORT, AGENTS = "import holdfast", "import agents"
NOTHING = "an empty process"
PROMPT, LIBRARIES = "holdfast chat, first prompt", "the terminal libraries it uses"


class Result(msgspec.Struct):
    """Seconds by what was started."""

    when: str
    machine: Machine
    series: dict[str, Series]
    modules: int
    """How many modules of the terminal libraries the chat has imported by its first prompt."""
    heavy: list[str]
    """Heavy libraries among all it has imported by then."""


def measure(rounds: int = ROUNDS, stage: Stage = silent) -> Result:
    """Start everything anew, round by round."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        about = machine(("openai-agents", "prompt-toolkit", "rich", "click"), home)
        imported = imports_of_chat(home)
        used = sorted(name for name in imported if name.partition(".")[0] in TERMINAL)
        calls: dict[str, Callable[[int], object]] = {
            NOTHING: _runs("pass"),
            IMPORT: _runs("import holdfast"),
            AGENTS: _runs("import agents"),
            LIBRARIES: _runs(f"import {', '.join(used)}"),
            PROMPT: lambda _: first_prompt(home),
        }
        tick = stage("starting", rounds + WARM_UP)
        series = interleave(calls, rounds=rounds, budget=BUDGET, tick=tick)
    about.load = (about.load[0], load())
    return Result(
        when=f"{datetime.now(UTC):%Y-%m-%d}",
        machine=about,
        series=series,
        modules=len(used),
        heavy=heavy(imported),
    )


def heavy(imported: set[str]) -> list[str]:
    """The heavy libraries among modules."""
    return sorted(
        name for name in HEAVY if any(f"{each}.".startswith(f"{name}.") for each in imported)
    )


def _runs(code: str) -> Callable[[int], object]:
    command = [sys.executable, "-c", code]
    return lambda _: subprocess.run(command, check=True)


def imports_of_chat(home: Path) -> set[str]:
    """The modules that the chat has imported when its first prompt is there."""
    told = home / "imports"
    with told.open("wb") as errors:
        first_prompt(home, "-X", "importtime", errors=errors.fileno())
    lines = told.read_text("utf-8", "replace").splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


def first_prompt(home: Path, *options: str, errors: int | None = None) -> None:
    """Start the chat on a terminal of its own, and wait until it asks."""
    inside, outside = pty.openpty()
    told = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    told |= {
        "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24", "OPENAI_API_KEY": "any",
        "XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config"),
        "HOLDFAST_STORE": str(home / "log.db"), "PROMPT_TOOLKIT_NO_CPR": "1",
    }  # fmt: skip
    command = [sys.executable, *options, "-m", "holdfast.cli", "chat", "-m", "gpt-5"]
    process = subprocess.Popen(
        command, stdin=outside, stdout=outside, stderr=errors or outside, env=told, cwd=home
    )
    os.close(outside)
    try:
        _wait_for_prompt(inside)
    finally:
        process.kill()
        process.wait()
        os.close(inside)


_STYLED = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")


def _wait_for_prompt(screen: int) -> None:
    end = time.monotonic() + PATIENCE
    shown = b""
    while time.monotonic() < end:
        if not select.select([screen], [], [], end - time.monotonic())[0]:
            break
        try:
            shown += os.read(screen, 65536)
        except OSError:
            break
        if re.search(rb"[\r\n]>", _STYLED.sub(b"", shown)):
            return
    raise SystemExit(f"the chat never asked; it showed {shown[-500:]!r}")


def beyond(result: Result, name: str) -> Series:
    """What something took beyond starting Python."""
    nothing = result.series[NOTHING].median or 0.0
    return Series(seconds=[max(each - nothing, 0.0) for each in result.series[name].seconds])


def table(result: Result) -> Table:
    """Everything that was started."""
    heading = ("started", "median", "p10 – p90", "beyond an empty process")
    rows = [
        (name, cell(series, None), spread(series), cell(beyond(result, name), None))
        for name, series in result.series.items()
    ]
    return Table(heading, rows)


def kept(result: Result) -> list[Target]:
    """What must hold."""
    return [
        Target(
            "`import holdfast`, of `import agents`",
            ratio(beyond(result, IMPORT), beyond(result, AGENTS)),
            0.1,
        ),
        Target(
            "the first prompt, of importing its terminal libraries",
            ratio(result.series[PROMPT], result.series[LIBRARIES]),
            1.5,
        ),
        Target("heavy libraries imported by the first prompt", len(result.heavy), 0, ""),
    ]


def show(result: Result) -> None:
    """On the terminal."""
    table(result).show("Starting, each time in a new process")
    targets(kept(result)).show("Targets")


def section(result: Result) -> str:
    """The section of the page."""
    return f"""
## Starting

Each time a new process, in turns. *First prompt*: `holdfast chat` on a terminal of its own with an
empty store, until it has drawn its prompt. It is held against a process that only imports the
{result.modules} modules of the terminal libraries (click, rich, prompt_toolkit and what they bring)
that the chat has imported by then. Heavy libraries are {", ".join(HEAVY)}.

{table(result).markdown()}

{targets(kept(result)).markdown()}

Measured on {result.when}: {facts(result.machine)} `python -m bench startup`.
"""
