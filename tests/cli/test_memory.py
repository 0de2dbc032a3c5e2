"""`holdfast memory`: each command does what it says, also as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.knowledge.notes import Decided
from holdfast.model.message import Message, Text, assistant
from tests.cli.running import run, values


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "work"
    (place / ".git").mkdir(parents=True)
    monkeypatch.chdir(place)
    return place


def add(text: str = "Always use uv.", name: str = "tooling") -> str:
    (made,) = values("memory", "add", text, "--name", name, "--type", "feedback")
    return made["file"]


def test_a_note_is_added_listed_shown_and_changed() -> None:
    assert "no notes yet" in run("memory", "list").stdout
    file = add()
    (one,) = values("memory", "list")
    assert (one["file"], one["type"], one["trust"], one["uses"]) == (file, "feedback", "user", 0)
    (shown,) = values("memory", "show", "tooling")
    assert shown["text"].endswith("Always use uv.\n")
    assert "is changed" in run("memory", "edit", file, "--text", "Always use poetry.").stdout
    assert "poetry" in run("memory", "show", file).stdout


def test_a_note_that_was_taken_away_is_brought_back() -> None:
    file = add()
    assert "taken away" in run("memory", "forget", file).stdout
    made, gone = values("memory", "history", file)
    assert (made["cause"], gone["cause"], gone["text"]) == ("hand", "forget", "")
    assert "is as it was" in run("memory", "revert", gone["id"]).stdout
    assert [one["file"] for one in values("memory", "list")] == [file]


def test_what_repeats_or_contradicts_a_note_is_said() -> None:
    add("Always run the tests before a commit.", "tests")
    assert "repeats" in run("memory", "add", "Always run the tests before each commit.").stdout
    assert "contradicts" in run("memory", "add", "Never run the tests before a commit.").stdout


def test_what_waits_is_approved_or_refused_and_does_not_come_back() -> None:
    with holdfast.open() as hf:
        memory = hf.memory(".").inner
        text = "---\nname: x\ndescription: d\ntype: project\n---\n\nFrom a page.\n"
        change = Decided(file="project_x.md", text=text, trust="web", cause="extraction")
        drive(memory.propose(change, "not found in what the user wrote"))
        drive(memory.propose(change, "again"))
    (waiting,) = values("memory", "review")
    assert (waiting["trust"], waiting["file"]) == ("web", "project_x.md")
    assert values("memory", "list") == []
    assert "From a page." in run("memory", "review").stdout
    run("memory", "review", "--reject", waiting["id"])
    assert "Nothing waits" in run("memory", "review").stdout
    with holdfast.open() as hf:
        assert drive(hf.memory(".").inner.propose(change, "once more")) is None


def test_an_approved_note_is_kept() -> None:
    with holdfast.open() as hf:
        text = "---\nname: x\ndescription: d\ntype: project\n---\n\nFrom a page.\n"
        change = Decided(file="project_x.md", text=text, trust="web", cause="extraction")
        waiting = drive(hf.memory(".").inner.propose(change, "why"))
        assert waiting
    assert "Kept in project_x.md" in run("memory", "review", "--accept", waiting.id[:8]).stdout
    (one,) = values("memory", "list")
    assert (one["cause"], one["trust"]) == ("review", "user")


def test_notes_are_written_out_and_taken_over(tmp_path: Path) -> None:
    file = add()
    run("memory", "export", str(tmp_path / "out"))
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["MEMORY.md", file]
    run("memory", "forget", file)
    (done,) = values("memory", "import", str(tmp_path / "out"))
    assert done["files"] == [file]
    assert values("memory", "import", str(tmp_path / "out")) == [{"files": []}]


def test_what_a_note_influenced_and_what_influenced_a_reply_is_told(here: Path) -> None:
    file = add("Deploys to kestrel need the VPN.", "kestrel")
    with holdfast.open() as hf:
        memory = hf.memory(".")
        s = hf.session(directory=here, model="gpt-4o")
        told = memory.reminder(memory.recall("deploys to kestrel"))
        s.append(Message("user", (Text(told, scaffold="system-reminder"),)))
        s.user("How do deploys to kestrel work?")
        reply = s.append(assistant("Over the VPN."))
    (one,) = values("memory", "influence", file)
    assert (one["reply"], one["said"], one["shown"]) == (reply.seq, "Over the VPN.", 1)
    (back,) = values("memory", "influence", "--reply", "last", str(reply.seq))
    assert back["file"] == file
    assert run("memory", "influence").exit_code == 1


def test_notes_of_a_program_are_named_by_their_key() -> None:
    run("memory", "add", "I drive a van.", "--key", "customer 17")
    (one,) = values("memory", "list", "--key", "customer 17")
    assert one["file"] == "project_i_drive_a_van.md"
    assert values("memory", "list") == []


def test_a_name_that_leads_nowhere_names_the_nearest() -> None:
    file = add()
    done = run("memory", "show", "feedback_toolin.md")
    assert done.exit_code == 1
    assert file in done.stderr
