"""What an instruction file says about compacting: its section `# Compact instructions`.

Rule 1: the section is a heading of any level with that title, up to the next one as high or higher.
Rule 2: a heading inside a fence is none. It ends with the text at the latest.
Rule 3: it is only ever focus for whoever writes a summary, and never longer than LONGEST.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 4_000
"""How much of it is used, in characters."""

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TITLE = re.compile(r"compact(?:ion|ing)?\s+instructions\W*", re.IGNORECASE)


def compact_instructions(text: str) -> str:
    """What the section says, without its heading; empty where there is none."""
    found: list[str] = []
    depth, fence = 0, ""
    for line in text.splitlines():
        heading = None if fence else _HEADING.match(line)
        fence = _fenced(line, fence)
        if heading and _TITLE.fullmatch(heading[2]):
            depth = len(heading[1])
        elif heading and depth and len(heading[1]) <= depth:
            depth = 0
        elif depth:
            found.append(line)
    return "\n".join(found).strip()[:LONGEST].rstrip()


def _fenced(line: str, fence: str) -> str:
    """The fence that is open behind a line; empty for none."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    closes = mark[1].startswith(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence
