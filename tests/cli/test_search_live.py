"""`holdfast search --live` in a real terminal: typed in tmux, read from its screen."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

import holdfast
from tests.cli.running import run
from tools.tmux import Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6", directory=tmp_path)
        for n in range(40):
            s.user(f"question {n} about the reef \x1b[2J漢字" + " word" * 60)
        s.user("The walrus sleeps.")
        s.append(holdfast.assistant("A walrus wakes up, and swims away."))
        s.user("Thank you.")
    made = Terminal(tmp_path, "http://127.0.0.1:9", rows=24)
    try:
        yield made
    finally:
        made.close()


def seen(terminal: Terminal, words: str) -> str:
    terminal.wait(words)
    return terminal.screen(past=False)


def test_what_is_found_follows_what_is_typed(terminal: Terminal) -> None:
    terminal.run("search", "--live")
    seen(terminal, "Type what is to be found.")
    terminal.letters("wal")
    both = seen(terminal, "walrus sleeps")
    assert "walrus wakes" in both
    terminal.letters("rus wake")
    while "sleeps" in (one := terminal.screen(past=False)):
        time.sleep(0.05)
    assert "search> walrus wake" in one
    assert "walrus wakes" in one
    terminal.letters("x")
    seen(terminal, "Nothing is found.")
    terminal.press("BSpace")
    terminal.wait("walrus wakes")
    terminal.press("Escape")
    while "search>" in terminal.screen(past=False):
        time.sleep(0.05)
    terminal.type("echo left $?")
    terminal.wait("left 0")


def test_enter_opens_what_was_chosen_with_what_is_around_it(terminal: Terminal) -> None:
    terminal.run("search", "--live", "walrus")
    both = seen(terminal, "walrus sleeps")
    rows = [line for line in both.splitlines() if "walrus " in line and "search>" not in line]
    assert len(rows) == 2
    terminal.press("Down")
    terminal.press("Enter")
    opened = seen(terminal, "▶ #")
    chosen = "#41 user" if "sleeps" in rows[1] else "#42 assistant"
    assert f"▶ {chosen}" in opened
    assert "Thank you." in opened
    assert "Cut for this screen; all of it:" in terminal.screen()


def test_whoever_has_read_enough_comes_back_to_where_they_were(terminal: Terminal) -> None:
    terminal.run("search", "--live", "walrus")
    seen(terminal, "walrus sleeps")
    terminal.press("Down")
    terminal.press("Enter")
    keys = "Enter or Backspace: back to the list · q or Esc: leave"
    opened = seen(terminal, keys)
    chosen = "▶ #42 assistant" if "▶ #42" in opened else "▶ #41 user"
    terminal.press("Enter")
    while not (again := terminal.screen(past=False)).startswith("search> walrus"):
        time.sleep(0.05)
    while not ("sleeps" in again and "wakes" in again):
        time.sleep(0.05)
        again = terminal.screen(past=False)
    terminal.press("Enter")
    while terminal.screen().count(keys) < 2:
        time.sleep(0.05)
    assert terminal.screen().count(chosen) == 2
    terminal.type("qecho left $?")  # typed ahead: the shell gets what is behind the key
    terminal.wait("left 0")


@pytest.mark.parametrize("typed", [b"q", b"qecho left\n"])
def test_a_key_that_is_pressed_as_soon_as_it_is_named_is_not_lost(typed: bytes) -> None:
    """Also one that is pressed just before: no setting of the terminal forgets it."""
    (ours, theirs), (go, wait) = os.openpty(), os.pipe()
    code = (
        "import os\n"
        "from holdfast.cli.sessions import live_search as live\n"
        "from holdfast.cli.ui import terminal\n"
        f"terminal.say = lambda *_: os.write(1, b'now') and os.read({go}, 1)\n"
        "print('returns', live._returns())"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=theirs, stdout=subprocess.PIPE,
                          pass_fds=(go,)) as asked:  # fmt: skip
        assert asked.stdout is not None
        assert asked.stdout.read(3) == b"now"
        os.write(ours, typed)
        os.write(wait, b".")
        try:
            assert asked.communicate(timeout=20)[0].endswith(b"returns False\n")
        finally:
            asked.kill()
    for one in (ours, theirs, go, wait):
        os.close(one)


def test_whoever_types_fast_is_waited_for(terminal: Terminal) -> None:
    terminal.run("search", "--live")
    terminal.wait("Type what is to be found.")
    terminal.type("swims")
    assert "▶ #42 assistant" in seen(terminal, "▶ #")


def test_it_fits_and_nothing_that_was_said_acts(terminal: Terminal) -> None:
    terminal.run("search", "--live", "reef")
    shown = seen(terminal, "39 about the reef").splitlines()
    assert shown[0] == "search> reef"
    assert len(shown) == 24
    assert shown[-1] == "↑ ↓ PgUp PgDn choose · Enter opens · Esc leaves"
    assert sum("reef ␛[2J漢字" in line for line in shown) == 20
    assert max(map(cell_len, shown)) <= 80
    assert "claude-sonnet" not in shown[-2]
    terminal.press("C-c")


def test_it_wants_a_terminal() -> None:
    refused = run("search", "--live", "x")
    assert refused.exit_code == 1
    assert "--live needs a terminal" in refused.stderr
    missing = run("search")
    assert missing.exit_code == 1
    assert "give a word, or say --live" in missing.stderr
