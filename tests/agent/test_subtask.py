"""Subtasks: sessions of their own, whose last words come back, and nothing else."""

import _thread
import threading
from pathlib import Path
from typing import Any

import pytest

from holdfast.agent.events import AgentEvent
from holdfast.agent.tools.subtask import is_subtask
from holdfast.engine.client import open
from holdfast.model.message import Message
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.agent.opening import agent, results

PART = {"description": "find the number", "prompt": "PART: read notes.txt and tell the number"}


def script(asked: Any) -> Any:
    body = asked.body["messages"]
    last = str(body[-1])
    if "PART" not in str(body[0]):
        return answer("It is 7142.") if "tool_result" in last else answer(Ask("subtask", PART))
    if "tool_result" in last:
        return answer("The number is 7142.")
    return answer(Ask("read", {"path": "notes.txt"}))


def prepared(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir(exist_ok=True)
    (tmp_path / "work" / "notes.txt").write_text("chaff\n" * 2_000 + "number: 7142\n")


@pytest.mark.seed("001", 109)
def test_only_its_last_words_come_back(tmp_path: Path) -> None:
    prepared(tmp_path)
    seen: list[AgentEvent] = []
    with (
        StrictServer(script) as server,
        agent(tmp_path, server, onlooker=seen.append) as made,
    ):
        last = made.turn("what is the number?")
        assert last is not None
        assert last.body.text == "It is 7142."  # type: ignore[union-attr]
        (told,) = results(made)
        assert told.output.startswith("The number is 7142.\n\n[subtask ")
        assert "chaff" not in str(server.asked[-1].body)
        assert not [one.rule for one in server.asked if one.rule]
        name = told.output.split("[subtask ")[1].split()[0]
        child = made.session.child(name)
        assert is_subtask(child.info)
        assert child.info.parent == made.session.id
        assert child.info.title == "subtask: find the number"
        assert {one.subtask for one in seen} == {"", name}
        assert all(t["name"] != "subtask" for t in server.asked[1].body["tools"])
        (work,) = made.session.ledger().subtasks
        assert (work.title, work.outcome, work.name) == ("find the number", "succeeded", name)


def test_it_is_at_work_until_it_has_come_back(tmp_path: Path) -> None:
    prepared(tmp_path)
    running: list[str] = []

    def look(what: AgentEvent) -> None:
        if what.subtask and what.kind == "call":
            running.extend(one.outcome for one in made.session.ledger().subtasks)

    with StrictServer(script) as server, agent(tmp_path, server, onlooker=look) as made:
        made.turn("what is the number?")
    assert running == ["running"]


@pytest.mark.seed("001", 126)
def test_what_it_cost_is_told_apart(tmp_path: Path) -> None:
    prepared(tmp_path)
    with StrictServer(script) as server, agent(tmp_path, server) as made:
        made.turn("what is the number?")
    with open(tmp_path / "log.db") as hf:
        by = {one.name: one.calls for one in hf.costs("cause")}
        assert by == {"turn": 2, "subtask": 2}
        assert hf.examine() == ()


def test_recall_looks_into_it(tmp_path: Path) -> None:
    prepared(tmp_path)
    handles: list[str] = []

    def asking(asked: Any) -> Any:
        body = asked.body["messages"]
        if "look into it" in str(body[-1]) and "tool_result" not in str(body[-1]):
            return answer(Ask("recall", {"handle": handles[0]}))
        return answer("Seen.") if handles else script(asked)

    with StrictServer(asking) as server, agent(tmp_path, server) as made:
        made.turn("what is the number?")
        handles.append(results(made)[0].output.split("[subtask ")[1].split()[0] + "#1")
        made.turn("look into it")
        assert "PART: read notes.txt" in results(made)[-1].output


def test_a_subtask_asks_as_the_whole_does(tmp_path: Path) -> None:
    def asking(asked: Any) -> Any:
        body = asked.body["messages"]
        if "PART" not in str(body[0]):
            done = "tool_result" in str(body[-1])
            return answer("Done.") if done else answer(Ask("subtask", PART), Ask("subtask", PART))
        if "tool_result" in str(body[-1]):
            return answer("Not allowed." if "did not allow" in str(body[-1]) else "Allowed.")
        return answer(Ask("shell", {"command": "true"}))

    threads: list[int] = []
    answers = iter(["always"])

    def ask(call: Any) -> Any:
        threads.append(threading.get_ident())
        return next(answers)

    with StrictServer(asking) as server, agent(tmp_path, server, ask=ask) as made:
        made.turn("go")
        assert [one.output.split("\n")[0] for one in results(made)] == ["Allowed.", "Allowed."]
    assert threads == [threading.get_ident()]


@pytest.mark.parametrize("many", [1, 2])
def test_an_interrupt_reaches_it(tmp_path: Path, many: int) -> None:
    def asking(asked: Any) -> Any:
        body = asked.body["messages"]
        if "never mind" in str(body[-1]):
            return answer("All right.")
        if "PART" not in str(body[0]):
            return answer(*[Ask("subtask", PART)] * many)
        return answer(Ask("shell", {"command": "touch begun-$$; sleep 60"}))

    def interrupt() -> None:
        while len(list((tmp_path / "work").glob("begun-*"))) < many:
            pass
        _thread.interrupt_main()

    with StrictServer(asking) as server, agent(tmp_path, server, allow=("shell",)) as made:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            made.turn("go")
        assert [one.output for one in results(made)] == ["[interrupted]"] * many
        assert made.turn("never mind") is not None
        assert not [one.rule for one in server.asked if one.rule]
        whole = made.session.id
    with open(tmp_path / "log.db") as hf:
        parts = [one for one in hf.sessions() if one.parent == whole]
        assert len(parts) == many
        for one in parts:
            said = [e.body for e in hf.session(one.id).entries() if isinstance(e.body, Message)]
            assert "turn_aborted" in said[-1].text
            assert "[interrupted]" in said[-2].parts[0].output  # type: ignore[union-attr]


def test_an_interrupt_ends_what_subtasks_are_hearing(tmp_path: Path) -> None:
    def asking(asked: Any) -> Any:
        whole = "PART" not in str(asked.body["messages"][0])
        return answer(*[Ask("subtask", PART)] * 2) if whole else answer("word " * 900, pace=0.05)

    heard: set[str] = set()

    def interrupt(what: AgentEvent) -> None:
        if what.subtask and what.delta:
            heard.add(what.subtask)
        if len(heard) == 2:
            heard.clear()
            _thread.interrupt_main()

    with StrictServer(asking) as server, agent(tmp_path, server, onlooker=interrupt) as made:
        with pytest.raises(KeyboardInterrupt):
            made.turn("go")
        assert [one.output for one in results(made)] == ["[interrupted]"] * 2
        whole = made.session.id
    with open(tmp_path / "log.db") as hf:
        for one in (one for one in hf.sessions() if one.parent == whole):
            said = [e.body for e in hf.session(one.id).entries() if isinstance(e.body, Message)]
            assert [body.text[:9] for body in said[-2:]] == ["word word", "<turn_abo"]


def test_what_it_needs_is_told(tmp_path: Path) -> None:
    answers = iter([answer(Ask("subtask", {"description": "x"})), answer("I see.")])
    with StrictServer(lambda asked: next(answers)) as server, agent(tmp_path, server) as made:
        made.turn("go")
        (told,) = results(made)
        assert told.error
        assert "needs description and prompt" in told.output


def test_what_it_does_to_files_belongs_to_the_prompt(tmp_path: Path) -> None:
    prepared(tmp_path)
    work = tmp_path / "work"
    before = (work / "notes.txt").read_text()
    asks = iter([
        Ask("write", {"path": "made.txt", "content": "made\n"}),
        Ask("shell", {"command": "echo changed > notes.txt; mkdir d; echo x > d/f"}),
    ])  # fmt: skip

    def asking(asked: Any) -> Any:
        body = asked.body["messages"]
        if "PART" not in str(body[0]):
            done = "tool_result" in str(body[-1])
            return answer("Done.") if done else answer(Ask("subtask", PART))
        ask = next(asks, None)
        return answer(ask) if ask else answer("Changed.")

    with (
        StrictServer(asking) as server,
        agent(tmp_path, server, allow=("write", "shell")) as made,
    ):
        s = made.session
        made.toolbox.workspace = s.workspace()
        made.turn("have it changed")
        (prompt,) = s.prompts()
        assert prompt.files == 3
        assert sorted(one.path for one in s.diff()) == ["d/f", "made.txt", "notes.txt"]
        marker = s.rewind(prompt.to, restore="both")
        assert [one.name for one in work.iterdir()] == ["notes.txt"]
        assert (work / "notes.txt").read_text() == before
        s.undo(marker.seq)
        assert (work / "notes.txt").read_text() == "changed\n"
        assert (work / "d" / "f").read_text() == "x\n"
