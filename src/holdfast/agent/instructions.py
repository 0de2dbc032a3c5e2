"""The instruction files of the directory an agent works in, and what it touches there."""

from __future__ import annotations

import os
import re
from typing import Final

from holdfast.core.log.tool_input import arguments
from holdfast.engine.bridge import drive
from holdfast.engine.client import Session
from holdfast.engine.engine import in_place
from holdfast.engine.knowledge.instructions import Instructions, instructions
from holdfast.model.message import Message, ToolCall

MOST: Final = 50
"""So many words of one command are looked at."""

_WORD = re.compile(r"[^\s'\"`$;|&<>()=]+")


def instructions_for(session: Session, directory: str) -> Instructions:
    """The instruction files of a directory; what the window shows to be touched before is touched.

    Only what is visible is looked at: a session may be very long.
    """
    made = drive(instructions(directory, session.trust, in_place))
    if session.info.head:
        bodies = [entry.body for entry in session.visible()]
        calls = (call for body in bodies if isinstance(body, Message) for call in body.calls)
        made.touch(*(path for call in calls for path in touched(call, directory)))
        made.look()
    return made


def touched(call: ToolCall, directory: str) -> tuple[str, ...]:
    """The paths that a call reads or changes: the one it names, or those in its command line."""
    fields = arguments(call.input)
    if call.name != "shell":
        path = fields.get("path")
        return (path,) if isinstance(path, str) and path else ()
    words = _WORD.findall(str(fields.get("command") or "")[:20_000])[:MOST]
    return tuple(one for one in words if os.path.lexists(os.path.join(directory, one)))
