"""A command that takes SESSION means the session that changed last where none is named."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

import holdfast
from holdfast.cli import main
from tests.cli.running import run, values

TALK = "The roof of the north tower needs mending before winter. " * 40


@pytest.fixture
def last() -> str:
    """Two sessions; the one that changed last can be compacted."""
    with holdfast.open() as hf:
        hf.session(model="claude-sonnet-4-6").user("an older one")
        s = hf.session(model="claude-sonnet-4-6", directory=".")
        for turn in range(8):
            said = holdfast.assistant(f"Mended wall {turn} with lime. {TALK}")
            s.append_all([holdfast.user(f"{turn}: {TALK}"), said])
        return s.id


def taking_sessions() -> list[tuple[str, click.Command]]:
    """Every command with an argument SESSION, by its words."""
    context = click.Context(main)
    found: list[tuple[str, click.Command]] = []
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        inner = command.commands if isinstance(command, click.Group) else {"": command}
        found += [(f"{name} {word}".strip(), one) for word, one in inner.items() if one]
    return [
        (words, one)
        for words, one in found
        if any(p.name == "session" and isinstance(p, click.Argument) for p in one.params)
    ]


def test_no_command_insists_on_a_session() -> None:
    found = taking_sessions()
    assert len(found) >= 17
    for words, command in found:
        assert "[SESSION]" in command.get_usage(click.Context(command, info_name=words))


@pytest.mark.parametrize(
    "words",
    ["show", "context", "explain", "status-line", "ledger", "compact", "fork", "archive",
     "export -o copy.jsonl", "handoff --to markdown -o copy.md", "rename Towers", "recall 3",
     "pin 3", "pin --fact so", "pin --list", "policy set codex"],
)  # fmt: skip
def test_without_a_name_it_is_the_last(
    words: str, last: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*words.split())
    assert done.exit_code == 0, done.stderr
    with holdfast.open() as hf:
        (older,) = [one for one in hf.every_session() if one.head == 1 and one.id != last]
        assert (older.title, older.archived, older.policy) == ("", 0, "holdfast")


def test_a_number_alone_is_an_entry_of_the_last_session(last: str) -> None:
    (done,) = values("compact")
    marker = str(done["marker"])
    for words in (("undo", marker), ("redo", marker), ("undo",), ("redo",)):
        (told,) = values(*words)
        assert (told["session"], told["marker"]) == (last, int(marker))
    (pinned,) = values("pin", "3")
    assert values("unpin", "3") == [pinned]
    assert values("undo", last, marker)[0]["session"] == last


def test_a_name_of_a_session_is_no_title_for_another(last: str) -> None:
    done = run("rename", last)
    assert done.exit_code == 1
    assert "TITLE" in done.stderr
    assert run("rename", "last").exit_code == 1


def test_nothing_is_erased_unasked_unless_it_is_named(last: str) -> None:
    assert "say `last`" in run("erase", "--yes").stderr
    assert f"{last}" in run("erase").stdout  # says what would go, and finds nobody to ask
    assert len(values("sessions")) == 2
    assert run("erase", "last", "--yes").exit_code == 0
    assert len(values("sessions")) == 1


def test_no_hook_is_blamed_where_nothing_could_be_summarised_without_a_model() -> None:
    with holdfast.open() as hf:
        s = hf.session(model="claude-sonnet-4-6")
        for turn in range(8):
            s.append_all([holdfast.user(f"{turn}: {TALK}"), holdfast.assistant(TALK)])
    done = run("compact")
    assert done.exit_code == 1
    assert "hook" not in done.stderr
    assert "`holdfast compact --ask`" in done.stderr
