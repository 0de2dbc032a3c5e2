"""Importing: nothing twice, nothing lost, however a file grows, changes or is copied."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.engine.importing import session_import
from holdfast.engine.importing.fingerprints import printed, with_subtasks
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.log import Body, Notes, Records, Rewind
from holdfast.model.message import Message, Reasoning, Record, Text, ToolCall
from tests.importers.looking import bring, calls_of, log, only, parts, said, words
from tests.importers.writing import MODEL, SESSION, Transcript, call, story, text
from tests.thorough import step


def test_a_story_becomes_a_log(hf: Holdfast, tmp_path: Path) -> None:
    (report,) = bring(hf, story().write(tmp_path / "p"))
    assert (report.messages, report.compactions, report.troubles) == (11, 1, 0)
    session = only(hf)
    info = session.info
    assert (info.title, info.agent, info.directory) == (
        "The roof",
        "claude-code",
        "/home/me/project",
    )
    assert info.model == MODEL
    assert words(session) == [
        "Σ The roof was mended and painted blue.", "What is left?", "Nothing is left.",
    ]  # fmt: skip
    kinds = [type(entry.body).__name__ for entry in session.entries()]
    assert kinds == [*["Message"] * 7, "Rewind", *["Message"] * 2, "Summary", *["Message"] * 2]


def test_the_lines_of_one_reply_are_one_message(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().write(tmp_path / "p"))
    (reply,) = [entry for entry in only(hf).entries() if entry.request == "msg_1"]
    assert isinstance(reply.body, Message)
    bare = [part for part in reply.body.parts if not isinstance(part, Record)]
    assert [type(part) for part in bare] == [Reasoning, Text, ToolCall, ToolCall]
    assert isinstance(bare[0], Reasoning)
    assert bare[0].seal
    assert bare[0].seal.owner == "anthropic"
    assert bare[0].seal.data == b'{"signature":"c2lnbmVk"}'
    assert reply.provider == "anthropic"


def test_usage_is_counted_once_for_each_reply(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().write(tmp_path / "p"))
    session = only(hf)
    calls = list(calls_of(hf, session))
    assert [call.request for call in calls] == [f"msg_{n}" for n in range(1, 6)]
    assert sum(call.usage.cache_read for call in calls) == 4 * 7
    assert {call.outcome for call in calls} == {"imported"}
    assert session.cost > 0


def test_a_record_that_has_no_place_is_kept_beside_its_neighbour(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = story()
    bring(hf, told.write(tmp_path / "p"))
    kept = [part for part in parts(only(hf)) if isinstance(part, Record)]
    whole = [record.type for record in kept if record.whole]
    assert sorted(whole) == sorted([
        "summary", "file-history-snapshot", "progress", "custom-title", "system/compact_boundary",
        "user",
    ])  # fmt: skip
    lines = {record.line for record in kept}
    assert lines == set(range(1, len(told.records) + 1))
    results = [one for one in kept if one.type == "user" and b"toolUseResult" in one.data]
    assert len(results) == 2


def test_import_twice_is_import_once(hf: Holdfast, tmp_path: Path) -> None:
    path = story().write(tmp_path / "p")
    bring(hf, path)
    before = log(only(hf))
    (report,) = bring(hf, path)
    assert report.unchanged
    path.touch()
    (report,) = bring(hf, path)
    assert not report.unchanged
    assert (report.entries, report.messages, report.calls) == (0, 0, 0)
    assert log(only(hf)) == before


def test_a_file_that_grows_line_by_line_is_followed(tmp_path: Path) -> None:
    told = story()
    many = len(told.records)
    found = []
    for steps in (range(1, many + 1), [many]):
        with holdfast.open(tmp_path / f"{len(steps)}.db") as hf:
            for step in steps:
                bring(hf, told.write(tmp_path / "p", step))
            session = only(hf)
            found.append((words(session), [call.usage for call in calls_of(hf, session)]))
    assert found[0] == found[1]


def test_what_was_half_written_is_left_behind_by_a_rewind(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("Go.")
    told.reply("msg_1", text("One."), text("Two."))
    bring(hf, told.write(tmp_path / "p", 2))
    bring(hf, told.write(tmp_path / "p"))
    session = only(hf)
    assert words(session) == ["Go.", "One. Two."]
    assert [type(entry.body) for entry in session.entries()] == [Message, Message, Rewind, Message]
    assert session.info.head == 4


def test_a_file_that_was_rewritten_loses_nothing(hf: Holdfast, tmp_path: Path) -> None:
    old, new = Transcript(), Transcript()
    for told, colour in ((old, "red"), (new, "blue")):
        told.user("Paint it.")
        told.reply("msg_1", text("Which colour?"))
        told.user(f"In {colour}.")
        told.reply("msg_2", text(f"Painted {colour}."))
    bring(hf, old.write(tmp_path / "p"))
    bring(hf, new.write(tmp_path / "p"))
    session = only(hf)
    assert words(session) == ["Paint it.", "Which colour?", "In blue.", "Painted blue."]
    assert "Painted red." in [said(entry) for entry in session.entries()]


def test_a_shorter_copy_changes_nothing(hf: Holdfast, tmp_path: Path) -> None:
    told = story()
    bring(hf, told.write(tmp_path / "p"))
    before = log(only(hf))
    (report,) = bring(hf, told.write(tmp_path / "backup", 5))
    assert report.entries == 0
    assert log(only(hf)) == before


def test_a_copied_history_is_shared_and_paid_once(hf: Holdfast, tmp_path: Path) -> None:
    first, second = Transcript(), Transcript("5d1a2b3c-0000-4000-8000-000000000002")
    for told in (first, second):
        told.user("Begin.")
        told.reply("msg_1", text("Begun."))
    first.user("Left.")
    second.user("Right.")
    second.reply("msg_2", text("Gone right."))
    bring(hf, first.write(tmp_path / "p"), second.write(tmp_path / "p"))
    one, two = sorted(hf.every_session(), key=lambda session: session.fork)
    assert (two.parent, two.fork) == (one.id, 2)
    assert words(hf.session(two.id)) == ["Begin.", "Begun.", "Right.", "Gone right."]
    assert len(list(calls_of(hf, hf.session(one.id)))) == 1
    assert len(list(calls_of(hf, hf.session(two.id)))) == 1


def test_a_copied_history_is_shared_beyond_its_subtasks(hf: Holdfast, tmp_path: Path) -> None:
    """The copy names the subagent's session by its own id, though that is the same subagent."""
    first, second = Transcript(), Transcript("5d1a2b3c-0000-4000-8000-000000000002")
    for told in (first, second):
        told.user("Begin.")
        told.reply("msg_1", call("toolu_1", "Task", prompt="Look."))
        told.result("toolu_1", "Well.", toolUseResult={"agentId": "a1b2", "status": "completed"})
        told.reply("msg_2", text("All is well."))
    first.user("Left.")
    second.user("Right.")
    bring(hf, first.write(tmp_path / "p"), second.write(tmp_path / "p"))
    one, two = sorted(hf.every_session(), key=lambda session: session.fork)
    assert (two.parent, two.fork) == (one.id, 4)


