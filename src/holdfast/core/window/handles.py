"""What this program itself writes into a window, which is no fact of the session.

Handles of what left the window, ids of entries and sessions, and the names of the tools that bring
things back are read by a model and said again by it; none of them is a name that a summary carries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

OWN_TOOLS: Final = frozenset({"recall", "search_history", "tool_search"})

_ID: Final = r"[0-9A-HJKMNP-TV-Z]{26}"
_HANDLE = re.compile(rf"prt_\w+|(?<![A-Za-z0-9]){_ID}(?![A-Za-z0-9])")
_RECALLED = re.compile(r"\brecall(?:s|ed|ing)?[`(]? ?[`(]?#\d+(?:-#\d+)?")
"""A place in the log: `#12` alone may be an issue as well."""


def has_handle(text: str) -> bool:
    """Whether a handle or an id of ours stands in a text."""
    return _HANDLE.search(text) is not None


def recalled(text: str) -> Iterator[tuple[int, int]]:
    """Where a text says that a place in the log is recalled: first sign, and behind the last."""
    return (found.span() for found in _RECALLED.finditer(text))


def is_own(name: str) -> bool:
    """Whether a name is one of our own words."""
    return name in OWN_TOOLS or has_handle(name)
