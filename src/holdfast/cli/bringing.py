"""`/add`, `/read` and `/drop`: which files are in the chat."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.core.nearest import nearest

if TYPE_CHECKING:
    from holdfast.cli.conversation import Conversation


def add(talk: Conversation, rest: str) -> None:
    """Bring files into the chat, to be changed."""
    _bring(talk, rest, read_only=False)


def read(talk: Conversation, rest: str) -> None:
    """Bring files into the chat, to be read only."""
    _bring(talk, rest, read_only=True)


def drop(talk: Conversation, rest: str) -> None:
    """Take files out of the chat; without a name, say which are there."""
    for path in rest.split():
        gone = talk.agent.files.drop(path)
        talk.screen.say(f"{path} is {'out of' if gone else 'not in'} the chat")
    if not rest:
        _list(talk)


def _bring(talk: Conversation, rest: str, *, read_only: bool) -> None:
    for path in rest.split():
        try:
            tokens = talk.agent.files.add(path, read_only=read_only)
        except FileNotFoundError:
            talk.screen.say(_absent(str(talk.agent.toolbox.root.path), path), "red")
        else:
            talk.screen.say(f"{path} is in the chat, about {tokens:,} tokens")
    if not rest:
        _list(talk)


def _list(talk: Conversation) -> None:
    named = talk.agent.files.named()
    for path, only in named:
        talk.screen.say(f"{path}{' (read-only)' if only else ''}")
    if not named:
        talk.screen.say("no file is in the chat; /add PATH brings one, /read PATH to be read only")


def _absent(root: str, path: str) -> str:
    """That there is no such file, and the name in its directory that is nearest."""
    directory, name = os.path.split(path)
    try:
        there = os.listdir(os.path.join(root, directory))
    except OSError:
        return f"there is no directory {directory} here"
    near = nearest(name, there)
    hint = f"; did you mean {os.path.join(directory, near[0])}?" if near else ""
    return f"there is no file {path} here{hint}"
