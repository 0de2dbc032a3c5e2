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
from holdfast.model.message import ToolCall

MOST: Final = 50
"""So many words of one command are looked at."""

_WORD = re.compile(r"[^\s'\"`$;|&<>()=]+")


def instructions_for(session: Session, directory: str) -> Instructions:
    """The instruction files of a directory; what the session has touched before is touched."""
    made = drive(instructions(directory, session.trust, in_place))
    if session.info.head:
        made.touch(*session.ledger().files)
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
