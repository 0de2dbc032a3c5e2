"""What a chat costs, in a real terminal: a status line of one's own, and a cap that asks."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.model.reply import Usage
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import answer
from tools.tmux import Terminal

SCRIPT = r"""
import json, sys
s = json.load(sys.stdin)
cost = s["cost"]["total_cost_usd"]
print("\033[32mMINE\033[0m", s["model"]["id"], f"{cost:.4f}", "\033]0;no\007")
"""


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Terminal]:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    (tmp_path / "mine.py").write_text(SCRIPT)
    config = tmp_path / "config" / "holdfast"
    config.mkdir(parents=True)
    command = f"python3 {tmp_path / 'mine.py'}"
    (config / "settings.toml").write_text(
        f'[caps]\nsession = 0.02\n\n[status]\ncommand = "{command}"\n'
    )
    told = answer("Well said.", usage=Usage(input=1_000, output=1_000))
    with StrictServer(lambda asked: told) as server:
        terminal = Terminal(tmp_path, server.url("anthropic"))
        terminal.run("chat")
        try:
            yield terminal
        finally:
            terminal.close()


def test_a_line_of_ones_own_and_a_cap(talk: Terminal) -> None:
    talk.wait("MINE claude-sonnet-4-6 0.0000")
    talk.type("hello")
    talk.wait("Well said.")
    seen = talk.wait("MINE claude-sonnet-4-6 0.0180 ␛]0;no␇")
    assert "of the window" not in seen  # our own line is not there
    talk.type("another question")
    talk.wait("go on? [y/N]")
    talk.type("y")
    talk.wait("the cap of the session is $0.04 now")
    talk.wait("MINE claude-sonnet-4-6 0.0360")
    talk.type("and one more")
    talk.wait("has cost 0.0360 USD")
    talk.type("n")
    talk.wait("paused; what was said is kept")
    talk.type("/cost")
    talk.wait("0 lines added, 0 removed")
    talk.press("C-d")
    talk.wait("holdfast chat -c goes on")
