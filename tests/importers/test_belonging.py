"""A session belongs to another, whichever of the two was imported first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.model.log import SessionInfo
from holdfast.model.message import assistant
from tests.exporters.carried import exported, imported
from tests.importers.looking import bring, only, words
from tests.importers.writing import SESSION, Transcript, call, text


@pytest.fixture(params=["file", "memory"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Holdfast]:
    where = "memory:" if request.param == "memory" else tmp_path / "other.db"
    with holdfast.open(where) as opened:
        yield opened


def work(folder: Path) -> tuple[Path, Path]:
    """A session, and what a subagent did for it."""
    told, agent = Transcript(), Transcript()
    told.user("Have it looked at.")
    told.reply("msg_1", call("toolu_9", "Task", prompt="Look."))
    told.result("toolu_9", "All well.", toolUseResult={"agentId": "a1", "status": "completed"})
    agent.user("Look.", isSidechain=True, agentId="a1", uuid="s1")
    agent.reply("msg_2", text("All well."), isSidechain=True, agentId="a1")
    home = folder / SESSION / "subagents"
    return told.write(folder), agent.write(home, name="agent-a1.jsonl")


def pair(hf: Holdfast) -> tuple[SessionInfo, SessionInfo]:
    """The session without a parent, and the other."""
    one, other = sorted(hf.every_session(), key=lambda session: bool(session.parent))
    return one, other


def cost(hf: Holdfast, session: SessionInfo) -> float:
    return hf.session(session.id).cost


def test_a_subagent_imported_first_belongs_to_its_session_later(
    other: Holdfast, tmp_path: Path
) -> None:
    parent, agent = work(tmp_path / "p")
    bring(other, agent)
    alone = only(other)
    before = alone.cost
    assert before > 0
    bring(other, parent)
    above, child = pair(other)
    assert (child.id, child.parent, child.fork) == (alone.id, above.id, 0)
    assert cost(other, above) == 2 * before
    assert [report.entries for report in bring(other, parent, agent)] == [0, 0]


def test_a_subtask_that_was_exported_comes_back_in_any_order(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    bring(hf, *work(tmp_path / "p"))
    above, child = pair(hf)
    lines = [exported(hf.session(one.id), raw=True) for one in (child, above)]
    imported(other, lines[0], tmp_path)
    assert exported(only(other), raw=True) == lines[0]
    imported(other, lines[1], tmp_path)
    again = [exported(other.session(one.id), raw=True) for one in (child, above)]
    assert again == lines
    assert cost(other, above) == cost(hf, above) > cost(hf, child)


def forked(hf: Holdfast) -> list[SessionInfo]:
    """A session, a fork of it, and a fork of that."""
    session = hf.session(model="gpt-5.1")
    for said in ("Mend the roof.", "It leaks."):
        session.user(said)
    fork = session.fork()
    session.append(assistant("Mended."))
    fork.append(assistant("Torn down."))
    further = fork.fork()
    further.user("And built anew?")
    return [one.info for one in (session, fork, further)]


@pytest.mark.parametrize("order", ["012", "021", "102", "120", "201", "210"])
def test_forks_come_back_as_forks_in_any_order(
    order: str, hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    found = forked(hf)
    lines = [exported(hf.session(one.id), raw=True) for one in found]
    for letter in order:
        imported(other, lines[int(letter)], tmp_path)
    assert [exported(other.session(one.id), raw=True) for one in found] == lines
    for one in found:
        told, again = hf.session(one.id), other.session(one.id)
        assert (again.info.parent, again.info.fork) == (told.info.parent, told.info.fork)
        assert words(again) == words(told)
    assert [hit.session for hit in other.search("leaks")] == [found[0].id]
    assert imported(other, b"".join(lines), tmp_path).entries == 0


def test_a_fork_that_somebody_changed_stays_as_it_is(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    root, fork, _ = forked(hf)
    imported(other, exported(hf.session(fork.id), raw=True), tmp_path)
    told = exported(hf.session(root.id), raw=True).replace(b"It leaks.", b"It holds.")
    imported(other, told, tmp_path)
    assert words(other.session(fork.id)) == ["Mend the roof.", "It leaks.", "Torn down."]
    assert words(other.session(root.id)) == ["Mend the roof.", "It holds.", "Mended."]
    assert other.session(fork.id).info.parent == ""


def test_every_recorded_session_comes_back_as_it_was(
    hf: Holdfast, shared_data: Path, tmp_path: Path
) -> None:
    bring(hf, shared_data / "transcripts")
    found = list(hf.every_session())
    assert any(one.parent and not one.fork for one in found)
    assert any(one.fork for one in found)
    lines = {one.id: exported(hf.session(one.id), raw=True) for one in found}
    with holdfast.open(tmp_path / "copy.db") as copy:
        for line in lines.values():
            imported(copy, line, tmp_path)
        for id, line in lines.items():
            assert exported(copy.session(id), raw=True) == line


def test_nobody_looks_for_the_nearest_of_what_is_not_here(hf: Holdfast, tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "first.db") as first:
        _, fork, _ = forked(first)
        line = exported(first.session(fork.id), raw=True)
        copy = first.handoff(fork.id, "codex", home=tmp_path / "codex").name
    _, agent = work(tmp_path / "p")
    connection = hf.engine.store.db.connection  # type: ignore[attr-defined]
    asked: list[str] = []
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda one: asked.append(one["sql"]))
    reports = bring(hf, agent, tmp_path / "codex" / copy)
    reports.append(imported(hf, line, tmp_path))
    connection.trace_v2(0, None)
    assert all(report.entries for report in reports)
    assert [sql for sql in asked if sql.startswith("SELECT id FROM sessions")] == []
