"""Calls the command line as a person does: in this process, or as a program of its own."""

import json
import os
import pty
import subprocess
import sys
from typing import Any

from click.testing import CliRunner, Result

from holdfast.cli import main


def run(*words: str, input: str | None = None, **environment: str) -> Result:
    """One command, here; 80 columns unless told otherwise."""
    env = {"COLUMNS": "80", "NO_COLOR": "", **environment}
    return CliRunner().invoke(main, list(words), input=input, env=env, prog_name="holdfast")


def values(*words: str) -> list[dict[str, Any]]:
    """What a command says with --json, line by line."""
    done = run(*words, "--json")
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def program(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """One command as a program."""
    return subprocess.run(
        [sys.executable, "-m", "holdfast.cli", *words],
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def terminal(*words: str, columns: int = 80) -> str:
    """What a command shows on a terminal of so many columns, without colours."""
    person, screen = pty.openpty()
    shown = subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli", *words],
        env={**os.environ, "COLUMNS": str(columns), "LINES": "40", "NO_COLOR": "1", "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        stdout=screen,
    )
    os.close(screen)
    try:
        return _read(person).decode("utf-8").replace("\r\n", "\n")
    finally:
        shown.wait(60)
        os.close(person)


def _read(person: int) -> bytes:
    """Everything that is shown until nobody shows anything more."""
    found = b""
    try:
        while more := os.read(person, 65_536):
            found += more
    except OSError:  # how Linux says that the other end is closed
        pass
    return found


def with_a_person(*words: str, answer: bytes) -> subprocess.CompletedProcess[str]:
    """One command as a program that can ask; `answer` is what the person types."""
    person, terminal = pty.openpty()
    try:
        os.write(person, answer)
        return subprocess.run(
            [sys.executable, "-m", "holdfast.cli", *words],
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        os.close(person)
        os.close(terminal)
