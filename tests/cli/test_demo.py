"""The demo shows what it says, and keeps a store only where it is told to."""

import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.running import run, values


@pytest.mark.parametrize("columns", ["80", "140"])
def test_the_demo_fits_two_screens(columns: str, own_store: Path) -> None:
    shown = run("demo", COLUMNS=columns).stdout
    assert len(shown.splitlines()) <= 48
    assert max(map(cell_len, shown.splitlines())) <= int(columns)
    assert not own_store.exists()


def test_the_window_shrinks_and_comes_back() -> None:
    bars = [line for line in run("demo").stdout.splitlines() if " window " in line and "█" in line]
    tokens = [int(bar.split("about ")[1].split()[0].replace(",", "")) for bar in bars]
    assert tokens[0] == tokens[2] > 10 * tokens[1]


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
