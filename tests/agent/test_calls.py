"""Several calls of one reply: those that look at the same time, answers always in order."""

import _thread
import threading
from pathlib import Path
from typing import Any

import pytest

from holdfast.agent.events import AgentEvent
from holdfast.agent.loop import Agent
from holdfast.agent.tools.shell import Kept
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.model.message import Message
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer, in_order
from tests.agent.opening import agent, results


def meeting(made: Agent, monkeypatch: pytest.MonkeyPatch, parties: int, seconds: float) -> None:
    """Let every tool wait until so many are at work at once, but no longer than this."""
    barrier, run = threading.Barrier(parties), Toolbox.run

    def waiting(box: Toolbox, name: str, fields: dict[str, Any]) -> str:
        try:
            barrier.wait(seconds)
        except threading.BrokenBarrierError:
            return f"{name} was alone"
        return run(box, name, fields)

    monkeypatch.setattr(Toolbox, "run", waiting)


def test_calls_that_look_are_made_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [Ask("read", {"path": f"{n}.txt"}) for n in range(3)]
    script = in_order(answer(*asked), answer("Read."))
    with StrictServer(script) as server, agent(tmp_path, server) as made:
        for n in range(3):
            (tmp_path / "work" / f"{n}.txt").write_text(f"file {n}\n")
        meeting(made, monkeypatch, 3, 20)
        made.turn("read them")
        assert [one.output for one in results(made)] == ["file 0\n", "file 1\n", "file 2\n"]
        assert not [one.rule for one in server.asked if one.rule]


def test_calls_that_change_something_are_made_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [Ask("write", {"path": "a.txt", "content": "x"}) for _ in range(2)]
    script = in_order(answer(*asked), answer("Written."))
    with StrictServer(script) as server, agent(tmp_path, server, allow=("write",)) as made:
        meeting(made, monkeypatch, 2, 0.2)
        made.turn("write")
        assert {one.output for one in results(made)} == {"write was alone"}


def test_what_is_read_behind_a_change_sees_it(tmp_path: Path) -> None:
    script = in_order(
        answer(
            Ask("read", {"path": "a.txt"}),
            Ask("list", {}),
            Ask("write", {"path": "a.txt", "content": "new\n"}),
            Ask("read", {"path": "a.txt"}),
            Ask("glob", {"pattern": "*.txt"}),
        ),
        answer("Done."),
    )
    with StrictServer(script) as server, agent(tmp_path, server, allow=("write",)) as made:
        (tmp_path / "work" / "a.txt").write_text("old\n")
        made.turn("go")
        told = [one.output for one in results(made)]
        assert told[0] == "old\n"
        assert [told[1], *told[3:]] == ["a.txt", "new\n", "a.txt"]
        assert [one.name for one in results(made)] == ["read", "list", "write", "read", "glob"]


def test_whoever_looks_on_is_told_by_one_thread(tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []

    def onlooker(what: AgentEvent) -> None:
        if what.call:
            seen.append((what.kind, threading.get_ident()))

    script = in_order(answer(Ask("list", {}), Ask("glob", {"pattern": "*"})), answer("Done."))
    with StrictServer(script) as server, agent(tmp_path, server, onlooker=onlooker) as made:
        made.turn("look")
    assert [kind for kind, _ in seen] == ["call", "call", "result", "result"]
    assert {thread for _, thread in seen} == {threading.get_ident()}


def test_an_interrupt_leaves_every_call_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, release = threading.Event(), threading.Event()

    def slow(box: Toolbox, name: str, fields: dict[str, Any]) -> str:
        if name == "grep":
            begun.set()
            release.wait(30)
        return f"{name} done"

    def interrupt() -> None:
        begun.wait(30)
        _thread.interrupt_main()

    monkeypatch.setattr(Toolbox, "run", slow)
    script = in_order(
        answer(Ask("list", {}), Ask("grep", {"pattern": "x"}), Ask("shell", {"command": "ls"})),
        answer("All right."),
    )
    with StrictServer(script) as server, agent(tmp_path, server, allow=("shell",)) as made:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            made.turn("look")
        release.set()
        told = [one.output for one in results(made)]
        assert told == ["list done", "[interrupted]", "[interrupted]"]
        assert made.turn("never mind") is not None
        assert not [one.rule for one in server.asked if one.rule]


def test_a_command_that_is_interrupted_keeps_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = Kept.take

    def heard(kept: Kept, data: bytes) -> None:
        take(kept, data)
        _thread.interrupt_main()

    monkeypatch.setattr(Kept, "take", heard)
    script = in_order(answer(Ask("shell", {"command": "echo first words; sleep 60"})), "All right.")
    with StrictServer(script) as server, agent(tmp_path, server, allow=("shell",)) as made:
        with pytest.raises(KeyboardInterrupt):
            made.turn("go")
        (told,) = results(made)
        assert told.output == "first words\n[interrupted]"
        assert told.error


@pytest.mark.seed("001", 114)
def test_long_output_is_cut_where_it_is_shown_and_kept_whole_in_the_log(tmp_path: Path) -> None:
    script = in_order(answer(Ask("shell", {"command": "seq 1 60000"})), answer("Many."))
    with StrictServer(script) as server, agent(tmp_path, server, allow=("shell",)) as made:
        made.turn("count")
        shown = str(server.asked[-1].body["messages"][-1])
        assert "left out here · recall prt_" in shown
        (whole,) = results(made)
        assert len(shown) < len(whole.output)
        assert "\n30000\n" in whole.output
        assert "\\n30000\\n" not in shown
        entry = next(e for e in made.session.entries() if isinstance(e.body, Message)
                     and e.body.role == "tool")  # fmt: skip
        handle = f"prt_{entry.id}.0"
        assert handle in shown
        assert made.session.recall(handle).text.startswith("1\n2\n3\n")
