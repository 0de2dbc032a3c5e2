"""What was said is found again, in every session or in one."""

from importlib import import_module
from pathlib import Path
from typing import get_args

import apsw
import pytest
from rich.cells import cell_len
from rich.text import Text

import holdfast
from holdfast.model.message import Role, ToolCall, ToolResult, tool
from holdfast.testing.factories import append, start
from tests.cli.running import run, values

command = import_module(
    "holdfast.cli.sessions.search"
)  # the package has the command under that name


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
    assert header.split() == ["session", "entry", "project", "when", "role", "what", "was", "said"]
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
        "session", "seq", "entry", "ordinal", "kind", "role", "snippet", "marks", "created",
        "model", "project", "agent", "score",
    }  # fmt: skip
    assert len(values("search", "login", "--limit", "1")) == 1


@pytest.fixture
def worked(tmp_path: Path) -> str:
    with holdfast.open() as hf:
        s = hf.session(directory=tmp_path)
        s.user("Where is the walrus kept?")
        s.append(holdfast.assistant(ToolCall("c1", "grep", '{"path": "sea/reef.py"}')))
        s.append(tool(ToolResult("c1", "walrus = 1")))
        s.append(holdfast.assistant("The walrus is in the reef."))
        return s.id


def test_every_filter_can_be_given(worked: str, tmp_path: Path) -> None:
    def seqs(*words: str) -> list[int]:
        return sorted(hit["seq"] for hit in values("search", "walrus", *words))

    assert seqs("--tool", "grep") == [3]
    assert seqs("--path", "reef.py") == [3]
    assert seqs("--project", tmp_path.name) == [1, 3, 4]
    assert run("search", "walrus", "--project", "elsewhere").exit_code == 1
    assert seqs("--model", "opus") == []
    assert seqs("--until", "2020-01-01") == []
    assert seqs("--since", "2020-01-01") == [1, 3, 4]
    assert values("search", "wal") == []
    assert len(values("search", "wal", "--prefix")) == 3
    refused = run("search", "walrus", "--path", "/")
    assert refused.exit_code == 1
    assert "names no path" in refused.stderr


def test_an_agent_that_nothing_is_from_is_refused_with_those_there_are(worked: str) -> None:
    assert "nothing is imported yet" in run("search", "walrus", "--agent", "codex").stderr
    with holdfast.open() as hf:
        for agent in ("codex", "claude-code"):
            append(hf.engine.store, start(hf.engine.store, agent=agent), f"a walrus of {agent}")
    (found,) = values("search", "walrus", "--agent", "Codex")
    assert found["agent"] == "codex"
    refused = run("search", "walrus", "--agent", "codec")
    assert refused.exit_code == 1
    said = " ".join(refused.stderr.split())
    assert "did you mean codex?" in said
    assert "claude-code, codex" in said


def test_pages_are_numbered_and_one_can_be_opened(worked: str) -> None:
    first = run("search", "walrus", "--limit", "2", FORCE_COLOR="1", NO_COLOR="1").stdout
    assert first.splitlines()[-1].endswith("--page 2")
    second = run("search", "walrus", "--limit", "2", "--page", "2").stdout.splitlines()
    assert [row.split()[0] for row in second[1:]] == ["3"]
    assert "Nothing more is found" in run("search", "walrus", "--page", "2").stdout
    (third,) = values("search", "walrus", "--limit", "2", "--page", "2")
    opened = run("search", "walrus", "--open", "3").stdout
    assert f"▶ #{third['seq']} " in opened
    assert [one["seq"] for one in values("search", "walrus", "--open", "3")] == [1, 2, 3, 4]


def test_one_is_opened_with_what_is_around_it() -> None:
    with holdfast.open() as hf:
        s = hf.session()
        for n in range(30):
            s.user(f"number {n}")
        id = s.id
    (hit,) = values("search", "number 11")
    opened = values("search", "number 11", "--open", "1")
    assert [one["seq"] for one in opened] == list(range(hit["seq"] - 3, hit["seq"] + 4))
    told = run("search", "number 11", "--open", "1").stdout
    assert "▶ #12 user" in told
    assert "… 8 earlier entries; --around N shows more" in told
    assert "later entries" in told
    assert told == run("show", id, "--at", "12", "--around", "3").stdout
    alone = values("show", id, "--at", "12", "--around", "0")
    assert [one["seq"] for one in alone] == [12]
    assert "name it with --at" in run("show", id, "--around", "3").stderr


