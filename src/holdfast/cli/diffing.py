"""What a call would do to a file, as a diff: seen before anybody allows it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from typing import TYPE_CHECKING

from holdfast.cli.wording import many
from holdfast.core.ledger.arguments import arguments
from holdfast.core.lines import changed

if TYPE_CHECKING:
    from holdfast.agent.tools import Toolbox
    from holdfast.model.message import ToolCall

LINES = 40
"""No more lines of a diff are shown."""

LONG = 2_000
"""Files of more lines are not compared line by line."""

STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff(call: ToolCall, toolbox: Toolbox) -> Iterator[tuple[str, str]]:
    """The lines of a diff, each with its style; none for a call that changes no file."""
    found = toolbox.change(call.name, arguments(call.input))
    if found is None:
        return
    before, after = found
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > LONG:
        yield f"  {changed(before, after)}, too many for a diff", "dim"
        return
    lines = list(unified_diff(old, new, lineterm="", n=2))[2:]
    for line in lines[:LINES]:
        yield f"  {line}", STYLES.get(line[:1], "dim")
    if len(lines) > LINES:
        yield f"  [… {many(len(lines) - LINES, 'line')} of the diff not shown …]", "yellow"
