"""What this program itself writes into a window, which is no fact of the session.

Handles of what left the window, ids of entries and sessions, and the names of the tools that bring
things back are read by a model and said again by it; none of them is a name that a summary carries.
"""

from __future__ import annotations

import re
from typing import Final

OWN_TOOLS: Final = frozenset({"recall", "search_history", "tool_search"})

_ID: Final = r"[0-9A-HJKMNP-TV-Z]{26}"
_HANDLE = re.compile(rf"prt_\w+|(?<![A-Za-z0-9]){_ID}(?![A-Za-z0-9])")


def has_handle(text: str) -> bool:
    """Whether a handle or an id of ours stands in a text."""
    return _HANDLE.search(text) is not None


def is_own(name: str) -> bool:
    """Whether a name is one of our own words."""
    return name in OWN_TOOLS or has_handle(name)
