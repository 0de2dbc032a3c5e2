"""Chats in tmux against a strict server: begun as often as a test wants, and all closed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from holdfast.testing import StrictServer
from tools.tmux import Terminal

Begin = Callable[..., Terminal]


@contextmanager
def talking(place: Path, script: Callable[[Any], Any]) -> Iterator[Begin]:
    """What begins a chat with these words; its `server` broke no rule when all is over."""
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    opened: list[Terminal] = []
    with StrictServer(script) as server:

        def begun(*words: str, **more: Any) -> Terminal:
            made = Terminal(place, server.url("anthropic"), **more)
            opened.append(made)
            made.run("chat", *words)
            made.wait("of the window of")
            return made

        begun.server = server  # type: ignore[attr-defined]
        try:
            yield begun
        finally:
            for one in opened:
                one.close()
        assert server.refused == []
