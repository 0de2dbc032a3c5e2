"""Runs the blocks of one page in order, in a home and with a store of their own.

A program of a page that asks Claude asks the strict server, as ANTHROPIC_BASE_URL says.
"""

import json
import os
import re
import subprocess
import sys
from itertools import groupby
from pathlib import Path

from holdfast.testing import StrictServer
from tests.docs.pages import Block, Command, commands
from tests.importers.writing import story

SECONDS = 120
STATUS = "==status=="

# Each block keeps the file and line of its page, so that a traceback points into the page.
PYTHON = """
import json, sys
namespace = {"__name__": "__main__"}
for page, line, text in json.load(open(sys.argv[1], encoding="utf-8")):
    exec(compile("\\n" * (line - 1) + text, page, "exec"), namespace)
"""


class Failed(AssertionError):
    """A block of a page did not do what the page says."""


def run_page(found: list[Block], folder: Path) -> None:
    """Run every block that is meant to run; raise Failed at the first that does not work."""
    work = folder / "work"
    work.mkdir(parents=True)
    environment = surroundings(folder)
    story().write(folder / ".claude" / "projects" / "-home-me-project")
    with StrictServer(lambda asked: "Which of the two?") as server:
        key = {"ANTHROPIC_API_KEY": "any", "ANTHROPIC_BASE_URL": server.url("anthropic")}
        for group in groups([block for block in found if block.runs]):
            if group[0].language == "python":
                run_python(group, work, {**environment, **key})
            else:
                run_console(group[0], work, environment)


def groups(found: list[Block]) -> list[list[Block]]:
    """Python blocks that share a namespace, together; any other block alone."""
    starts = 0
    keyed: list[tuple[int, Block]] = []
    before = ""
    for block in found:
        joined = block.language == before == "python" and block.remark != "fresh"
        starts += not joined
        keyed.append((starts, block))
        before = block.language
    return [[block for _, block in group] for _, group in groupby(keyed, key=lambda pair: pair[0])]


def surroundings(folder: Path) -> dict[str, str]:
    beside = str(Path(sys.executable).parent)
    return {
        **os.environ,
        "PATH": os.pathsep.join([beside, os.environ.get("PATH", os.defpath)]),
        "HOLDFAST_STORE": str(folder / "store" / "store.db"),
        "HOME": str(folder),
        "NO_COLOR": "1",
        "COLUMNS": "120",
        "PYTHONIOENCODING": "utf-8",
    }


def run_python(group: list[Block], work: Path, environment: dict[str, str]) -> None:
    script = work.parent / "blocks.json"
    script.write_text(json.dumps([(str(b.page), b.line, b.text) for b in group]), "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PYTHON, str(script)],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if done.returncode:
        raise Failed(f"{group[0].place}: python ended with {done.returncode}\n{done.stderr}")


def run_console(block: Block, work: Path, environment: dict[str, str]) -> None:
    """All commands of a block in one shell, so that `cd` and `export` last until its end."""
    run = [command for command in commands(block) if not command.makes]
    script = "".join(f"{{ {c.text}\n}} 2>&1\nprintf '\\n{STATUS} %s\\n' $?\n" for c in run)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
    )
    parts = re.split(rf"^{STATUS} (\d+)\n", done.stdout, flags=re.MULTILINE)
    answers = list(zip(parts[1::2], parts[0::2], strict=False))
    if len(answers) != len(run):
        raise Failed(f"{block.place}: the shell stopped early\n{done.stdout}")
    for command, (status, output) in zip(run, answers, strict=True):
        compare(block, command, int(status), output)


def compare(block: Block, command: Command, status: int, output: str) -> None:
    place = f"{block.page.name}:{command.line}: $ {command.text}"
    if status:
        raise Failed(f"{place}\nended with {status}\n{output}")
    for line in command.output:
        if not any(alike(line, real) for real in output.splitlines()):
            raise Failed(f"{place}\ndid not print: {line}\nit printed:\n{output}")


def alike(shown: str, real: str) -> bool:
    """Equal but for spacing, where `…` stands for anything."""
    pieces = [re.escape(" ".join(piece.split())) for piece in shown.split("…")]
    return re.fullmatch(r"\s*.*?\s*".join(pieces), " ".join(real.split())) is not None
