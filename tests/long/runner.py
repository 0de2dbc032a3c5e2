"""The agent in a process of its own, so that it can be killed: `python -m tests.long.runner`.

It is made as `holdfast run` and `holdfast chat` make it. It is told one turn a line, and says when
the user's words are kept and when the turn is done. What was said before a kill is not said again.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import Any

import holdfast
from holdfast.agent.build import agent
from holdfast.agent.loop import Agent
from holdfast.agent.model_choice import ModelTarget
from holdfast.agent.summariser import Voice
from holdfast.engine.client import Holdfast, Session
from holdfast.model.message import Message


def main() -> None:
    """Work on one session until nothing more is said."""
    told = json.loads(sys.argv[1])
    whom = ModelTarget(told["model"], told["provider"], told["format"])
    with (
        closing(Voice(lambda _: whom.open())) as voice,
        holdfast.open(told["store"]) as hf,
        closing(whom.open()) as provider,
    ):
        session = _session(hf, told, voice if told["summaries"] else None)
        made = agent(session, provider, whom.model, ("*",))
        say(ready=session.id)
        for line in sys.stdin:
            turn = json.loads(line)
            said = session.user(turn["text"], key=f"turn {turn['number']}")
            say(kept=turn["number"])
            say(done=turn["number"], text=ended(session, said.seq) or worked(made))


def _session(hf: Holdfast, told: dict[str, Any], voice: Voice | None) -> Session:
    if told["session"]:
        return hf.session(told["session"], summariser=voice, on_conflict="raise")
    return hf.session(
        model=told["model"], directory=told["directory"], policy=told["policy"], summariser=voice
    )


def ended(session: Session, seq: int) -> str:
    """The last words of a turn that was done before; empty where it was not."""
    after = [e.body for e in session.visible() if e.seq > seq and isinstance(e.body, Message)]
    last = after[-1] if after else None
    return last.text if last and last.role == "assistant" and not last.calls else ""


def worked(made: Agent) -> str:
    """The last words of a turn that is done now."""
    last = made.go_on()
    return last.body.text if last and isinstance(last.body, Message) else ""


def say(**told: Any) -> None:
    """One line for whoever started this."""
    sys.stdout.write(f"{json.dumps(told)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
