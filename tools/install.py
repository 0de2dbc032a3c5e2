"""Run pip and show how far it is: `.venv/bin/python tools/install.py requirements/run.lock …`.

pip says either everything or nothing. This shows one line: how many packages have come, which one
is on its way and how long it has taken; in a pipe such a line every few seconds. When pip fails,
all it said is printed. The standard library is enough for it: its environment may be empty.
"""

import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

EVERY = 5.0
"""Seconds between two lines where the output is no terminal."""

COMES = re.compile(
    r"^(?:Collecting|Requirement already satisfied:|Obtaining|Processing (?:\S*/)?) *"
    r"([\w.]+[\w.-]*?)(?:-\d\S*\.whl)?(?=[ =<>;\[(]|$)"
)
SIZE = re.compile(r"^\s+Downloading (?:\S*/)?([\w.]+?)-\d\S* \(([\d.]+ [kMG]?B)\)")
PIN = re.compile(r"^[\w.-]+==", re.MULTILINE)


class Progress:
    """What pip is doing, in one line."""

    def __init__(self, pins: int) -> None:
        self.pins = pins
        self.names: set[str] = set()
        self.doing = "starting"
        self.begun = time.monotonic()

    def hear(self, line: str) -> None:
        """Take in one line of what pip says."""
        if found := COMES.match(line):
            self.names.add(found[1].lower())
            self.doing = found[1]
        elif found := SIZE.match(line):
            self.doing = f"{found[1]} ({found[2]})"
        elif line.startswith("Installing collected packages"):
            self.doing = "unpacking"
        elif line.startswith("Building"):
            self.doing = "building"

    def __str__(self) -> str:
        seconds = time.monotonic() - self.begun
        of = f" of about {self.pins}" if self.pins > 1 else ""
        return f"   {len(self.names)}{of} · {self.doing} · {seconds:.0f} s"


def draw(progress: Progress, ended: threading.Event, out: IO[str]) -> None:
    """Show the progress until pip has ended: on a terminal over and over in one line."""
    terminal = out.isatty()
    while not ended.wait(0.2 if terminal else EVERY):
        out.write(f"\r\x1b[K{str(progress)[:78]}" if terminal else f"{progress}\n")
        out.flush()
    if terminal:
        out.write("\r\x1b[K")


def install(arguments: list[str], pins: int) -> int:
    """Let pip install something; its exit status."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", *arguments]
    progress, ended = Progress(pins), threading.Event()
    said: list[str] = []
    drawing = threading.Thread(target=draw, args=(progress, ended, sys.stdout))
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        assert pip.stdout
        drawing.start()
        try:
            for line in pip.stdout:
                said.append(line)
                progress.hear(line)
        finally:
            ended.set()
            drawing.join()
    if pip.returncode:
        sys.stderr.writelines(said)
    else:
        seconds = time.monotonic() - progress.begun
        names = len(progress.names)
        told = f"{names} package{'s' if names > 1 else ''}" if names else "the checkout itself"
        print(f"   {told}, {seconds:.0f} s")
    return pip.returncode


def main(arguments: list[str]) -> int:
    """Install a lock, or what else is said to pip; the first argument may be a lock."""
    if arguments and arguments[0].endswith(".lock"):
        lock, *rest = arguments
        pins = len(PIN.findall(Path(lock).read_text("utf-8")))
        return install(["--require-hashes", "-r", lock, *rest], pins)
    return install(arguments, 0)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
