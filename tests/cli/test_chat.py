"""`holdfast chat` in a real terminal: typed in tmux, read from its screen."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.screen import _split  # type: ignore[reportPrivateUsage]
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer

ROOT = Path(__file__).resolve().parents[2]


class Terminal:
    """A terminal of 80 columns with a chat in it."""

    def __init__(self, tmp_path: Path, url: str) -> None:
        self._socket = str(tmp_path / "tmux")
        env = {
            "PYTHONPATH": str(ROOT / "src"),
            "ANTHROPIC_API_KEY": "sk-canary-0123456789",
            "ANTHROPIC_BASE_URL": url,
            "HOLDFAST_STORE": str(tmp_path / "log.db"),
            "XDG_DATA_HOME": str(tmp_path / "data"),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
        }
        told = " ".join(f"{name}='{value}'" for name, value in env.items())
        work = tmp_path / "work"
        work.mkdir()
        self._tmux("new-session", "-d", "-x", "80", "-y", "40", "-c", str(work))
        self.type(f"clear; {told} {sys.executable} -m holdfast.cli chat")

    def _tmux(self, *words: str) -> str:
        told = ["tmux", "-S", self._socket, "-f", "/dev/null", *words]
        done = subprocess.run(told, capture_output=True, text=True, timeout=20, check=True)
        return done.stdout

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)
        self._tmux("send-keys", "Enter")

    def press(self, key: str) -> None:
        self._tmux("send-keys", key)

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-S", "-200")

    def wait(self, words: str, seconds: float = 30) -> str:
        end = time.monotonic() + seconds
        while words not in (seen := self.screen()):
            assert time.monotonic() < end, f"{words!r} never came:\n{seen}"
            time.sleep(0.1)
        return seen

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Any]:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")

    def script(asked: Any) -> Any:
        said = str(asked.body["messages"][-1])
        if "long" in said:
            return answer("word " * 3_000, pace=0.05)
        if "make" in said:
            return answer("Making it.", Ask("write", {"path": "made.txt", "content": "x"}))
        if "hurry" in said:
            return answer("Not so fast.", headers=LOW)
        return answer("# Well\n\nIt is **done**.\n\n- one\n- two")

    with StrictServer(script) as server:
        terminal = Terminal(tmp_path, server.url("anthropic"))
        try:
            yield terminal
        finally:
            terminal.close()


def test_a_conversation(talk: Terminal, tmp_path: Path) -> None:
    talk.wait("Ctrl-D leaves")
    talk.type("hello")
    seen = talk.wait("• two")
    assert "It is done." in seen
    assert "**" not in seen
    talk.wait("of 1,000,000")  # the gauge
    talk.type("make a file")
    talk.wait("allow write made.txt? y / n / a = always here")
    talk.type("y")
    talk.wait("✓ 1 lines")
    assert (tmp_path / "work" / "made.txt").read_text() == "x"
    talk.type("/contxt")
    talk.wait("did you mean /context?")
    talk.type("/context")
    talk.wait("in all")
    talk.type("!echo from the shell")
    talk.wait("[exit status 0]")
    talk.press("C-d")
    talk.wait("holdfast chat -c goes on")
    canary = b"sk-canary-0123456789"
    stored = [file for file in tmp_path.rglob("*") if file.is_file() and file.name != "tmux"]
    assert not [file for file in stored if canary in file.read_bytes()]


def test_what_is_left_of_the_limits_is_shown_when_it_is_little(talk: Terminal) -> None:
    talk.wait("Ctrl-D leaves")
    talk.type("hello")
    talk.wait("░░░")
    talk.type("hurry")
    talk.wait("input tokens 5% left")
    talk.type("/cost")
    talk.wait("tokens in the last minute · input tokens: 5% of 80,000 left")


LOW = {
    "anthropic-ratelimit-input-tokens-limit": "80000",
    "anthropic-ratelimit-input-tokens-remaining": "4000",
    "anthropic-ratelimit-input-tokens-reset": "2099-01-01T00:00:00Z",
}


def test_an_interrupt_loses_nothing(talk: Terminal) -> None:
    talk.wait("Ctrl-D leaves")
    talk.type("a long answer")
    talk.wait("writing")
    talk.press("C-c")
    talk.wait("interrupted; nothing was lost")
    talk.type("hello again")
    talk.wait("• two")


def test_markdown_is_drawn_when_it_is_whole() -> None:
    assert _split("one\n\ntwo") == ("one\n\n", "two")
    assert _split("```\na\n\nb") == ("", "```\na\n\nb")
    assert _split("```\na\n\nb\n```\n\nc") == ("```\na\n\nb\n```\n\n", "c")
