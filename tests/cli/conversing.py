"""A conversation without a terminal: the chat's own objects and a strict server."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import holdfast
from holdfast.agent.build import agent
from holdfast.agent.model_choice import whom
from holdfast.agent.summariser import Voice
from holdfast.cli.chat.conversation import Conversation
from holdfast.cli.chat.resume import Opener
from holdfast.cli.chat.screen import Screen
from holdfast.testing import StrictServer

MODEL = "claude-sonnet-4-6"


@contextmanager
def conversing(
    place: Path, patch: pytest.MonkeyPatch, script: Callable[[Any], Any] | str = "All right."
) -> Iterator[Conversation]:
    """A conversation in `place/work`, in a new session of the store `place/log.db`."""
    work = place / "work"
    work.mkdir(exist_ok=True)
    patch.chdir(work)
    patch.setenv("COLUMNS", "80")
    with (
        StrictServer(script) as server,
        closing(Voice()) as voice,
        holdfast.open(place / "log.db") as hf,
    ):
        patch.setenv("ANTHROPIC_API_KEY", "sk-canary-0123456789")
        patch.setenv("ANTHROPIC_BASE_URL", server.url("anthropic"))
        screen = Screen(Console(file=io.StringIO(), width=80, markup=False, highlight=False))

        def make(session: Any, provider: Any, model: str) -> Any:
            return agent(session, provider, model, ("shell", "read"), onlooker=screen.show)

        with closing(Conversation(hf, Opener(hf, voice, {}), make, screen)) as talk:
            talk.take(talk.opener.new(MODEL), whom(MODEL))
            yield talk
        assert server.refused == []
