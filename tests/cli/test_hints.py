"""A hint names a command that can be typed: where no PATH leads to `holdfast`, by its place."""

import sys
from pathlib import Path

import pytest

from holdfast.cli.chat.resume import how_to_go_on
from holdfast.cli.ui.format import in_chat, runnable
from tests.cli.running import run

HERE = ".venv/bin/holdfast"


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose command line is in its environment and not on PATH."""
    place = tmp_path / ".venv" / "bin"
    place.mkdir(parents=True)
    (place / "holdfast").touch(0o755)
    monkeypatch.setattr(sys, "executable", str(place / "python"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_screen_names_commands_that_exist(beside: Path) -> None:
    shown = run("sessions", HOLDFAST_STORE="").stdout
    assert f"  {HERE} import\n" in shown
    assert f"Then  {HERE} sessions  lists it" in shown
    assert "with holdfast.open() as hf:" in shown
    assert " holdfast import" not in shown


def test_an_error_names_commands_that_exist(beside: Path) -> None:
    for words in (("show",), ("show", "--json")):
        assert f"`{HERE} sessions` says how to begin" in run(*words, HOLDFAST_STORE="").stderr
    assert f"`{HERE} show --help`" in run("show", "--nothing").stderr


def test_leaving_a_chat_names_a_command_that_exists(beside: Path) -> None:
    import holdfast

    with holdfast.open() as hf:
        session = hf.session(directory=str(beside))
        session.user("Hello")
        assert f"{HERE} chat" in how_to_go_on(hf, session.info)
    assert in_chat("`holdfast doctor` mends it, `holdfast undo` undoes").startswith(f"`{HERE} doc")
    assert "/undo undoes" in in_chat("`holdfast undo` undoes")


def test_what_is_missing_is_installed_where_it_is_missing(beside: Path) -> None:
    assert runnable("pip install 'holdfast[chat]'") == (
        ".venv/bin/python -m pip install 'holdfast[chat]'"
    )


def test_words_that_are_no_command_stay_as_they_are(beside: Path) -> None:
    for words in ("holdfast is a context engine", "/srv/holdfast show", "my-holdfast chat"):
        assert runnable(words) == words


def test_a_command_on_the_path_is_named_as_it_is() -> None:
    assert runnable("`holdfast show last`") == "`holdfast show last`"
    assert "  holdfast import\n" in run("sessions", HOLDFAST_STORE="").stdout