def test_what_was_found_in_a_long_text_is_in_sight_once_it_is_opened() -> None:
    with holdfast.open() as hf:
        hf.session().user("word\n" * 500 + "The Walrus\nsleeps.\n" + "word\n" * 500)
    told = run("search", "walrus", "--open", "1", FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "The Walrus" in told
    assert " lines before" in told
    assert " more lines" in told
    assert len(told.splitlines()) < 30


def test_what_was_found_is_marked_and_in_sight() -> None:
    with holdfast.open() as hf:
        hf.session().user("word " * 30 + "\x1b[31m walrus \u202e" + "word " * 30)
    told = run("search", "walrus", FORCE_COLOR="1", COLUMNS="70").stdout
    row = told.splitlines()[1]
    assert "\x1b[1;33mwalrus\x1b[0m" in row
    assert "\u202e" not in told
    assert "\x1b[31m" not in told
    plain = Text.from_ansi(row).plain
    assert cell_len(plain) <= 70
    assert "walrus" in plain


@pytest.mark.parametrize("columns", [30, 40, 60, 80, 120])
@pytest.mark.parametrize("around", ["漢字", "word ", "👩‍👩‍👧‍👦 ", "\u202e", "é" * 9 + "\n"])
def test_what_was_found_is_in_sight_in_every_script_and_width(around: str, columns: int) -> None:
    with holdfast.open() as hf:
        hf.session().user(around * 40 + " walrus " + around * 40)
        hf.session().user("walrus " + around * 40)
        hf.session().user(around * 40 + " walrus")
    told = run("search", "walrus", FORCE_COLOR="1", NO_COLOR="1", COLUMNS=str(columns)).stdout
    rows = [line for line in told.splitlines() if "walrus" in line]
    assert len(rows) == 3
    assert max(map(cell_len, told.splitlines()[:4])) <= columns


def test_nothing_found_is_no_error(sessions: tuple[str, str]) -> None:
    done = run("search", "elephant")
    assert done.exit_code == 0
    assert done.stdout.startswith("Nothing is found for 'elephant'. With --prefix, words that only")
    assert run("search", "elephant", "--prefix").stdout == "Nothing is found for 'elephant'.\n"
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


def test_a_project_or_a_tool_that_is_not_there_is_refused_with_the_nearest(worked: str) -> None:
    with holdfast.open() as hf:
        s = hf.session(directory="/srv/harbour")
        s.user("A gull.")
        call = holdfast.ToolCall("call_1", "read_file", "{}")
        s.append(holdfast.Message(role="assistant", parts=(call,)))
    assert "did you mean harbour?" in run("search", "gull", "--project", "harbor").stderr
    assert "no project 'nowhere'" in run("search", "gull", "--project", "nowhere").stderr
    assert "did you mean read_file?" in run("search", "gull", "--tool", "raed_file").stderr
    for filters in (("--project", "/srv/harbour"), ("--project", "HARBOUR"), ("--tool", "read")):
        done = run("search", "walruses", *filters)
        assert done.exit_code == 0, done.stderr
        assert "Nothing is found" in done.stdout


def test_results_name_the_project(tmp_path: Path) -> None:
    with holdfast.open() as hf:
        hf.session(directory="/srv/web-shop").user("Where is the walrus kept?")
    header, row = run("search", "walrus").stdout.splitlines()
    assert header.split()[:4] == ["session", "entry", "project", "when"]
    assert " web-shop " in row
    shown = run("search", "walrus", FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "web-shop" in shown
    assert max(map(cell_len, shown.splitlines())) <= 80


def test_a_mistyped_word_finds_the_nearest(sessions: tuple[str, str]) -> None:
    done = run("search", "logn", "hander")
    assert "did you mean 'login handler'?" in done.stderr
    assert "The login handler is fixed." in done.stdout
    done = run("search", "logn", "--json")
    assert done.stdout == ""
    assert "did you mean 'login'?" in done.stderr
    assert "Nothing is found for 'zebra'" in run("search", "zebra").stdout
