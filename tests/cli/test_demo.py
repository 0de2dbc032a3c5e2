"""The demo plays a recorded task, and keeps a store only where it is told to."""

import os
import sys
import tempfile
from pathlib import Path

import pytest
from rich.cells import cell_len

from holdfast.cli.chat.recorded import recorded_task
from tests.cli.running import run, values
from tools.tmux import Terminal


@pytest.mark.parametrize("columns", ["80", "140"])
def test_the_session_it_writes_fits_two_screens(
    columns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = run("demo", "--store", "d.db", COLUMNS=columns).stdout
    assert len(shown.splitlines()) <= 48
    assert max(map(cell_len, shown.splitlines())) <= int(columns)


def test_the_window_shrinks_and_comes_back(tmp_path: Path) -> None:
    shown = run("demo", "--store", str(tmp_path / "d.db")).stdout
    bars = [line for line in shown.splitlines() if " window " in line and "█" in line]
    tokens = [int(bar.split("about ")[1].split()[0].replace(",", "")) for bar in bars]
    assert tokens[0] == tokens[2] > 10 * tokens[1]


def test_a_task_is_played_as_text_where_there_is_no_terminal(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(tmp_path.iterdir())
    done = run("demo", COLUMNS="120", ANTHROPIC_API_KEY="sk-canary-0123456789")
    assert done.exit_code == 0, done.output
    places = [
        done.stdout.index(words)
        for words in (
            "> sh check.sh fails", "→ shell sh check.sh", "allow shell sh check.sh?", "→ read",
            "+awk -F,", "allow edit total.sh?", "says ok: 1195360", "> /context", "> /compact",
            "written by demo-model", "→ recall #4", "> /undo", "visible again", "holdfast chat",
        )
    ]  # fmt: skip
    assert places == sorted(places)
    for wrong in ("error", "✗", "\x1b", "warning"):
        assert wrong not in done.output
    assert not own_store.exists()
    assert set(tmp_path.iterdir()) == before, "nothing is kept"


def test_the_recorded_model_says_what_the_recorded_files_say() -> None:
    task = recorded_task()
    lines = task.files["orders.csv"].splitlines()
    said = task.replies[-1].text
    assert lines[141] == lines[88]
    assert lines[141] in said


@pytest.mark.slow
def test_an_interrupt_leaves_the_demo(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    terminal = Terminal(tmp_path, "http://127.0.0.1:9", TMPDIR=str(tmp_path / "scratch"))
    try:
        terminal.run("demo")
        terminal.wait("→ shell sh check.sh")
        terminal.press("C-c")
        terminal.wait("nothing was lost")
        terminal.type("echo status $?")
        terminal.wait("status 0")
        assert "Traceback" not in terminal.screen()
    finally:
        terminal.close()
    assert os.listdir(tmp_path / "scratch") == []


def test_a_named_store_is_kept(tmp_path: Path) -> None:
    store = str(tmp_path / "demo.db")
    assert f"--store {store} show last --all" in run("demo", "--store", store).stdout
    assert "#7 Undo · of 6" in run("--store", store, "show", "last", "--all").stdout


def test_it_says_where_the_command_is_when_no_path_leads_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / ".venv" / "bin"
    place.mkdir(parents=True)
    (place / "holdfast").touch(0o755)
    monkeypatch.setattr(sys, "executable", str(place / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert ".venv/bin/holdfast --help" in run("demo").stdout
    monkeypatch.setenv("PATH", str(place))
    assert "    holdfast --help" in run("demo").stdout
    (place / "holdfast").unlink()
    assert "-m holdfast.cli --help" in run("demo").stdout


def test_json_is_the_log() -> None:
    kinds = [entry["kind"] for entry in values("demo")]
    assert kinds == ["message"] * 5 + ["summary", "undo"]


def test_no_command_is_a_request_for_help() -> None:
    done = run()
    assert done.exit_code == 0
    assert "Commands:" in done.stdout
    assert run("--version").stdout.startswith("holdfast ")
