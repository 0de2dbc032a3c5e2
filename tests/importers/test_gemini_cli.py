"""Gemini CLI's sessions: lines and documents, replaced lists, masks, compressions, subagents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.importers.gemini_cli import GeminiCli
from holdfast.model.log import Clear, Rewind, Summary
from holdfast.model.message import Message, Reasoning, Record, Text, ToolCall, ToolResult
from holdfast.model.reply import Usage
from holdfast.testing.contracts import ImporterContract
from tests.importers.gemini_writing import MODEL, Chat, call, snapshot, story
from tests.importers.looking import bring, calls_of, log, only, parts, said, words


@pytest.mark.seed("003", 22, 23)
def test_a_story_becomes_a_log(hf: Holdfast, tmp_path: Path) -> None:
    (report,) = bring(hf, story().write(tmp_path / "p"))
    assert (report.importer, report.troubles, report.compactions) == ("gemini-cli", 0, 1)
    session = only(hf)
    assert (session.info.title, session.info.model) == ("The roof", MODEL)
    assert words(session) == [
        "Paint it blue.", "Painted blue.", f"Σ {snapshot('The roof was mended.')}", "Got it.",
        "What is left?", "Nothing is left.",
    ]  # fmt: skip
    kinds = [type(entry.body).__name__ for entry in session.entries()]
    assert kinds == [*["Message"] * 6, "Rewind", *["Message"] * 2, "Summary", *["Message"] * 3]
    summary = next(e.body for e in session.entries() if isinstance(e.body, Summary))
    assert (summary.trigger, summary.tokens_before) == ("auto", 100)


@pytest.mark.seed("003", 24)
def test_a_reply_has_thought_words_and_calls_and_its_answers_follow(
    hf: Holdfast, tmp_path: Path
) -> None:
    bring(hf, story().write(tmp_path / "p"))
    reply, answers = list(only(hf).entries())[1:3]
    assert isinstance(reply.body, Message)
    assert isinstance(answers.body, Message)
    bare = [part for part in reply.body.parts if not isinstance(part, Record)]
    assert [type(part) for part in bare] == [Reasoning, Text, ToolCall, ToolCall]
    assert [getattr(part, "text", "") for part in bare[:2]] == ["Roof\nIt may leak.", "I look."]
    assert [(part.call, part.output) for part in answers.body.parts
            if isinstance(part, ToolResult)] == [("c1", "roof.py"), ("c2", "/home/me")]  # fmt: skip
    assert (reply.provider, reply.model) == ("google", MODEL)


@pytest.mark.seed("001", 81)
def test_what_was_cached_is_told_apart_and_thought_is_output(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().write(tmp_path / "p"))
    used = [call.usage for call in calls_of(hf, only(hf))]
    assert used == [Usage(input=60, cache_read=40, output=15, reasoning=5)] * 5
    assert only(hf).cost > 0


def test_every_line_is_accounted_for(hf: Holdfast, tmp_path: Path) -> None:
    told = story()
    bring(hf, told.write(tmp_path / "p"))
    kept = [part for part in parts(only(hf)) if isinstance(part, Record)]
    assert {record.line for record in kept} >= set(range(1, len(told.records) + 1))
    assert {record.type for record in kept} == {"session", "info", "user", "gemini", "$set",
                                                "$rewindTo"}  # fmt: skip
    assert any(b"displayContent" in record.data for record in kept)


def test_import_twice_is_import_once_and_growth_is_followed(tmp_path: Path) -> None:
    told, found = story(), []
    many = len(told.records)
    for steps in (range(1, many + 1), [many, many]):
        with holdfast.open(tmp_path / f"{len(steps)}.db") as hf:
            for step in steps:
                bring(hf, told.write(tmp_path / "p", step))
            session = only(hf)
            found.append((words(session), [call.usage for call in calls_of(hf, session)]))
            before, path = log(session), told.write(tmp_path / "p")
            path.touch()
            (report,) = bring(hf, path)
            assert (report.entries, report.calls) == (0, 0)
            assert log(session) == before
    assert found[0] == found[1]


def test_a_document_that_is_written_anew_is_followed(hf: Holdfast, tmp_path: Path) -> None:
    told = Chat()
    told.user("u1", "One?")
    told.reply("g1", "One.", call("c1"))
    told.user("u2", "Two?")
    told.reply("g2", "Two.")
    for many in range(1, 5):
        bring(hf, told.document(tmp_path / "p", many))
    assert words(only(hf)) == ["One?", "One.", "done", "Two?", "Two."]
    assert not [entry for entry in only(hf).entries() if isinstance(entry.body, Rewind)]
    told.records[3]["content"] = "Three?"
    told.records[4]["content"] = [{"text": "Three?"}]
    changed = told.document(tmp_path / "p", 3)
    changed.write_text(changed.read_text().replace("Two?", "Three?"))
    bring(hf, changed)
    assert words(only(hf))[-1] == "Three?"
    assert "Two." in [said(entry) for entry in only(hf).entries()]


def test_lines_and_a_document_of_one_session_are_one(hf: Holdfast, tmp_path: Path) -> None:
    told = Chat()
    told.user("u1", "One?")
    told.reply("g1", "One.", call("c1"))
    bring(hf, told.document(tmp_path / "p"))
    (report,) = bring(hf, told.write(tmp_path / "q"))
    assert report.messages == 0
    assert len(list(hf.every_session())) == 1


def test_masked_answers_are_cleared(hf: Holdfast, tmp_path: Path) -> None:
    told = Chat()
    one = told.user("u1", "Look.")
    two = told.reply("g1", "", call("c1", "much " * 50))
    asked = {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}}
    masked = {**two, "content": [{"functionCall": asked}], "toolCalls": [call("c1", "[masked]")]}
    history = {"id": "u1b", "type": "user", "timestamp": two["timestamp"],
               "content": [masked["toolCalls"][0]["result"][0]]}  # fmt: skip
    told.set(messages=[one, masked, history])
    told.reply("g2", "Seen.")
    bring(hf, told.write(tmp_path / "p"))
    (clear,) = [entry.body for entry in only(hf).entries() if isinstance(entry.body, Clear)]
    assert [(ref.seq, ref.ordinal) for ref in clear.parts] == [(3, 0)]
    assert not [entry for entry in only(hf).entries() if isinstance(entry.body, Rewind)]
    assert "much much" not in str(only(hf).preview(model=MODEL).request("gemini"))
    assert [said(entry) for entry in only(hf).entries()][2] == "much " * 50


def test_a_rolled_back_turn_is_a_rewind(hf: Holdfast, tmp_path: Path) -> None:
    told = Chat()
    kept = [told.user("u1", "One?"), told.reply("g1", "One.")]
    told.user("u2", "Two?")
    told.set(messages=kept)
    told.user("u3", "Three?")
    bring(hf, told.write(tmp_path / "p"))
    assert words(only(hf)) == ["One?", "One.", "Three?"]
    assert "Two?" in [said(entry) for entry in only(hf).entries()]


def test_a_summary_that_is_recorded_before_the_list_keeps_its_tail(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = Chat()
    told.user("u1", "One?")
    told.reply("g1", "One.")
    tail = [told.user("u2", "Two?"), told.reply("g2", "Two.", call("c2"))]
    summary = told.user("s1", snapshot("One."))
    nod = told.reply("s2", "Got it.", tokens=None)
    told.set(messages=[summary, nod, *tail])
    told.rewind("g2")
    bring(hf, told.write(tmp_path / "p"))
    assert words(only(hf)) == ["Two?", f"Σ {snapshot('One.')}", "Got it."]


def test_a_subagent_is_a_session_of_its_own_with_its_parent(hf: Holdfast, tmp_path: Path) -> None:
    main = Chat()
    main.user("u1", "Have it looked at.")
    path = main.write(tmp_path / "p")
    (path.parent.parent / ".project_root").write_text("/home/me/project\n")
    agent = Chat("agent-7", kind="subagent")
    agent.user("a1", "Look.")
    nested = path.parent / main.header["sessionId"] / "agent-7.jsonl"
    nested.parent.mkdir()
    nested.write_bytes(b"".join(agent.lines))
    bring(hf, tmp_path / "p")
    child = next(session for session in hf.every_session() if session.parent)
    parent = hf.session(child.parent)
    assert words(parent) == ["Have it looked at."]
    assert words(hf.session(child.id)) == ["Look."]
    assert child.directory == parent.info.directory == "/home/me/project"


def test_a_cancelled_call_is_answered_as_such(hf: Holdfast, tmp_path: Path) -> None:
    told = Chat()
    told.user("u1", "Look.")
    told.reply("g1", "", call("c1", status="cancelled", result=[], resultDisplay=None))
    bring(hf, told.write(tmp_path / "p"))
    (answer,) = [part for part in parts(only(hf)) if isinstance(part, ToolResult)]
    assert (answer.output, answer.error) == ("[cancelled]", True)


def test_unknown_kinds_are_kept_and_told(hf: Holdfast, tmp_path: Path) -> None:
    told = story()
    told.add("x1", "hologram", "?")
    told.records.append({"mystery": 1})
    (report,) = bring(hf, told.write(tmp_path / "p"))
    assert [problem.severity for problem in report.problems] == ["unknown"] * 2
    assert report.kept["hologram"] == 1


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" , ", " : ")])
def test_what_is_printed_as_a_stream_is_read_too(
    separators: tuple[str, str], hf: Holdfast, tmp_path: Path
) -> None:
    events = [
        {"type": "init", "timestamp": "2026-04-23T12:53:00Z", "session_id": "s", "model": MODEL},
        {"type": "message", "role": "user", "content": "List."},
        {"type": "message", "role": "assistant", "content": "I ", "delta": True},
        {"type": "message", "role": "assistant", "content": "list.", "delta": True},
        {"type": "tool_use", "tool_name": "ls", "tool_id": "t1", "parameters": {"path": "."}},
        {"type": "tool_result", "tool_id": "t1", "status": "success", "output": "a.py"},
        {"type": "tool_use", "tool_name": "cat", "tool_id": "t2", "parameters": {"path": "b.py"}},
        {"type": "tool_result", "tool_id": "t2", "status": "error",
         "error": {"type": "x", "message": "no such file"}},
        {"type": "message", "role": "assistant", "content": "One file.", "delta": True},
        {"type": "result", "status": "success", "timestamp": "2026-04-23T12:53:09Z",
         "stats": {"input_tokens": 90, "output_tokens": 7, "cached": 30}},
    ]  # fmt: skip
    path = tmp_path / "out.jsonl"
    printed = (json.dumps(event, separators=separators) for event in events)
    path.write_text("\n".join(printed) + "\n")
    bring(hf, path)
    assert words(only(hf)) == ["List.", "I list.", "a.py", "", "no such file", "One file."]
    bodies = [e.body for e in only(hf).entries() if isinstance(e.body, Message)]
    answers = [part for body in bodies for part in body.parts if isinstance(part, ToolResult)]
    assert [(one.call, one.error) for one in answers] == [("t1", False), ("t2", True)]
    (used,) = [call.usage for call in calls_of(hf, only(hf))]
    assert used == Usage(input=60, cache_read=30, output=7)


class TestLines(ImporterContract):
    def importer(self) -> GeminiCli:
        return GeminiCli()

    def example(self, place: Path) -> Path:
        return story().write(place)


class TestDocument(ImporterContract):
    lines = False

    def importer(self) -> GeminiCli:
        return GeminiCli()

    def example(self, place: Path) -> Path:
        return story().document(place)


def test_a_message_without_a_name_is_a_message(tmp_path: Path) -> None:
    for form in ("lines", "document"):
        told = Chat()
        for number in (1, 2):
            told.user("", f"Asked {number}.")
            told.reply(f"r{number}", f"Answered {number}.")
        for record in told.records:
            if record.get("id") == "":
                del record["id"]
        path = told.write(tmp_path / form)
        if form == "document":
            whole = {**told.header, "messages": [r for r in told.records[1:] if "type" in r]}
            path = path.with_suffix(".json")
            path.write_text(json.dumps(whole))
        with holdfast.open(tmp_path / f"{form}.db") as hf:
            bring(hf, path)
            assert words(only(hf)) == ["Asked 1.", "Answered 1.", "Asked 2.", "Answered 2."], form
