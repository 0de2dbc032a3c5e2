"""Lists of commands are whole sentences, and a shell can complete what commands take."""

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

import holdfast
from holdfast.cli import COMMANDS, main
from tests.cli.running import run


@pytest.mark.parametrize("words", [(), ("policy",)])
def test_no_line_of_help_is_cut(words: tuple[str, ...]) -> None:
    shown = run(*words, "--help").stdout
    assert "..." not in shown.partition("Commands:")[2]
    assert max(map(len, shown.splitlines())) <= 80


def test_every_command_is_listed_with_its_first_sentence() -> None:
    listed = " ".join(run("--help").stdout.partition("Commands:")[2].split())
    for name in COMMANDS:
        command = main.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        first = " ".join((command.help or "").partition("\n\n")[0].split()).rstrip(".")
        assert first.partition(". ")[0] in listed, name


def offered(*typed: str) -> list[str]:
    """What a shell offers where the last word is being typed."""
    complete = ShellComplete(main, {}, "holdfast", "_HOLDFAST_COMPLETE")
    return [one.value for one in complete.get_completions(list(typed[:-1]), typed[-1])]


def test_what_a_store_holds_is_completed_wherever_the_store_is_named(tmp_path: Path) -> None:
    store = str(tmp_path / "other.db")
    with holdfast.open(store) as hf:
        session = hf.session(directory="/srv/shop")
        session.user("Hello")
    for words in (("--store", store, "search"), ("search", "--store", store)):
        assert offered(*words, "--project", "sh") == ["shop"]
        assert offered(*words, "--session", session.id[:8]) == [session.id]


def test_models_policies_and_projects_are_completed() -> None:
    assert "claude-sonnet-4-6" in offered("chat", "-m", "claude-s")
    assert "claude-sonnet-4-6" in offered("models", "claude-s")
    assert offered("chat", "--policy", "ai") == ["aider"]
    assert offered("policy", "show", "gemini-c")[0] == "gemini-cli"
    with holdfast.open() as hf:
        session = hf.session(directory="/srv/shop", title="Login")
        session.user("Hello")
    for words in (("search", "--project"), ("sessions", "--project"), ("cost", "--project")):
        assert offered(*words, "sh") == ["shop"]
        assert offered(*words, "nothing") == []
    for words in (("cost", "--session"), ("chat", "--resume"), ("status-line",)):
        assert offered(*words, session.id[:8]) == [session.id]
