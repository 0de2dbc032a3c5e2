"""A part of the work done in a session of its own, so that the window of the whole stays small.

It works with the same tools, the same provider and the same leave, but starts no subtasks itself.
What it says last is the result; its session is named beside it, and recall looks into it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from holdfast.engine.client import Holdfast, Session
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.log import Entry, SessionInfo
from holdfast.model.message import Message
from holdfast.model.window import Tool

SUBTASK: Final = Tool(
    name="subtask",
    description=(
        "Have a part of the work done by an agent with a conversation of its own; only what it "
        "says last comes back. Good for searching or reading much to find little. It knows "
        "nothing of this conversation: tell it everything it needs, and what to answer. Several "
        "in one reply run at the same time."
    ),
    schema={
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "The part, in three to six words."},
            "prompt": {"type": "string", "description": "All it has to know, and what to answer."},
        },
        "required": ["description", "prompt"],
    },
)

TITLE: Final = "subtask: "


def is_subtask(session: SessionInfo) -> bool:
    """Whether a session was begun for a part of another one's work."""
    return bool(session.parent) and not session.fork and session.title.startswith(TITLE)


def subtasks(hf: Holdfast, session: SessionInfo) -> list[SessionInfo]:
    """The sessions that were begun for parts of a session's work."""
    return [one for one in hf.forks(session) if is_subtask(one)]


class SubtaskAgent(Protocol):
    """An agent that was begun for a part of the work."""

    session: Session

    def turn(self, text: str) -> Entry | None: ...


def done(fields: dict[str, Any], begin: Callable[[str], SubtaskAgent]) -> str:
    """Do a part of the work with an agent of its own; what it says last, and where the rest is."""
    words, prompt = fields.get("description"), fields.get("prompt")
    if not isinstance(words, str) or not isinstance(prompt, str) or not prompt.strip():
        raise InvalidRequest("subtask needs description and prompt as text")
    agent = begin(words)
    last = agent.turn(prompt)
    return f"{_said(last)}\n\n[subtask {agent.session.id} · recall reads it by this id]"


def _said(last: Entry | None) -> str:
    body = last.body if last else None
    text = body.text.strip() if isinstance(body, Message) else ""
    return text or "It ended without a word."


def recalled(session: Session, fields: dict[str, Any]) -> str | None:
    """What a handle into a subtask's session stands for; None where it is no such handle."""
    name, mark, rest = str(fields.get("handle") or "").strip().partition("#")
    if len(name) != len(session.id) or name.startswith("prt_"):
        return None
    try:
        found = session.child(name)
    except NotFound:
        return None
    handle = f"#{rest}" if mark else f"#1-#{found.info.head}"
    offset = fields.get("offset") or 0
    if not isinstance(offset, int):
        raise InvalidRequest(
            "recall takes its offset as a whole number; give the one a piece ends with"
        )
    told = found.recall(handle, offset=offset)
    more = f"\n[… {told.total - told.next:,} characters more · recall {name} offset {told.next}]"
    return f"{told.text}{more if told.next else ''}"
