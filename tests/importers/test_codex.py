"""Codex's rollouts: items as messages, who has spoken, usage, and everything that is kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.importers.codex import Codex
from holdfast.importers.codex.content import is_failure
from holdfast.model.log import Summary
from holdfast.model.message import (
    Media,
    Message,
    Opaque,
    Reasoning,
    Record,
    Subtask,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.testing.contracts import ImporterContract
from tests.exporters.carried import exported
from tests.importers.looking import bring, calls_of, log, only, parts, words
from tests.importers.rollouts import CONTEXT, MODEL, THREAD, Rollout, said, story, thought


class TestContract(ImporterContract):
    def importer(self) -> Codex:
        return Codex()

    def example(self, place: Path) -> Path:
        return story().write(place)


class TestPrompts(ImporterContract):
    """`history.jsonl`."""

    def importer(self) -> Codex:
        return Codex()

    def example(self, place: Path) -> Path:
        lines = [{"session_id": THREAD, "ts": 1_767_322_800, "text": f"Go on {n}"} for n in "aba"]
        path = place / "history.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path


class TestOld(ImporterContract):
    """Rollouts of before September 2025: no envelope, no times."""

    def importer(self) -> Codex:
        return Codex()

    def example(self, place: Path) -> Path:
        told = story()
        head = {"id": THREAD, "timestamp": "2025-06-01T00:00:00Z", "instructions": None, "git": {}}
        bare = [one["payload"] for one in told.records if one["type"] == "response_item"]
        lines = [head, {"record_type": "state"}, *bare]
        path = place / f"rollout-2025-06-01-{THREAD}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path


def test_the_window_is_as_large_as_codex_says(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().write(tmp_path / "p"))
    (stats,) = hf.stats("agent")
    assert [one.window for one in stats.compactions] == [258_400]


@pytest.mark.seed("003", 38, 39)
def test_the_boundary_of_a_compaction_has_an_id_and_no_number(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().write(tmp_path / "p"))
    (boundary,) = json.loads(exported(only(hf)))["compaction"]["boundaries"]
    assert not boundary["uuid"].isdecimal()


@pytest.mark.seed("003", 15)
def test_a_story_becomes_a_log(hf: Holdfast, tmp_path: Path) -> None:
    (report,) = bring(hf, story().write(tmp_path / "p"))
    assert (report.compactions, report.calls, report.troubles) == (1, 3, 0)
    session = only(hf)
    info = session.info
    assert (info.title, info.agent, info.model) == ("The roof", "codex", MODEL)
    assert info.directory == "/home/me/project"
    seen = words(session)
    assert [*seen[:3], *seen[4:]] == [
        CONTEXT, "Mend the roof.", "Paint it blue.", "What is left?", "Nothing is left.",
        "That was all.",
    ]  # fmt: skip
    assert seen[3].startswith("Σ ")
    kinds = [type(entry.body).__name__ for entry in session.entries()]
    assert kinds.count("Rewind") == kinds.count("Summary") == 1


def test_items_of_one_reply_are_one_message(hf: Holdfast, tmp_path: Path) -> None:
    told = Rollout()
    told.start()
    told.asks("Go.")
    told.add("response_item", **thought("Look."))
    told.replies("I look.")
    told.item("function_call", name="a", arguments="{}", call_id="1")
    told.event("exec_command_end", call_id="1")
    told.item("function_call", name="b", arguments="{}", call_id="2")
    told.item("function_call_output", call_id="1", output="one")
    told.item("function_call_output", call_id="2", output="two")
    bring(hf, told.write(tmp_path / "p"))
    _, reply, *answers = [entry.body for entry in only(hf).entries()]
    assert isinstance(reply, Message)
    bare = [part for part in reply.parts if not isinstance(part, Record)]
    assert [type(part) for part in bare] == [Reasoning, Text, ToolCall, ToolCall]
    assert isinstance(bare[0], Reasoning)
    assert bare[0].seal
    assert (bare[0].text, bare[0].seal.owner, bare[0].seal.model) == ("Look.", "openai", MODEL)
    assert b"c2VhbGVk" in bare[0].seal.data
    assert [part.name for a in answers for part in a.parts if isinstance(part, ToolResult)] == [  # type: ignore[union-attr]
        "a", "b",
    ]  # fmt: skip


@pytest.mark.seed("000", 31)
def test_reasoning_goes_back_to_its_owner_alone(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().write(tmp_path / "p", 14))
    session = only(hf)
    session.user("Go on.")
    own = str(session.preview(model=MODEL).request("openai-responses"))
    assert "c2VhbGVk" in own
    for model, format in (("gpt-4.1", "openai-responses"), ("claude-sonnet-4-6", "anthropic")):
        assert "c2VhbGVk" not in str(session.preview(model=model).request(format))


def test_what_the_program_says_is_not_taken_for_a_human_s(hf: Holdfast, tmp_path: Path) -> None:
    told = Rollout()
    told.says("user", "# AGENTS.md instructions for /home/me\n\n<INSTRUCTIONS>be kind")
    told.says("user", CONTEXT)
    told.asks("<environment_context> is a tag; what does it mean?")
    told.event("user_message", message="Said before its item.")
    told.says("user", "Said before its item.")
    told.says("user", "Said without an event.")
    bring(hf, told.write(tmp_path / "p"))
    texts = [part for part in parts(only(hf)) if isinstance(part, Text)]
    assert [text.scaffold for text in texts] == [
        "INSTRUCTIONS", "environment_context", "", "", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 1", False),
        ("Wall time: 0 seconds\nOutput:\nExit code: 1", False),
        ("Exit code: 2\nWall time: 0 seconds\nOutput:\n", True),
        ("Chunk ID: a\nWall time: 1\nProcess exited with code 1\nOutput:\n", True),
        ('{"output":"well","metadata":{"exit_code":0,"duration_seconds":0.1}}', False),
        ('{"output":"ill","metadata":{"exit_code":101,"duration_seconds":0.1}}', True),
        ("failed in sandbox LinuxSeccomp with execution error: denied", True),
        ("error: Failed to find expected lines in a.py", True),
        ("Script failed\nWall time 0.1 seconds\nOutput:\n", True),
        ("Script completed\nWall time 0.1 seconds\nOutput:\nerror: none", False),
        ('{"output":"cut', False),
        ("", False),
    ],
)
def test_a_failure_is_known_by_its_words(answer: str, failed: bool) -> None:
    assert is_failure(answer) is failed


def test_answers_of_every_shape(hf: Holdfast, tmp_path: Path) -> None:
    told = Rollout()
    picture = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    outputs: list[Any] = [
        "plain",
        [{"type": "input_text", "text": "one"}, picture, {"type": "input_text", "text": "two"}],
        {"type": "input_text", "text": "alone"},
        {"content": "old", "success": False},
        [{"type": "strange", "of": 1}],
    ]
    for output in outputs:
        told.calls(output)
    bring(hf, told.write(tmp_path / "p"))
    results = [part for part in parts(only(hf)) if isinstance(part, ToolResult)]
    assert [result.output for result in results] == ["plain", "one\ntwo", "alone", "old", ""]
    assert [result.error for result in results] == [False, False, False, True, False]
    assert [medium.data[:4] for medium in results[1].media] == [b"\x89PNG"]
    kept = b"".join(part.data for part in parts(only(hf)) if isinstance(part, Record))
    assert b'{"type":"strange","of":1}' in kept
    assert b"iVBORw0KGgo=" not in kept


def test_every_record_is_kept_once(hf: Holdfast, tmp_path: Path) -> None:
    told = story()
    bring(hf, told.write(tmp_path / "p"))
    kept = [part for part in parts(only(hf)) if isinstance(part, Record)]
    assert {record.line for record in kept} == set(range(1, len(told.records) + 1))
    whole = [record.line for record in kept if record.whole]
    assert len(whole) == len(set(whole))
    assert "event_msg/agent_message" in {record.type for record in kept}
    assert [part.type for part in parts(only(hf)) if isinstance(part, Opaque)] == [
        "web_search_call"
    ]


def test_kinds_that_nobody_knows_are_kept_and_told(hf: Holdfast, tmp_path: Path) -> None:
    told = Rollout()
    told.asks("Go.")
    for _ in range(2):
        told.item("telepathy", thought="?")
        told.event("moon_rose", full=True)
        told.add("weather", sun=True)
    (report,) = bring(hf, told.write(tmp_path / "p"))
    assert [problem.line for problem in report.problems] == [4, 5, 6]
    assert {problem.severity for problem in report.problems} == {"unknown"}
    assert report.kept["response_item/telepathy"] == 2
    assert report.kept["weather"] == 2


def test_a_local_shell_and_a_call_without_an_id_are_calls(hf: Holdfast, tmp_path: Path) -> None:
    told = Rollout()
    told.asks("Go.")
    action = {"type": "exec", "command": ["ls"]}
    told.item("local_shell_call", id="lsh_1", call_id=None, status="completed", action=action)
    told.item("function_call_output", call_id="lsh_1", output="a.py")
    told.item("function_call", function={"name": "translate"}, arguments={"to": "es"})
    bring(hf, told.write(tmp_path / "p"))
    calls = [part for part in parts(only(hf)) if isinstance(part, ToolCall)]
    assert [(call.id, call.name) for call in calls] == [
        ("lsh_1", "local_shell"), ("call-4-0", "translate"),
    ]  # fmt: skip
    assert calls[1].fields == {"to": "es"}
    session = only(hf)
    session.user("Go on.")
    assert session.preview(model=MODEL).request("openai-responses")


def test_pictures_of_the_user_are_pictures(hf: Holdfast, tmp_path: Path) -> None:
    told = Rollout()
    content = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "What is it?"},
    ]
    told.item("message", role="user", content=content)
    bring(hf, told.write(tmp_path / "p"))
    found = [part for part in parts(only(hf)) if not isinstance(part, Record)]
    assert [type(part) for part in found] == [Text, Media, Text, Text]
    assert [p.text for p in found if isinstance(p, Text) and not p.scaffold] == ["What is it?"]


def test_an_agent_that_was_set_to_work_is_a_session_of_its_own(
    hf: Holdfast, tmp_path: Path
) -> None:
    child = "019f5ccd-3d12-7ee2-b82d-f7e03a3a0002"
    told = Rollout()
    told.asks("Have it looked at.")
    told.item("function_call", name="spawn_agent", arguments='{"message": "Look."}', call_id="c")
    told.item("function_call_output", call_id="c", output=json.dumps({"agent_id": child}))
    told.item("agent_message", author="/root/a", recipient="/root",
              content=[{"type": "input_text", "text": "All well."}])  # fmt: skip
    told.write(tmp_path / "p")
    spawn = {"parent_thread_id": THREAD, "depth": 1, "agent_nickname": "Ada"}
    agent = Rollout(child, source={"subagent": {"thread_spawn": spawn}}, agent_nickname="Ada")
    agent.turn("Look.", "All well.")
    agent.write(tmp_path / "p", name=f"rollout-2026-01-02T03-10-00-{child}.jsonl")
    bring(hf, tmp_path / "p")
    made = next(session for session in hf.every_session() if session.parent)
    parent = hf.session(made.parent)
    assert made.title == "subtask: Ada"
    assert [part.session for part in parts(parent) if isinstance(part, Subtask)] == [made.id]
    (heard,) = [p for p in parts(parent) if isinstance(p, Text) and p.scaffold == "agent_message"]
    assert heard.text == "All well."


def test_names_of_threads_reach_their_sessions(hf: Holdfast, tmp_path: Path) -> None:
    told = Rollout()
    told.turn("Mend the roof.", "Mended.")
    told.write(tmp_path / "p" / "sessions" / "2026" / "01" / "02")
    lines = [
        {"id": THREAD, "thread_name": "Roof", "updated_at": "2026-01-02T03:00:00Z"},
        {"id": "nobody", "thread_name": "Boat", "updated_at": "2026-01-02T03:00:00Z"},
        {"id": THREAD, "thread_name": "The roof", "updated_at": "2026-01-02T04:00:00Z"},
    ]
    index = tmp_path / "p" / "session_index.jsonl"
    index.write_text("".join(json.dumps(line) + "\n" for line in lines))
    bring(hf, tmp_path / "p")
    assert only(hf).info.title == "The roof"
    before = log(only(hf))
    index.touch()
    assert sum(report.entries for report in bring(hf, tmp_path / "p")) == 0
    assert (log(only(hf)), only(hf).info.title) == (before, "The roof")


def test_a_later_meta_begins_no_session(hf: Holdfast, tmp_path: Path) -> None:
    told = Rollout()
    told.turn("One.", "Two.")
    told.add("session_meta", id="019f5ccd-3d12-7ee2-b82d-f7e03a3a0009", cwd="/elsewhere")
    told.turn("Three.", "Four.")
    bring(hf, told.write(tmp_path / "p"))
    assert words(only(hf)) == ["One.", "Two.", "Three.", "Four."]
    assert only(hf).info.directory == "/home/me/project"


@pytest.mark.seed("003", 20)
def test_import_twice_is_import_once_and_a_growing_file_is_followed(tmp_path: Path) -> None:
    told = story()
    many = len(told.records)
    found = []
    for steps in (range(1, many + 1), [many, many]):
        with holdfast.open(tmp_path / f"{len(steps)}.db") as hf:
            for step in steps:
                bring(hf, told.write(tmp_path / "p", step))
            path = told.write(tmp_path / "p")
            (report,) = bring(hf, path)
            assert (report.unchanged, report.entries, report.calls) == (False, 0, 0)
            session = only(hf)
            seen = [
                re.sub(r" #\d+", "", one) for one in words(session)
            ]  # entries have other places
            found.append((seen, [call.usage for call in calls_of(hf, session)]))
    assert found[0] == found[1]


def test_truncated_at_any_byte_every_whole_record_is_kept(tmp_path: Path) -> None:
    told = Rollout()
    told.asks("“Ready”?")
    told.compacts(said("user", "“Ready”?"), message="It was.")
    whole = b"".join(told.lines)
    ends = [len(b"".join(told.lines[:many])) for many in range(len(told.lines) + 1)]
    with holdfast.open("memory:") as hf:
        path = told.write(tmp_path / "p")
        for length in range(len(whole) + 1):
            path.write_bytes(whole[:length])
            for session in list(hf.every_session()):
                hf.erase(session.id)
            reports = bring(hf, path.parent)
            complete = sum(end - 1 <= length for end in ends[1:])
            found = [part for s in hf.every_session() for part in parts(hf.session(s.id))]
            lines = {part.line for part in found if isinstance(part, Record)}
            spoken = complete >= 2  # nobody has said anything before
            assert set(range(1, complete + 1) if spoken else ()) <= lines
            damaged = any(p.severity == "damaged" for r in reports for p in r.problems)
            assert damaged == (length not in ends and length + 1 not in ends and bool(reports))


@pytest.mark.seed("003", 16, 17, 18, 19)
def test_a_summary_is_known_as_one(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().write(tmp_path / "p"))
    (summary,) = [e.body for e in only(hf).entries() if isinstance(e.body, Summary)]
    assert (summary.tokens_before, summary.tokens_after) == (1_540, 900)
    assert summary.trigger == "auto"
    assert summary.sealed
    assert b"Y29tcGFjdGVk" in summary.sealed.data
    assert "Paint it blue." in summary.text


def prompts(path: Path, *numbers: int) -> Path:
    lines = [
        {"session_id": THREAD, "ts": 1_767_322_800 + n // 2, "text": f"Go on {n}"} for n in numbers
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("left", [(4, 5, 6, 7, 8), (4, 5), (8, 9, 10), (5, 8)])
def test_of_prompts_that_were_trimmed_at_their_head_only_new_ones_are_added(
    left: tuple[int, ...], hf: Holdfast, tmp_path: Path
) -> None:
    path = tmp_path / "history.jsonl"
    bring(hf, prompts(path, *range(6)))
    new = [n for n in left if n > 5]
    for many in (len(new), 0):
        (report,) = bring(hf, prompts(path, *left))
        assert (report.entries, report.messages, report.troubles) == (many, many, 0)
        path.write_bytes(path.read_bytes() + b"\n")
    assert words(only(hf)) == [f"Go on {n}" for n in (*range(6), *new)]
    bring(hf, prompts(path, *left, 12))
    bring(hf, prompts(path, 12, 14))
    assert words(only(hf))[-2:] == ["Go on 12", "Go on 14"]
    assert only(hf).info.head == 6 + len(new) + 2
