"""Exporting and handing over from the command line."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

import holdfast
from holdfast.model.log import Clear, PartRef
from holdfast.model.message import Message, ToolCall, ToolResult, assistant
from tests.cli.running import run, values

FORMATS = ("portable", "markdown", "html", "claude-code", "codex", "anthropic",
           "openai-responses", "openai-chat")  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> str:
    with holdfast.open(tmp_path / "log.db") as hf:
        session = hf.session(model="gpt-5.1", title="The roof", directory=tmp_path)
        session.user("Mend the roof; the key is sk-0123456789abcdefghij0123.")
        session.append(assistant("I look.", ToolCall("c1", "shell", '{"cmd":"ls"}')))
        session.tool_result("c1", "roof.txt", name="shell")
        session.append(assistant("It is mended."))
    return str(tmp_path / "log.db")


@pytest.mark.parametrize("to", FORMATS)
def test_every_form_is_written_to_a_private_file_and_says_what_it_carries(
    to: str, store: str, tmp_path: Path
) -> None:
    file = tmp_path / "out"
    done = run("export", "last", "--to", to, "-o", str(file), "--store", store)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == ""
    assert "carried: " in done.stderr
    assert "not carried: what looks like a secret" in done.stderr
    data = file.read_bytes()
    assert b"It is mended." in data
    assert b"sk-0123456789" not in data
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    plain = run("export", "last", "--to", to, "--store", store)
    assert plain.stdout.encode() == data


def test_with_json_the_statement_is_a_value(store: str, tmp_path: Path) -> None:
    file = str(tmp_path / "out")
    (told,) = values("export", "last", "-o", file, "--raw", "--store", store)
    assert (told["file"], told["format"]) == (file, "portable")
    assert told["carried"][0] == "4 messages, word for word"
    assert b"sk-0123456789" in Path(file).read_bytes()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("export", "--json"), "say -o FILE"),
        (("export", "nobody"), "nobody"),
        (("export", "last", "--to", "runes"), "runes"),
        (("handoff", "last"), "--to"),
    ],
)
def test_what_is_wrong_is_told(words: tuple[str, ...], told: str, store: str) -> None:
    done = run(*words, "--store", store)
    assert done.exit_code != 0
    assert told in done.stderr


def test_the_schema_is_printed_without_a_session() -> None:
    done = run("export", "--schema")
    assert json.loads(done.stdout)["title"] == "Holdfast portable, version 1"


@pytest.mark.parametrize(
    ("to", "variable", "command"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "claude --resume"),
        ("codex", "CODEX_HOME", "codex resume"),
    ],
)
def test_a_session_is_laid_where_its_program_looks(
    to: str, variable: str, command: str, store: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    done = run("handoff", "last", "--to", to, "--store", store, **{variable: str(home)})
    assert done.exit_code == 0, done.stderr
    (file,) = home.rglob("*.jsonl")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    records = [json.loads(line) for line in file.read_text().splitlines()]
    id = done.stdout.split()[-1]
    assert done.stdout == f"cd {tmp_path} && {command} {id}\n"
    assert file.stem.endswith(id)
    assert "This conversation was begun elsewhere with gpt-5.1" in file.read_text()
    assert "Mend the roof" in file.read_text()
    assert records[-1]["type"].startswith("holdfast")
    again = run("handoff", "last", "--to", to, "--store", store, **{variable: str(home)})
    assert again.stdout == done.stdout
    assert list(home.rglob("*.jsonl")) == [file]


def test_a_chain_of_parents_links_every_record(store: str) -> None:
    done = run("export", "last", "--to", "claude-code", "--store", store)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    chained = [one for one in records if "uuid" in one]
    assert [one["parentUuid"] for one in chained] == [
        None, *(one["uuid"] for one in chained[:-1])
    ]  # fmt: skip
    assert len({one["uuid"] for one in chained}) == len(chained)
    replies = [one["message"]["id"] for one in chained if one["type"] == "assistant"]
    assert len(replies) == 3
    assert len(set(replies)) == 2  # two blocks of one reply share its id


def test_handing_over_to_a_reader_is_a_text_and_to_the_chat_a_command(
    store: str, tmp_path: Path
) -> None:
    done = run("handoff", "last", "--to", "markdown", "--store", store)
    assert done.stdout.startswith("# The roof")
    assert "What its log says exactly:" in done.stdout
    assert "It is mended." in done.stdout
    done = run("handoff", "last", "--to", "chat", "--store", store)
    assert done.stdout.startswith(f"cd {tmp_path} && holdfast chat --resume ")
    assert done.stdout.endswith(f"--store {store}\n")


def test_a_directory_that_is_not_here_is_told_and_not_gone_to(tmp_path: Path) -> None:
    away = tmp_path / "away"
    with holdfast.open(tmp_path / "log.db") as hf:
        session = hf.session(model="gpt-5.1", directory=away)
        session.user("Mend the roof.")
    words = ("handoff", "last", "--to", "codex", "--store", str(tmp_path / "log.db"))
    done = run(*words, CODEX_HOME=str(tmp_path / "home"))
    assert done.stdout.startswith("codex resume ")
    assert f"the session's directory {away} is not here" in done.stderr
    told = json.loads(run(*words, "--json", CODEX_HOME=str(tmp_path / "home")).stdout)
    assert told["command"].startswith("codex resume ")
    assert (told["directory"], told["there"]) == (str(away), False)
    assert "--directory DIR" in done.stderr


def test_a_session_is_laid_for_the_directory_that_is_named(store: str, tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other work"
    words = ("handoff", "last", "--to", "claude-code", "--store", store, "--directory", str(other))
    refused = run(*words, CLAUDE_CONFIG_DIR=str(home))
    assert refused.exit_code != 0
    assert f"there is no directory {other}" in refused.stderr
    assert not home.exists()
    other.mkdir()
    done = run(*words, CLAUDE_CONFIG_DIR=str(home))
    assert done.stdout.startswith(f"cd '{other}' && claude --resume ")
    (file,) = home.rglob("*.jsonl")
    assert file.parent.name.endswith("other-work")
    records = [json.loads(line) for line in file.read_text().splitlines()]
    assert {one["cwd"] for one in records if "cwd" in one} == {str(other)}


def test_what_was_cleared_is_handed_to_a_reader_as_its_handle(tmp_path: Path) -> None:
    store = str(tmp_path / "log.db")
    with holdfast.open(store) as hf:
        session = hf.session(model="gpt-5.1")
        session.user("Look at the roof.")
        session.append(Message("assistant", (ToolCall("c1", "read", '{"path": "roof.txt"}'),)))
        result = session.append(Message("tool", (ToolResult("c1", "SHINGLES " * 200),)))
        session.append(holdfast.assistant("It leaks."))
        session.append(Clear(parts=(PartRef(result.seq, 0),)))
    text = run("handoff", "last", "--to", "markdown", "--store", store).stdout
    assert "SHINGLES" not in text
    assert f"recall prt_{result.id}.0" in text
    assert "It leaks." in text
    assert "1 cleared output, of which the handles are here" in text
