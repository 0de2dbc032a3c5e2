"""Bad input ends with a message that says what to do, never with a traceback."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import apsw
import pytest

import holdfast
from holdfast.cli.app import ending
from holdfast.cli.sessions.list import sessions
from tests.cli.running import program, run


def spoil_with_text(store: Path) -> None:
    store.parent.mkdir(exist_ok=True)
    store.write_text("this is no database\n" * 100)


def spoil_with_directory(store: Path) -> None:
    store.mkdir(parents=True)


def spoil_with_newer_schema(store: Path) -> None:
    holdfast.open(store).close()
    database = apsw.Connection(str(store))
    database.execute("INSERT INTO migrations (name, applied) VALUES ('from_the_future', 0)")
    database.close()


def spoil_with_damage(store: Path) -> None:
    with holdfast.open(store) as hf:
        hf.session().user("x" * 100_000)
    store.write_bytes(store.read_bytes()[:100] + b"\xff" * 8000)
    for journal in store.parent.glob("*-*"):
        journal.unlink()


def spoil_with_a_row(store: Path) -> None:
    with holdfast.open(store) as hf:
        hf.session().user("hello")
    database = apsw.Connection(str(store))
    database.execute("UPDATE parts SET data = x'00ff'")
    database.close()


def spoil_with_the_place_above(store: Path) -> None:
    store.parent.write_text("a file where a directory should be")


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (spoil_with_text, "not a Holdfast store"),
        (spoil_with_directory, "is a directory"),
        (spoil_with_newer_schema, "upgrade holdfast"),
        (spoil_with_damage, "is damaged"),
        (spoil_with_a_row, "cannot be read"),
        (spoil_with_the_place_above, "no directory"),
    ],
)
def test_a_store_that_cannot_be_used_is_explained(spoil, what: str, own_store: Path) -> None:  # type: ignore[no-untyped-def]
    spoil(own_store)
    done = program("show", "last")
    assert done.returncode == 1
    assert done.stdout.count("\n") <= 3  # a heading at most
    assert what in done.stderr
    assert "   do: " in done.stderr
    assert "Traceback" not in done.stderr
    told = program("show", "last", "--json")
    last = json.loads(told.stderr.splitlines()[-1])
    assert last["error"]
    assert last["do"]
    assert last["kind"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_place_is_explained(own_store: Path) -> None:
    own_store.parent.mkdir(mode=0o500)
    done = program("demo", "--store", str(own_store))
    assert done.returncode == 1
    assert "cannot be made" in done.stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a file system nobody can write")
def test_a_place_nobody_can_write_is_explained() -> None:
    done = program("demo", "--store", "/proc/self/store.db")
    assert done.returncode == 1
    assert "   do: " in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_session_names_the_nearest() -> None:
    with holdfast.open() as hf:
        id = hf.session().id
    wrong = f"{id[:-1]}{'0' if id[-1] != '0' else '1'}"
    done = run("show", wrong)
    assert done.exit_code == 1
    assert f"there is no session '{wrong}'" in done.stderr
    assert f"did you mean {id}?" in done.stderr
    told = json.loads(run("show", wrong, "--json").stderr)
    assert told["nearest"] == [id]
    assert told["kind"] == "NotFound"
    assert "holdfast" in told["do"]


def test_an_unknown_entry_says_where_to_look() -> None:
    with holdfast.open() as hf:
        hf.session().user("hello")
    done = run("show", "last", "--at", "77")
    assert done.exit_code == 1
    assert "it has 1 to 1" in done.stderr
    assert "--all` lists them" in done.stderr
    assert "there is no entry 0" in run("show", "last", "--at", "0").stderr
    assert "no entry 'nonsense'" in run("show", "last", "--at", "nonsense").stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("sesions",), "Did you mean 'sessions'?"),
        (("shwo", "x"), "Did you mean 'show'?"),
        (("sessions", "--limt", "3"), "--limit"),
        (("recall",), "Missing argument 'HANDLE'"),
        (("sessions", "--limit", "0"), "range"),
        (("zzzz",), "There is no command"),
        (("list",), "Did you mean 'sessions'?"),
        (("dump", "last"), "Did you mean 'export SESSION --to portable'?"),
        (("help", "sesions"), "Did you mean 'sessions'?"),
    ],
)
def test_a_wrong_word_names_the_nearest(words: tuple[str, ...], hint: str) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert hint in done.stderr
    assert "--help` shows what it takes" in done.stderr
    assert "error" in json.loads(run(*words, "--json").stderr)


def test_help_is_a_command_too() -> None:
    assert run("help").stdout == run("--help").stdout
    assert run("help", "show").stdout == run("show", "--help").stdout
    assert "Usage: holdfast show" in run("help", "show").stdout


def test_a_beginning_of_several_sessions_is_explained() -> None:
    with holdfast.open() as hf:
        ids = [hf.session().id for _ in range(13)]
    done = run("show", ids[0][:6])
    assert done.exit_code == 1
    assert f"error: {ids[0][:6]} fits 13 sessions\n   do: give more letters" in done.stderr
    told = json.loads(run("show", ids[0][:6], "--json").stderr)
    assert (told["kind"], len(told["nearest"])) == ("Ambiguous", 2)


def test_what_nobody_expected_is_short_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ValueError("of all things \x1b[2J")

    monkeypatch.setattr(sessions, "callback", fail)
    done = run("sessions")
    assert done.exit_code == 1
    assert "ValueError: of all things ␛" in done.stderr
    assert "HOLDFAST_DEBUG=1" in done.stderr
    assert isinstance(run("sessions", HOLDFAST_DEBUG="1").exception, ValueError)


def test_settings_that_cannot_be_read_are_explained(tmp_path: Path) -> None:
    (tmp_path / "config" / "holdfast").mkdir(parents=True)
    (tmp_path / "config" / "holdfast" / "settings.toml").write_text("stor = 1")
    done = run("sessions")
    assert done.exit_code == 1
    assert "did you mean store?" in done.stderr


def test_being_interrupted_is_quiet(own_store: Path) -> None:
    assert ending(KeyboardInterrupt()) == 130
    with holdfast.open() as hf:
        session = hf.session()
        for _ in range(3):
            session.user("x" * 3_000_000)
    command = [sys.executable, "-m", "holdfast.cli", "show", "last"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout
        assert running.stderr
        assert running.stdout.read(10)  # it is writing now, and the pipe is full
        running.send_signal(signal.SIGINT)
        _rest, said = running.communicate(timeout=30)
    assert running.returncode == 130
    assert said.strip() == b""


def test_a_reader_that_leaves_early_is_no_error(own_store: Path) -> None:
    with holdfast.open() as hf:
        hf.session().user("x" * 3_000_000)
    for words in ("show last", "show last --json", "demo", "sessions"):
        command = f"{sys.executable} -m holdfast.cli {words} | head -c 5"
        done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60)
        assert len(done.stdout) == 5
        assert done.stderr == b""


def test_an_old_terminal_shows_what_it_can(own_store: Path) -> None:
    with holdfast.open() as hf:
        hf.session(title="漢字").user("naïve")
    for words in (("sessions",), ("show", "last"), ("demo",)):
        done = program(*words, PYTHONIOENCODING="ascii")
        assert done.returncode == 0
        assert done.stdout.isascii()


def test_help_comes_without_loading_the_engine_or_the_painter() -> None:
    code = (
        "import sys, holdfast.cli; from click.testing import CliRunner; "
        "assert CliRunner().invoke(holdfast.cli.main, ['--help']).exit_code == 0; "
        "print(sorted({'rich', 'asyncio', 'apsw', 'msgspec'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


def test_the_library_loads_neither_click_nor_rich() -> None:
    code = (
        "import sys, holdfast; holdfast.open('memory:').close(); "
        "print(sorted({'rich', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


def test_each_commands_line_in_the_help_is_its_own_first_sentence() -> None:
    for name, (place, line) in holdfast.cli.COMMANDS.items():
        module, _, variable = place.partition(":")
        command = getattr(import_module(f"holdfast.cli.{module}"), variable)
        assert line == command.get_short_help_str(1 << 16), name
