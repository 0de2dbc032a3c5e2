"""What is said when something cannot be made to fit: in the model's own numbers."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.core.tokens.count import tool_text
from holdfast.core.tokens.estimate import recurring
from holdfast.core.window.budget import largest
from holdfast.errors import OverBudget
from holdfast.model.log import Entry
from holdfast.model.message import Message
from holdfast.model.profile import Profile
from holdfast.model.window import Block, Tool, Window


def too_large(entries: Sequence[Entry], takes: int, room: int, estimated: int) -> OverBudget:
    """What is said when what has to stay word for word does not fit by itself.

    It takes more than the room that was estimated for it; the real one is told.
    """
    takes = round(takes * _worth(room, estimated))
    asked = all(isinstance(one.body, Message) and one.body.role == "user" for one in entries)
    what, help = (ASKED, SHORTEN) if asked else (ARRIVED, READ_LESS)
    seqs = [one.seq for one in entries]
    where = f"entry {seqs[0]}" if len(seqs) == 1 else f"entries {seqs[0]} to {seqs[-1]}"
    return OverBudget(
        f"{what} ({where}) takes about {takes:,} tokens and only {max(room, 0):,} are left for it; "
        f"{help}, or use a model with a larger window (-m MODEL, in a chat /model NAME)"
    )


ASKED = "what was just asked"
SHORTEN = "shorten it, attach it as a file"
ARRIVED = "what has arrived since the last reply, with what was just asked,"
READ_LESS = "rewind to before it and have less read at once"


def floor_error(window: Window, room: int = 0) -> OverBudget:
    """What is said when not even the rest fits, naming what takes most.

    The room is the real one, where the window's own budget is one that was tuned to estimates.
    """
    room = room or window.budget.room
    worth = _worth(room, window.budget.room)
    items = largest((*window.blocks, *map(_as_block, window.tools)))
    names = ", ".join(f"{_called(item)} ({round(item.tokens * worth):,})" for item in items)
    return OverBudget(
        f"{round(window.tokens.tokens * worth):,} tokens do not fit the {room:,} of "
        f"{window.model}: the largest are {names}; use a model with a larger window (-m MODEL, in "
        "a chat /model NAME), take files out of the chat (/drop), or begin a new session (/clear)"
    )


def reply_fits(profile: Profile, prompt: int, reply: int) -> None:
    """OverBudget where a reply of so many tokens has no room behind a prompt of so many."""
    if reply > profile.output_limit and "output_limit" not in profile.assumed:
        raise OverBudget(
            f"max_tokens={reply:,} is more than {profile.name} ever answers with, which is "
            f"{profile.output_limit:,} tokens; ask for fewer"
        )
    if reply and prompt + reply >= profile.window + bool(prompt):
        behind = f" behind a prompt of up to {prompt:,}" if prompt else ""
        raise OverBudget(
            f"max_tokens={reply:,} does not fit the {profile.window:,} tokens of {profile.name}"
            f"{behind}; ask for fewer, or prepare the window with "
            f"s.window(max_tokens={reply}), which keeps that much free"
        )


CALLED = {
    "repo_map": "the map of the repository",
    "read_only_files": "the files that are read only",
    "chat_files": "the files in the chat",
    "summary": "the summary of what was said",
}
"""What some sections are called where somebody reads of them."""


def _called(item: Block) -> str:
    return CALLED.get(item.section, item.source)


def _worth(room: int, estimated: int) -> float:
    """How many real tokens an estimated one stands for, where fewer of them fill the room."""
    return max(1.0, room / estimated) if estimated > 0 else 1.0


def _as_block(tool: Tool) -> Block:
    """A tool as something that takes room, like a block."""
    tokens, source = recurring(tool_text(tool)), f"tool {tool.name}"
    return Block(section="tools", role="system", parts=(), tokens=tokens, source=source)


def unknown_model(profile: Profile) -> OverBudget:
    """What is said when a conversation would be cut to a window that is only assumed."""
    return OverBudget(
        f"nobody here knows the model {profile.name!r}; in the {profile.window:,} tokens assumed "
        "for it this conversation does not fit, and nothing was shed; check its name, or write its "
        "window in profiles.toml"
    )
