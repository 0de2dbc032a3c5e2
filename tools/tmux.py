"""A terminal that a program types into and reads from: tmux, with a command line of ours in it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Terminal:
    """A terminal of so many columns and rows, in a directory of its own, with nobody's settings."""

    def __init__(
        self, home: Path, url: str, *, columns: int = 80, rows: int = 40, **more: str
    ) -> None:
        self.work = home / "work"
        self.work.mkdir(exist_ok=True)
        self._socket = str(home / "tmux")
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "PS1": "$ ",
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
            "ANTHROPIC_API_KEY": "sk-canary-0123456789",
            "ANTHROPIC_BASE_URL": url,
            "HOLDFAST_LOCAL_PORTS": "none",
            "HOLDFAST_MEMORY": "off",
            "HOLDFAST_STORE": str(home / "log.db"),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
            **more,
        }
        size = ("-x", str(columns), "-y", str(rows))
        self._tmux("new-session", "-d", *size, "-c", str(self.work), "/bin/sh")

    def _tmux(self, *words: str) -> str:
        told = ["tmux", "-u", "-S", self._socket, "-f", "/dev/null", *words]
        return subprocess.run(
            told, env=self._env, capture_output=True, text=True, timeout=20, check=True
        ).stdout

    def run(self, *words: str) -> None:
        """Run a command of ours."""
        told = shlex.join((sys.executable, "-m", "holdfast.cli", *words))
        self.type(f"clear; {told}")

    def type(self, text: str) -> None:
        """Type a line."""
        self.letters(text)
        self.press("Enter")

    def letters(self, text: str) -> None:
        """Type without Enter."""
        self._tmux("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        """Press keys, such as C-c, one at once after the other."""
        self._tmux("send-keys", *keys)

    def paste(self, text: str) -> None:
        """Paste, as a terminal does it when it is asked to tell pasting from typing."""
        self._tmux("set-buffer", text)
        self._tmux("paste-buffer", "-p")

    def screen(self, *, colours: bool = False, past: bool = True) -> str:
        """What is to be seen, and what has scrolled away."""
        more = (*(("-e",) if colours else ()), *(("-S", "-2000") if past else ()))
        return self._tmux("capture-pane", "-p", *more)

    def wait(self, words: str, times: int = 1, seconds: float = 60) -> str:
        """What is to be seen once some words are, so many times."""
        end = time.monotonic() + seconds
        while (seen := self.screen()).count(words) < times:
            if time.monotonic() > end:
                raise AssertionError(f"{words!r} never came:\n{seen}")
            time.sleep(0.05)
        return seen

    def echoes(self) -> bool:
        """Whether what is typed is shown by the terminal itself."""
        import termios

        with open(self._tmux("display-message", "-p", "#{pane_tty}").strip(), "rb") as tty:
            return bool(termios.tcgetattr(tty.fileno())[3] & termios.ECHO)

    def close(self) -> None:
        """End it, with all that runs in it; once it has ended, that is no trouble."""
        with suppress(subprocess.CalledProcessError):
            self._tmux("kill-server")