def _as_older_stores_did(body: Body, created: int, native: str) -> bytes:
    before = with_subtasks(body, created, native) if isinstance(body, Message) else b""
    return before or printed(body, created, native)


def test_a_subtask_that_an_older_store_was_told_of_is_known_again(
    hf: Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Transcript()
    told.user("Begin.")
    told.reply("msg_1", call("toolu_1", "Task", prompt="Look."))
    told.result("toolu_1", "Well.", toolUseResult={"agentId": "a1b2", "status": "completed"})
    with monkeypatch.context() as before:
        before.setattr(session_import, "printed", _as_older_stores_did)
        bring(hf, told.write(tmp_path / "p"))
    told.user("Go on.")
    (report,) = bring(hf, told.write(tmp_path / "p"))
    assert report.messages == 1
    assert len(list(only(hf).entries())) == 4


def test_what_is_new_goes_to_a_fork_where_somebody_went_on(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("Begin.")
    told.reply("msg_1", text("Begun."))
    bring(hf, told.write(tmp_path / "p"))
    own = only(hf)
    own.user("I go on here.")
    told.user("And there.")
    for _ in range(2):
        bring(hf, told.write(tmp_path / "p"))
    assert words(hf.session(own.id)) == ["Begin.", "Begun.", "I go on here."]
    (fork,) = hf.forks(own.info)
    assert words(hf.session(fork.id)) == ["Begin.", "Begun.", "And there."]
    told.user("And further.")
    bring(hf, told.write(tmp_path / "p"))
    assert words(hf.session(fork.id)) == ["Begin.", "Begun.", "And there.", "And further."]
    assert len(list(hf.every_session())) == 2


def test_two_sessions_of_one_name_are_two(hf: Holdfast, tmp_path: Path) -> None:
    one, other = Transcript("shared"), Transcript("shared")
    one.user("About roofs.", uuid="a")
    other.user("About boats.", uuid="b")
    paths = one.write(tmp_path / "p", name="x.jsonl"), other.write(tmp_path / "p", name="y.jsonl")
    bring(hf, *paths)
    assert len(list(hf.every_session())) == 2
    for path in paths:
        path.touch()
    assert [report.entries for report in bring(hf, *paths)] == [0, 0]


def test_an_erased_session_comes_back_when_it_is_imported_again(
    hf: Holdfast, tmp_path: Path
) -> None:
    path = story().write(tmp_path / "p")
    bring(hf, path)
    before = log(only(hf))
    hf.erase(only(hf).id)
    (report,) = bring(hf, path)
    assert not report.unchanged
    assert log(only(hf)) == before


def test_notes_beside_a_session_are_told_as_they_change(hf: Holdfast, tmp_path: Path) -> None:
    path = story().write(tmp_path / "p")
    notes = tmp_path / "p" / SESSION / "session-memory" / "summary.md"
    bring(hf, path)
    for told in ("# Roof\nblue", "# Roof\nblue", "# Roof\nred"):
        notes.parent.mkdir(parents=True, exist_ok=True)
        notes.write_text(told)
        bring(hf, path)
    found = [entry.body.text for entry in only(hf).entries() if isinstance(entry.body, Notes)]
    assert found == ["# Roof\nblue", "# Roof\nred"]


def test_what_stands_alone_is_kept_at_the_end(hf: Holdfast, tmp_path: Path) -> None:
    told = story()
    bring(hf, told.write(tmp_path / "p"))
    told.bare(type="last-prompt", lastPrompt="What is left?", sessionId=SESSION)
    bring(hf, told.write(tmp_path / "p"))
    *_, last = only(hf).entries()
    assert isinstance(last.body, Records)
    assert [record.type for record in last.body.records] == ["last-prompt"]
    assert words(only(hf))[-1] == "Nothing is left."


def test_a_damaged_line_is_told_with_its_number_and_the_rest_is_read(
    hf: Holdfast, tmp_path: Path
) -> None:
    path = story().write(tmp_path / "p")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[4] = lines[4][:40] + b"\n"
    lines.insert(3, b"\xff\xfe not json\n")
    lines.insert(3, b"[1, 2]\n")
    path.write_bytes(b"".join(lines))
    (report,) = bring(hf, path)
    assert [problem.line for problem in report.problems] == [4, 5, 7]
    assert report.kept["damaged"] == 2
    assert words(only(hf))[-1] == "Nothing is left."


def test_what_is_no_transcript_is_refused_by_name(hf: Holdfast, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(InvalidRequest, match="no transcript"):
        bring(hf, path)
    with pytest.raises(NotFound, match="nowhere"):
        bring(hf, tmp_path / "nowhere")
    assert bring(hf, tmp_path) == []


def test_truncated_anywhere_every_whole_record_is_kept(tmp_path: Path) -> None:
    told = Transcript()
    told.user("Is it “ready”?")
    told.reply("msg_1", text("It is."), call("toolu_1", command="ls"))
    told.result("toolu_1", "roof.py")
    whole = b"".join(told.lines)
    ends = [len(b"".join(told.lines[:many])) for many in range(len(told.lines) + 1)]
    with holdfast.open("memory:") as hf:
        path = tmp_path / "p" / f"{SESSION}.jsonl"
        path.parent.mkdir()
        for length in range(0, len(whole) + 1, step(4)):
            path.write_bytes(whole[:length])
            for session in list(hf.every_session()):
                hf.erase(session.id)
            reports = bring(hf, path.parent)
            complete = sum(end - 1 <= length for end in ends[1:])
            found = [part for s in hf.every_session() for part in parts(hf.session(s.id))]
            lines = {part.line for part in found if isinstance(part, Record)}
            assert set(range(1, complete + 1)) <= lines
            damaged = bool(reports) and bool(reports[0].troubles)
            assert damaged == (length not in ends and length + 1 not in ends and bool(reports))


def test_several_processes_may_import_at_once(tmp_path: Path) -> None:
    for number in range(6):
        story(f"5d1a2b3c-0000-4000-8000-{number:012d}").write(tmp_path / "p")
    command = [sys.executable, "-m", "holdfast.cli", "import", str(tmp_path / "p"), "--json"]
    store = ["--store", str(tmp_path / "store.db")]
    with holdfast.open(tmp_path / "store.db"):
        running = [subprocess.Popen([*command, *store], stdout=subprocess.PIPE) for _ in range(3)]
        said = [json.loads(line) for one in running for line in one.communicate()[0].splitlines()]
    assert [one.returncode for one in running] == [0, 0, 0]
    assert [problem for report in said for problem in report["problems"]] == []
    with holdfast.open(tmp_path / "store.db") as hf, holdfast.open(tmp_path / "fresh.db") as other:
        bring(other, tmp_path / "p")
        found = {info.id: words(hf.session(info.id)) for info in hf.every_session()}
        assert found == {info.id: words(other.session(info.id)) for info in other.every_session()}
        assert sum(info.head for info in hf.every_session()) == sum(
            info.head for info in other.every_session()
        )


def test_it_can_be_awaited(tmp_path: Path) -> None:
    path = story().write(tmp_path / "p")

    async def brought() -> list[int]:
        async with holdfast.open_async(tmp_path / "store.db") as hf:
            return [report.entries async for report in hf.import_from(path)]

    assert asyncio.run(brought()) == [13]


def test_a_file_without_a_conversation_is_reported_and_makes_no_session(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = Transcript()
    told.bare(type="file-history-snapshot", messageId="m", snapshot={})
    (report,) = bring(hf, told.write(tmp_path / "p"))
    assert [problem.severity for problem in report.problems] == ["notice"]
    assert list(hf.every_session()) == []
    told.user("Now.")
    bring(hf, told.write(tmp_path / "p"))
    kept = [part.type for part in parts(only(hf)) if isinstance(part, Record) and part.whole]
    assert kept == ["file-history-snapshot"]


def test_a_key_of_ours_is_never_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-ant-api03-" + "k" * 40
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    told = Transcript()
    told.user(f"My key is {key}.")
    told.bare(type="last-prompt", lastPrompt=key, sessionId=SESSION)
    told.bare(type="custom-title", customTitle=f"About {key}", sessionId=SESSION)
    with holdfast.open(tmp_path / "store.db") as hf:
        for _ in range(2):
            bring(hf, told.write(tmp_path / "p"))
        assert only(hf).info.head == 1
        assert key not in str(parts(only(hf)))
        assert key not in only(hf).info.title
    assert key.encode() not in (tmp_path / "store.db").read_bytes()


def test_a_file_is_written_in_one_go(hf: Holdfast, tmp_path: Path) -> None:
    connection = hf.engine.store.db.connection  # type: ignore[attr-defined]
    begun: list[str] = []
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda one: begun.append(one["sql"]))
    bring(hf, story().write(tmp_path / "p"))
    connection.trace_v2(0, None)
    assert begun.count("BEGIN IMMEDIATE") == 1


def test_what_is_remembered_is_only_a_shortcut(hf: Holdfast, tmp_path: Path) -> None:
    path = story().write(tmp_path / "p")
    bring(hf, path)
    before = log(only(hf))
    for table in ("origins", "sources"):
        hf.engine.store.db.run(f"DELETE FROM {table}")  # type: ignore[attr-defined]
    (again,) = bring(hf, path)
    assert (again.entries, again.messages, again.troubles) == (0, 0, 0)
    assert log(only(hf)) == before
