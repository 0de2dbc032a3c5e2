"""An interrupt before a turn has really begun: it is said, and the session goes on as it was."""

import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

import holdfast
from holdfast.agent.events import AgentEvent
from holdfast.agent.loop import Agent
from holdfast.model.message import Message
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import answer
from tests.agent.opening import agent

PACKAGE = str(Path(holdfast.__file__).parent)


class Striking:
    """Raises KeyboardInterrupt at the nth call of a function of ours, once."""

    def __init__(self, nth: int) -> None:
        self.left = nth
        self.inside = self.begun = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        self.inside |= frame.f_code.co_name == "_begin"  # before it the chat says it
        self.begun |= frame.f_code.co_name == "send"
        self.left -= self.inside
        if self.left == 0 and not self.begun:
            sys.settrace(None)
            raise KeyboardInterrupt


def strike(made: Agent, nth: int) -> bool:
    """Whether a turn was interrupted at its nth call; False where it had begun by then."""
    striking, before = Striking(nth), sys.gettrace()
    sys.settrace(striking)
    try:
        made.turn("struck")
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return not striking.begun


def said(made: Agent) -> list[str]:
    bodies = [entry.body for entry in made.session.entries()]
    return [body.text for body in bodies if isinstance(body, Message)]


def test_it_is_said_and_leaves_a_session_that_goes_on(tmp_path: Path) -> None:
    seen: list[AgentEvent] = []
    nth = 0
    with (
        StrictServer(lambda asked: answer("All right.")) as server,
        agent(tmp_path, server, "anthropic", onlooker=seen.append) as made,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")  # of a session that goes on in a fork, too
        warnings.filterwarnings("ignore", "coroutine .* was never awaited")  # struck before it was
        home = made.session.id
        made.turn("before")
        while True:
            nth += 1
            seen.clear()
            before = said(made)
            if not strike(made, nth):
                break
            assert [one.kind for one in seen] == ["interrupted"], f"nothing was said at call {nth}"
            left = said(made)[len(before) :]
            assert left in ([], ["struck", left[-1] if left else ""]), nth
            assert not left or "turn_aborted" in left[-1]
            if nth % 10 == 0:
                assert made.turn("after").body.text == "All right."  # type: ignore[union-attr]
            assert made.session.id == home
        assert nth > 20
        assert server.refused == []
