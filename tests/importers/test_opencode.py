"""OpenCode's sessions: exports, trees of files and databases; compactions, prunes, subtasks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.importers.opencode import OpenCode
from holdfast.model.log import Clear, Summary
from holdfast.model.message import Media, Message, Reasoning, Record, Subtask, Text, ToolResult
from holdfast.model.reply import Usage
from holdfast.testing.contracts import ImporterContract
from tests.importers.looking import bring, calls_of, log, only, parts, said, words
from tests.importers.opencode_writing import (
    MODEL,
    SESSION,
    Talk,
    database,
    ran,
    story,
    thought,
)


@pytest.mark.seed("000", 47, 48, 60)
def test_a_story_becomes_a_log(hf: Holdfast, tmp_path: Path) -> None:
    (report,) = bring(hf, story().export(tmp_path / "p"))
    assert (report.importer, report.troubles, report.compactions) == ("opencode", 0, 1)
    session = only(hf)
    info = session.info
    assert (info.title, info.directory, info.model) == ("The roof", "/home/me/project", MODEL)
    assert words(session) == [
        "Paint it blue.", "Painting", "Σ The roof was mended.", "Continue.", "Nothing is left.",
        "no such file",
    ]  # fmt: skip
    (summary,) = [entry.body for entry in session.entries() if isinstance(entry.body, Summary)]
    assert (summary.trigger, summary.tokens_before, summary.model) == ("auto", 27, MODEL)


@pytest.mark.seed("000", 71, 72, 73, 74, 75, 76)
def test_parts_become_what_they_are(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().export(tmp_path / "p"))
    first, reply, answers, *_ = only(hf).entries()
    assert isinstance(first.body, Message)
    shown = [part for part in first.body.parts if isinstance(part, Text)]
    assert [bool(part.scaffold) for part in shown] == [False, True]
    assert isinstance(reply.body, Message)
    (thought,) = [part for part in reply.body.parts if isinstance(part, Reasoning)]
    assert thought.seal
    assert (thought.seal.owner, thought.seal.data) == ("anthropic", b'{"signature":"c2lnbmVk"}')
    assert isinstance(answers.body, Message)
    assert [part.output for part in answers.body.parts if isinstance(part, ToolResult)] == [
        "roof.py", "/home/me",
    ]  # fmt: skip
    kept = {part.type for part in parts(only(hf)) if isinstance(part, Record)}
    assert kept == {"session", "message", *(f"part/{kind}" for kind in (
        "text", "file", "step-start", "reasoning", "tool", "patch", "step-finish", "compaction",
    ))}  # fmt: skip


@pytest.mark.seed("000", 64, 67, 68)
def test_input_leaves_out_the_cache_and_cost_is_what_it_says(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().export(tmp_path / "p"))
    calls = calls_of(hf, only(hf))
    assert {call.usage for call in calls} == {
        Usage(input=10, cache_read=5, cache_write=2, output=10, reasoning=3)
    }
    assert [call.cause for call in calls] == ["turn", "turn", "turn", "summary", "turn"]
    assert [call.stop for call in calls] == ["tools", "end", "aborted", "end", "end"]
    assert only(hf).cost == 1.25


def test_an_aborted_reply_was_never_completed(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().export(tmp_path / "p"))
    (aborted,) = [entry for entry in only(hf).entries() if said(entry) == "Painting"]
    assert aborted.completed is None


@pytest.mark.seed("000", 85, 87)
def test_pruned_results_are_cleared_and_stay_in_the_log(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().export(tmp_path / "p"))
    (clear,) = [entry.body for entry in only(hf).entries() if isinstance(entry.body, Clear)]
    assert ([(ref.seq, ref.ordinal) for ref in clear.parts], clear.step) == ([(3, 1)], "prune")


def test_export_tree_and_database_tell_the_same(tmp_path: Path) -> None:
    logs = []
    for number, path in enumerate((
        story().export(tmp_path / "a"), story().tree(tmp_path / "b"),
        database(tmp_path / "c", story()),
    )):  # fmt: skip
        with holdfast.open(tmp_path / f"{number}.db") as hf:
            bring(hf, path)
            entries = list(only(hf).entries())
            bare = [[p for p in getattr(e.body, "parts", ()) if not isinstance(p, Record)]
                    if isinstance(e.body, Message) else type(e.body) for e in entries]  # fmt: skip
            logs.append((bare, [call.usage for call in calls_of(hf, only(hf))]))
    assert logs[0] == logs[1] == logs[2]


def test_import_twice_is_import_once_whatever_the_form(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().export(tmp_path / "a"))
    before = words(only(hf))
    for path in (story().tree(tmp_path / "b"), database(tmp_path / "c", story())):
        (report,) = bring(hf, path)
        assert (report.messages, report.compactions, report.calls) == (0, 0, 0)
        known = log(only(hf))
        (report,) = bring(hf, path)
        assert report.unchanged
        path.touch()
        (report,) = bring(hf, path)
        assert report.entries == 0
        assert log(only(hf)) == known
    assert words(only(hf)) == before


def test_what_is_added_is_followed_in_every_form(tmp_path: Path) -> None:
    told = story()
    whole, many = told.messages, len(told.messages)
    for form in ("export", "tree", "database"):
        with holdfast.open(tmp_path / f"{form}.db") as hf:
            for step in range(1, many + 1):
                told.messages = whole[:step]
                bring(hf, _written(told, form, tmp_path / form))
            grown = words(only(hf)), len(calls_of(hf, only(hf)))
        with holdfast.open(tmp_path / f"{form}-at-once.db") as hf:
            bring(hf, _written(told, form, tmp_path / form))
            assert grown == (words(only(hf)), len(calls_of(hf, only(hf))))


def _written(told: Talk, form: str, place: Path) -> Path:
    if form != "database":
        return getattr(told, form)(place)
    if not (place / "opencode.db").exists():
        return database(place, told)
    with closing(sqlite3.connect(place / "opencode.db")) as db:
        told.insert(db)
    return place / "opencode.db"


def test_a_database_is_read_with_what_is_still_in_its_log(hf: Holdfast, tmp_path: Path) -> None:
    path = database(tmp_path / "p")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint=0")
        story().insert(writer)
        assert path.with_name("opencode.db-wal").stat().st_size
        bytes_before = path.read_bytes()
        bring(hf, path)
        assert words(only(hf))[-1] == "no such file"
        assert path.read_bytes() == bytes_before
        assert sorted(one.name for one in path.parent.iterdir()) == [
            "opencode.db", "opencode.db-shm", "opencode.db-wal",
        ]  # fmt: skip


def test_a_child_is_a_session_that_its_parent_names(tmp_path: Path) -> None:
    child = Talk("ses_100000000000000000000000c1", parentID=SESSION, title="Look (@general)")
    child.user("Look.")
    child.reply("All well.")
    told = Talk()
    told.user("Have it looked at.")
    told.reply(ran("c1", "All well.", metadata={"sessionId": child.info["id"]}))
    child.info["time"] = {"created": 1_776_105_700_000, "updated": 1_776_105_700_000}
    child.tree(tmp_path / "tree")
    told.tree(tmp_path / "tree")
    database(tmp_path / "db", child, told)
    for form in ("tree", "db"):
        with holdfast.open(tmp_path / f"{form}.sqlite") as hf:
            bring(hf, tmp_path / form)
            (made,) = [session for session in hf.every_session() if session.parent]
            parent = hf.session(made.parent)
            assert made.title == "subtask: Look (@general)"
            assert [p.session for p in parts(parent) if isinstance(p, Subtask)] == [made.id]


def test_the_database_is_preferred_and_the_tree_adds_what_it_lacks(
    hf: Holdfast, tmp_path: Path
) -> None:
    old = Talk()
    old.user("The old words.")
    old.tree(tmp_path / "p")
    other = Talk("ses_300000000000000000000000b2")
    other.user("Only in the tree.")
    path = other.tree(tmp_path / "p")
    new = Talk()
    new.user("The new words.")
    database(tmp_path / "p", new)
    reports = bring(hf, tmp_path / "p")
    assert sorted(words(hf.session(one.id)) for one in hf.every_session()) == [
        ["Only in the tree."], ["The new words."],
    ]  # fmt: skip
    told = [problem.what for report in reports for problem in report.problems]
    assert told == ["is told by the opencode.db beside it: import that"] * 2
    assert bring(hf, path)[0].sessions == ()


@pytest.mark.seed("000", 69)
def test_a_compaction_that_was_not_finished_does_not_count(hf: Holdfast, tmp_path: Path) -> None:
    told = Talk()
    told.user("One?")
    told.compact("Half", error={"name": "MessageAbortedError", "data": {}})
    told.user("Two?")
    told.user({"type": "compaction", "auto": False})
    told.user("Three?")
    (report,) = bring(hf, told.export(tmp_path / "p"))
    assert words(only(hf)) == ["One?", "Two?", "Three?"]
    assert [problem.severity for problem in report.problems] == ["notice"] * 3


def test_a_revert_is_a_rewind(hf: Holdfast, tmp_path: Path) -> None:
    told = Talk()
    told.user("One?")
    told.reply("One.")
    gone = told.user("Two?")
    told.reply("Two.")
    told.info["revert"] = {"messageID": gone}
    bring(hf, database(tmp_path / "p", told))
    assert words(only(hf)) == ["One?", "One."]


def test_steps_of_one_message_are_replies_with_their_answers(hf: Holdfast, tmp_path: Path) -> None:
    told = Talk()
    told.user("Look twice.")
    told.reply("Once.", ran("c1", "a"), {"type": "step-start"}, "Twice.", ran("c2", "b"))
    bring(hf, told.export(tmp_path / "p"))
    assert words(only(hf)) == ["Look twice.", "Once.", "a", "Twice.", "b"]


def test_what_the_model_never_saw_is_only_kept(hf: Holdfast, tmp_path: Path) -> None:
    told = Talk()
    told.user("Look.", {"type": "text", "text": "psst", "ignored": True},
              {"type": "file", "mime": "image/png", "url": "data:image/png;base64,iVBORw0KGgo="},
              {"type": "hologram", "x": 1})  # fmt: skip
    told.reply(thought("sealed", copilot={"reasoningOpaque": "xyz"}))
    (report,) = bring(hf, told.export(tmp_path / "p"))
    assert [problem.severity for problem in report.problems] == ["unknown"]
    assert words(only(hf)) == ["Look.", "sealed"]
    assert any(b"psst" in part.data for part in parts(only(hf)) if isinstance(part, Record))
    (picture,) = [part for part in parts(only(hf)) if isinstance(part, Media)]
    assert (picture.type, picture.data) == ("image/png", b"\x89PNG\r\n\x1a\n")
    (sealed,) = [part for part in parts(only(hf)) if isinstance(part, Reasoning)]
    assert sealed.seal
    assert not sealed.seal.sent


class TestExport(ImporterContract):
    lines = False

    def importer(self) -> OpenCode:
        return OpenCode()

    def example(self, place: Path) -> Path:
        return story().export(place)


class TestTree(ImporterContract):
    lines = False

    def importer(self) -> OpenCode:
        return OpenCode()

    def example(self, place: Path) -> Path:
        return story().tree(place / "opencode")


class TestDatabase(ImporterContract):
    lines = False

    def importer(self) -> OpenCode:
        return OpenCode()

    def example(self, place: Path) -> Path:
        (place / "a" / "b").mkdir(parents=True)
        return database(place / "a" / "b", story())


def test_messages_whose_session_has_no_row_are_read_and_told(hf: Holdfast, tmp_path: Path) -> None:
    path = database(tmp_path / "p", story())
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM session")
    (report,) = bring(hf, path)
    assert words(only(hf))
    assert any("it has no row" in one.what and SESSION in one.what for one in report.problems)


def test_the_status_of_a_command_is_told_beside_its_answer(hf: Holdfast, tmp_path: Path) -> None:
    talk = Talk()
    talk.user("Make it.")
    for id, status in (("c1", 0), ("c2", 2), ("c3", None), ("c4", "0")):
        talk.reply(ran(id, "made", metadata={"exit": status}))
    bring(hf, talk.export(tmp_path))
    answers = [part for part in parts(only(hf)) if isinstance(part, ToolResult)]
    assert [one.exit for one in answers] == [0, 2, None, None]


def test_the_name_of_a_session_without_a_title_is_none(hf: Holdfast, tmp_path: Path) -> None:
    told = story()
    told.info["title"] = "New session - 2026-08-11T16:16:00.424Z"
    bring(hf, told.export(tmp_path / "p"))
    assert only(hf).info.title == ""
    assert hf.opening(only(hf).info) == "Please mend the roof."
