"""What the agent is told of itself and of where it works."""

from __future__ import annotations

import os
import platform
from datetime import datetime
from typing import Final

SYSTEM: Final = """\
You are Holdfast, an agent that works in a directory of the user's with tools. Do what was asked,
no more and no less. Look before you change anything, and check what you changed. Be brief: say what
you did and what you found, not what you are about to do. When something fails, say so.

Much of a long conversation is no longer shown to you word for word. What left is not lost: where
you see a handle such as prt_… or #12, recall brings it back, and search_history finds what was
said."""


def surroundings(directory: str) -> dict[str, str]:
    """What may change from turn to turn: told at first in full, later as what has changed."""
    return {
        "cwd": directory,
        "date": datetime.now().astimezone().strftime("%Y-%m-%d %Z"),
        "system": platform.system(),
        "shell": os.path.basename(os.environ.get("SHELL", "/bin/sh")),
    }
