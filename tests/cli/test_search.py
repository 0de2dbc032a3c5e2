"""What was said is found again, in every session or in one."""

from importlib import import_module
from pathlib import Path
from typing import get_args

import apsw
import pytest
from rich.cells import cell_len

import holdfast
from holdfast.model.message import Role
from tests.cli.running import run, values

command = import_module("holdfast.cli.search")  # the package has the command under that name


@pytest.fixture
def sessions() -> tuple[str, str]:
    with holdfast.open() as hf:
        one, two = hf.session(), hf.session()
        one.user("Fix the login handler, and look at \x1b[2Jthe tests " + "word " * 60)
        one.append(holdfast.assistant("The login handler is fixed."))
        two.user("Nothing about that here, only a login")
        return one.id, two.id


def test_it_is_found_with_where_and_when(sessions: tuple[str, str]) -> None:
    done = run("search", "login", "handler")
    assert done.exit_code == 0
    header, *rows = done.stdout.splitlines()
    assert header.split() == ["session", "entry", "when", "role", "what", "was", "said"]
    assert len(rows) == 2
    assert all("just now" in row for row in rows)
    assert "\x1b" not in done.stdout
    assert "The login handler is fixed." in done.stdout


def test_it_says_how_to_open_what_was_found(sessions: tuple[str, str]) -> None:
    told = run("search", "fixed", FORCE_COLOR="1", NO_COLOR="1").stdout
    assert max(map(cell_len, told.splitlines())) <= 80
    line = told.splitlines()[-1]
    assert line.startswith("Open one with  holdfast show ")
    opened = run(*line.split("holdfast ")[1].split())
    assert "The login handler is fixed." in opened.stdout


def test_it_can_be_narrowed(sessions: tuple[str, str]) -> None:
    one, two = sessions
    assert len(values("search", "login")) == 3
    assert [hit["session"] for hit in values("search", "login", "--session", "last")] == [two]
    assert len(values("search", "login", "--session", one.lower())) == 2
    (said,) = values("search", "login", "--role", "assistant")
    assert (said["session"], said["seq"], said["role"]) == (one, 2, "assistant")
    assert set(said) == {
        "session", "seq", "entry", "ordinal", "kind", "role", "snippet", "created",
    }  # fmt: skip
    assert len(values("search", "login", "--limit", "1")) == 1


def test_nothing_found_is_no_error(sessions: tuple[str, str]) -> None:
    done = run("search", "elephant")
    assert (done.exit_code, done.stdout) == (0, "Nothing is found for 'elephant'.\n")
    assert values("search", "elephant") == []
    empty = run("search", "  ")
    assert empty.exit_code == 1
    assert "give at least one word" in empty.stderr


def test_a_long_catching_up_is_shown(
    sessions: tuple[str, str], own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "STEP", 1)
    database = apsw.Connection(str(own_store))
    database.execute("UPDATE sessions SET indexed = fork")
    database.close()
    done = run("search", "login", FORCE_COLOR="1")
    assert done.exit_code == 0
    assert "Indexing" in done.stderr


def test_every_role_can_be_asked_for() -> None:
    assert set(command.ROLES) == set(get_args(Role))
