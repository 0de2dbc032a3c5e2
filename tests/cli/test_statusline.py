"""The user's own status line: real scripts, an injected clock, and what may reach a terminal."""

import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.chat.status_line import Pace, Script, cut, shown

STATE = {"cwd": "", "context_window": {"used_percentage": 42}}


class Clock:
    at = 100.0

    def __call__(self) -> float:
        return self.at


def said(script: Script, seconds: float = 20) -> list[str]:
    """What a script says once it has been asked."""
    script.ask()
    end = time.monotonic() + seconds
    while not script.lines and time.monotonic() < end:
        time.sleep(0.01)
    return script.lines


@pytest.mark.seed("000", 148)
def test_it_is_begun_at_most_every_300_ms() -> None:
    clock = Clock()
    pace = Pace(clock=clock)
    assert pace.left() == 0
    pace.begin()
    for after, left in ((0.0, 0.3), (0.1, 0.2), (0.299, 0.001), (0.3, 0.0), (7.0, 0.0)):
        clock.at = 100.0 + after
        assert round(pace.left(), 6) == left
    pace.begin()
    assert round(pace.left(), 6) == 0.3


def test_many_changes_are_one_run_when_it_may_be_begun(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    script = Script(f"cat > /dev/null; echo x >> {file}; cat {file}", lambda: STATE)
    assert said(script) == ["x"]
    for _ in range(50):
        script.ask()
    end = time.monotonic() + 20
    while len(script.lines) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    script.close()
    assert script.lines == ["x", "x"]


@pytest.mark.seed("000", 147)
def test_a_script_reads_the_state_and_its_first_lines_are_shown() -> None:
    told = "import json,sys; s=json.load(sys.stdin); print(s['context_window']['used_percentage'])"
    script = Script(f'python3 -c "{told}"', lambda: STATE)
    assert said(script) == ["42"]
    script.close()


def test_whatever_fails_shows_nothing(tmp_path: Path) -> None:
    failing: list[tuple[str, Any]] = [
        ("echo no; exit 3", lambda: STATE),
        ("/nowhere/at/all", lambda: STATE),
        ("true", lambda: STATE),
        ("echo never", lambda: 1 / 0),
        ("echo never", lambda: {"cwd": str(tmp_path / "absent")}),
        ("sleep 60; echo late", lambda: STATE),
    ]
    for command, state in failing:
        script = Script(command, state, seconds=0.5)
        assert script._said() == [], command  # type: ignore[reportPrivateUsage]


def test_only_colours_reach_the_terminal() -> None:
    (line,) = shown("\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J\x1b[Hhome\n")
    assert line.startswith("\x1b[31mred\x1b[0m ")
    assert line.replace("\x1b[31m", "").replace("\x1b[0m", "").isprintable()
    assert "\x07" not in line
    many = shown("a\n" * 9)
    assert many == ["a", "a", "a"]
    assert len(shown("x" * 1_000_000)[0]) == 2_000


def test_colours_take_no_columns() -> None:
    assert cut("\x1b[31mabcdef\x1b[0m", 3) == "\x1b[31mabc\x1b[0m"
    assert cut("日本語", 4) == "日本"
    assert cut("abc", 80) == "abc"
