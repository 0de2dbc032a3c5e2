"""The loop against a real server: tools, refusals, interrupts, and going on afterwards."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

import holdfast
from holdfast.agent.events import AgentEvent
from holdfast.agent.loop import Agent
from holdfast.agent.permissions.rules import Permissions
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.model.log import Entry
from holdfast.model.message import ToolCall
from holdfast.ports import Provider
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.agent.opening import FORMATS, agent, results

NOBODY = cast(Provider, None)
"""Where no provider is ever asked."""


@pytest.mark.parametrize("format", FORMATS)
def test_a_task_from_beginning_to_end(tmp_path: Path, format: str) -> None:
    answers = iter(
        [
            answer("First two at once.", Ask("write", {"path": "a.txt", "content": "hello\n"}),
                   Ask("list", {})),
            answer("Now a command.", Ask("shell", {"command": "cat a.txt"})),
            answer("Done: it says hello."),
        ]
    )  # fmt: skip
    with (
        StrictServer(lambda asked: next(answers)) as server,
        agent(tmp_path, server, format, ("write", "shell")) as made,
    ):
        last = made.turn("write hello")
        assert last is not None
        assert last.body.text == "Done: it says hello."  # type: ignore[union-attr]
        assert (tmp_path / "work" / "a.txt").read_text() == "hello\n"
        assert [one.error for one in results(made)] == [False, False, False]
        assert "exit status 0" in results(made)[-1].output
        assert not [one.rule for one in server.asked if one.rule]


def test_what_is_not_allowed_is_told_to_the_model(tmp_path: Path) -> None:
    answers = iter([answer(Ask("shell", {"command": "rm -rf ."})), answer("I will not then.")])
    seen: list[AgentEvent] = []
    with (
        StrictServer(lambda asked: next(answers)) as server,
        agent(tmp_path, server, "anthropic", onlooker=seen.append) as made,
    ):
        made.turn("clean up")
        (refused,) = results(made)
        assert refused.error
        assert "did not allow" in refused.output
        assert "refused" in [one.kind for one in seen]


@pytest.mark.seed("004", 57)
def test_an_interrupt_leaves_a_session_that_goes_on(tmp_path: Path) -> None:
    def script(asked: Any) -> Any:
        if "never mind" in str(asked.body):
            return answer("All right.")
        return answer("Two things.", Ask("list", {}), Ask("shell", {"command": "sleep 60"}))

    def interrupt(what: AgentEvent) -> None:
        if what.kind == "call" and what.call and what.call.name == "shell":
            raise KeyboardInterrupt

    with (
        StrictServer(script) as server,
        agent(tmp_path, server, "anthropic", ("shell",), onlooker=interrupt) as made,
    ):
        with pytest.raises(KeyboardInterrupt):
            made.turn("do two things")
        assert [one.output for one in results(made)][-1] == "[interrupted]"
        last = made.turn("never mind")
        assert last is not None
        assert last.body.text == "All right."  # type: ignore[union-attr]
        assert not [one.rule for one in server.asked if one.rule]
        assert "turn_aborted" in str(server.asked[-1].body)


def test_a_model_may_recall_what_left_its_window(tmp_path: Path) -> None:
    def script(asked: Any) -> Any:
        if "secret number is 7142" in str(asked.body["messages"][-1]):
            return answer("It is 7142.")
        return answer(Ask("recall", {"handle": "#1"}))

    with StrictServer(script) as server, agent(tmp_path, server, "anthropic") as made:
        made.session.user("the secret number is 7142")
        made.session.append(holdfast.assistant("noted"))
        last = made.turn("what was it?")
        assert last is not None
        assert last.body.text == "It is 7142."  # type: ignore[union-attr]


def test_a_turn_ends_after_200_calls_of_a_model_that_never_stops(tmp_path: Path) -> None:
    class Restless(Agent):
        """Asks for a tool whenever it is its turn."""

        asked = 0

        def _reply(self) -> Entry:
            self.asked += 1
            call = ToolCall(f"c{self.asked}", "todo", "{}")
            body = holdfast.assistant(call)
            return Entry(id="e", session=self.session.id, seq=1, body=body, created=0, completed=1)

        def _answer(self, calls: Sequence[ToolCall]) -> None:
            """Nothing is done."""

    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="gpt-4o")
        made = Restless(s, NOBODY, Toolbox(str(tmp_path)), rules=Permissions())
        assert made.go_on() is not None
        assert made.asked == 200
