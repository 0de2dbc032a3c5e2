"""The agent's notes: told of at the start, recalled before a turn, kept by tools and afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.agent.build import agent
from holdfast.agent.loop import Agent
from holdfast.agent.summariser import Voice
from holdfast.core.knowledge.instructions import InstructionFile
from holdfast.core.knowledge.recall import HEADER
from holdfast.engine.client import Holdfast
from holdfast.engine.plugins import provider
from holdfast.errors import InvalidRequest
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Answer, Ask

MODEL = "claude-sonnet-4-6"

RULE = "Please remember that I always want tests to run against a real database."


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("HOLDFAST_MEMORY")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = tmp_path / "work"
    (place / ".git").mkdir(parents=True)
    return place


@contextmanager
def working(
    work: Path, script: Any, *, headless: bool = False, **more: Any
) -> Iterator[tuple[Agent, Holdfast, StrictServer]]:
    with (
        StrictServer(script) as server,
        closing(Voice(lambda _: to(server))) as voice,
        holdfast.open(work.parent / "log.db") as hf,
        closing(to(server)) as talks,
    ):
        s = hf.session(model=MODEL, directory=work, summariser=voice)
        yield agent(s, talks, MODEL, (), headless=headless, **more), hf, server
        hf.wait_for_background(20)
    assert server.refused == []


def to(server: StrictServer) -> Any:
    return provider("anthropic", "anthropic", key="k", url=server.url("anthropic"))


def words(request: Any) -> str:
    return json.dumps(request.body, ensure_ascii=False)


def is_extraction(request: Any) -> bool:
    return "memory extraction subagent" in json.dumps(request.body["messages"][-1:])


@pytest.mark.seed("004", 134, 202)
def test_what_is_to_be_remembered_is_kept_at_once_and_the_model_knows_how_notes_work(
    work: Path,
) -> None:
    with working(work, "fine", headless=True) as (made, hf, server):
        made.turn(RULE)
        (kept,) = hf.memory(work).notes().values()
        assert kept.note.type == "feedback"
        assert "tests to run against a real database" in kept.note.body
        sent = words(server.asked[0])
        assert "Kept as" in sent
        assert "You have notes that outlive this conversation" in sent
        assert {"remember", "forget"} <= {one["name"] for one in server.asked[0].body["tools"]}


@pytest.mark.seed("004", 134)
def test_what_is_to_be_forgotten_is_taken_away_at_once(work: Path) -> None:
    with working(work, "fine", headless=True) as (made, hf, _):
        hf.memory(work).add("I prefer short replies.", type="user", name="reply length")
        made.turn("Please forget the note about reply length.")
        assert hf.memory(work).notes() == {}


@pytest.mark.seed("004", 138)
def test_what_the_project_tells_is_not_kept_even_when_asked(work: Path) -> None:
    with working(work, "fine", headless=True) as (made, hf, server):
        made.turn("Remember that the parser module is located in src/parser.py.")
        assert hf.memory(work).notes() == {}
        assert "surprising" in words(server.asked[0])


@pytest.mark.seed("004", 131, 132, 143, 211)
def test_a_note_that_helps_is_shown_before_the_turn_once_with_its_age(work: Path) -> None:
    with working(work, "fine", headless=True) as (made, hf, server):
        memory = hf.memory(work)
        memory.add("Deploys to kestrel need the VPN of the platform team.", name="kestrel deploys")
        memory.add("I like tea.", type="user", name="tea")
        made.turn("How do deploys to kestrel work?")
        sent = words(server.asked[0])
        assert HEADER in sent
        assert "project_kestrel_deploys.md · project · saved today" in sent
        assert "## user_tea.md" not in sent
        used = {one.note.name: one.record.uses for one in memory.notes().values()}
        assert used == {"kestrel deploys": 1, "tea": 0}
        made.turn("And who deploys to kestrel?")
        assert words(server.asked[-1]).count("## project_kestrel_deploys.md") == 1


@pytest.mark.seed("004", 112)
def test_the_index_is_in_the_window_from_the_start_and_stays_as_it_was(work: Path) -> None:
    with working(work, "fine", headless=True) as (made, hf, server):
        memory = hf.memory(work)
        memory.add("I like tea.", type="user", name="tea")
        made.turn("hello there")
        assert "- [tea](user_tea.md) — I like tea." in words(server.asked[0])
        memory.add("I like milk.", type="user", name="milk")
        made.turn("hello again")
        body = server.asked[-1].body
        before = server.asked[0].body["messages"]
        assert "user_milk.md" not in json.dumps(body)
        assert json.dumps(body["messages"][: len(before) - 1])[:-1].startswith(
            json.dumps(before[:-1])[:-1]
        )


@pytest.mark.seed("000", 108)
def test_a_note_is_read_as_a_file_and_written_by_no_file_tool(work: Path) -> None:
    with working(work, "fine", headless=True) as (made, hf, _):
        memory = hf.memory(work)
        memory.add("I like tea.", type="user", name="tea")
        path = f"{memory.place}/user_tea.md"
        assert made.memory
        assert "I like tea." in str(made.memory.answer("read", {"path": path}))
        with pytest.raises(InvalidRequest, match="remember"):
            made.memory.answer("write", {"path": path, "content": "x"})
        assert made.memory.answer("read", {"path": "README.md"}) is None


def test_settings_switch_notes_off(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_MEMORY", "off")
    with working(work, "fine") as (made, hf, server):
        made.turn(RULE)
        assert made.memory is None
        assert hf.memory(work).notes() == {}
        assert len(server.asked) == 1


def note(text: str, file: str = "feedback_testing.md") -> Ask:
    content = f"---\nname: testing\ndescription: {text}\ntype: feedback\n---\n\n{text}\n"
    return Ask("write", {"path": file, "content": content})


class Extracting:
    """Answers turns in words, and an extraction with calls."""

    def __init__(self, *calls: Ask) -> None:
        self.calls = list(calls)
        self.extractions: list[Any] = []

    def __call__(self, request: Any) -> Any:
        if not is_extraction(request):
            return "fine"
        self.extractions.append(request)
        if not self.calls:
            return "Nothing to write."
        calls, self.calls = self.calls, []
        return Answer(parts=tuple(calls))


@pytest.mark.seed("004", 105, 125, 126, 127)
def test_a_finished_turn_is_extracted_beside_the_turns_behind_the_same_prefix(work: Path) -> None:
    script = Extracting(
        note("Never mock the database in tests."), Ask("shell", {"command": "rm x"})
    )
    with working(work, script) as (made, hf, server):
        made.turn("Never mock the database in the tests, since we got burned by that.")
        assert hf.wait_for_background(20)
        (kept,) = hf.memory(work).notes().values()
        assert kept.note.body.startswith("Never mock the database in the tests")
        turn, first = server.asked[0].body, script.extractions[0].body
        assert first["tools"] == turn["tools"]
        assert first["system"] == turn["system"]
        assert json.dumps(first["messages"]).count("got burned by that") == 1
        answers = json.dumps(server.asked[-1].body["messages"])
        assert "rm is denied" in answers
        assert "written feedback_testing.md" in answers


@pytest.mark.seed("004", 116)
def test_a_turn_in_which_the_agent_kept_notes_itself_is_not_extracted(work: Path) -> None:
    call = Ask("remember", {"text": "I want short replies.", "type": "feedback"})
    replies: list[Any] = [Answer(parts=(call,)), "kept"]
    script = Extracting()

    def answered(request: Any) -> Any:
        return replies.pop(0) if replies else script(request)

    with working(work, answered) as (made, hf, _):
        made.turn("I want short replies, please keep that in mind for all your work.")
        assert hf.wait_for_background(20)
        assert script.extractions == []
        assert len(hf.memory(work).notes()) == 1


@pytest.mark.seed("004", 113, 115)
def test_neither_a_subtask_nor_a_run_without_a_terminal_is_extracted(work: Path) -> None:
    script = Extracting()
    with working(work, script, headless=True) as (made, hf, _):
        made.turn("I work on the billing team.")
        assert hf.wait_for_background(20)
        inner = made.session.subtask("part")
        inner.user("I work on the billing team.")
        assert hf.memory(work).extract(inner).skipped == "subtask"
        assert script.extractions == []


@pytest.mark.seed("004", 123)
def test_what_an_instruction_file_says_is_not_kept_even_when_asked(work: Path) -> None:
    line = "Always run make check before a commit, without exception."
    with working(work, "fine", headless=True) as (made, hf, server):

        class Files:
            files = (
                InstructionFile(level="project", path="AGENTS.md", place="x", state="loaded",
                                text=f"# Rules\n{line}\n"),
            )  # fmt: skip

        assert made.memory
        made.memory.instruction_files = Files()  # type: ignore[assignment]
        made.turn(f"Remember: {line}")
        assert hf.memory(work).notes() == {}
        assert "instructions say so already" in words(server.asked[0])
