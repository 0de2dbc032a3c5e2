"""A store on disk whose models all hold as much as a test says, and an agent in a directory."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import holdfast
from holdfast.agent.hooks import Hooks
from holdfast.agent.loop import Agent
from holdfast.agent.permissions.rules import Permissions
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.engine.bridge import spoken
from holdfast.engine.client import Holdfast, ThreadLock
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.engine.plugins import open_store, provider
from holdfast.model.message import Message, ToolResult
from holdfast.testing import StrictServer
from tests.properties.histories import Small


def small(tmp_path: Path, window: int) -> Holdfast:
    """A store in which every model holds so many tokens."""
    clock = SystemClock()
    return Holdfast(
        Engine(
            open_store(str(tmp_path / "log.db")), clock=clock, ids=Ulids(clock), lock=ThreadLock,
            catalogue=Small(window), voice=spoken,
        )
    )  # fmt: skip


FORMATS = {
    "anthropic": ("anthropic", "claude-sonnet-4-6"),
    "openai-responses": ("openai", "gpt-5"),
    "openai-chat": ("openai", "gpt-4o"),
    "gemini": ("google", "gemini-2.5-pro"),
}


@contextmanager
def agent(
    tmp_path: Path,
    server: StrictServer,
    format: str = "anthropic",
    allow: tuple[str, ...] = (),
    hooks: Hooks | None = None,
    **named: Any,
) -> Iterator[Agent]:
    """An agent that works in a directory of its own, by a policy and with hooks."""
    name, model = FORMATS[format]
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=model, directory=work, hooks=[hooks] if hooks else [])
        with closing(provider(name, format, key="sk-test", url=server.url(name))) as to:
            named = {"rules": Permissions(allow=allow), **named}
            yield Agent(s, to, Toolbox(str(work)), hooks=hooks, **named)


def results(made: Agent) -> list[ToolResult]:
    """What its tools have answered, in order."""
    bodies = [e.body for e in made.session.entries() if isinstance(e.body, Message)]
    return [part for body in bodies for part in body.parts if isinstance(part, ToolResult)]
