"""What a call would do to a file, as a diff: seen before anybody allows it.

Rule 1: a line ends with a newline and nothing else; what else ends lines elsewhere is shown.
Rule 2: of very many rows the head and the tail are shown, and how many are between, until somebody
        wants to see them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from typing import TYPE_CHECKING, NamedTuple

from holdfast.agent.tools import CHANGING
from holdfast.cli.asking import LINES, wrapped
from holdfast.cli.terminal import neutral
from holdfast.cli.wording import many
from holdfast.core.ledger.arguments import arguments
from holdfast.core.lines import between

if TYPE_CHECKING:
    from holdfast.agent.tools import Toolbox
    from holdfast.model.message import ToolCall

LONG = 2_000
"""Files of more lines are not compared line by line."""

STYLES = {"+": "green", "-": "red", "@": "cyan"}

Row = tuple[str, str]
"""A row of the screen, and its style."""


class Diff(NamedTuple):
    """The rows of a diff, and whether they are all of it."""

    rows: tuple[Row, ...] = ()
    whole: bool = True


def diff(call: ToolCall, toolbox: Toolbox, width: int, *, everything: bool = False) -> Diff:
    """What a call would change, on a terminal of so many columns; nothing where it is no file."""
    if call.name not in CHANGING:
        return Diff()
    found = toolbox.change(call.name, arguments(call.input))
    if found is None:
        return Diff((("  as things are this fails, and changes nothing", "yellow"),))
    rows = [*_rows(*found, max(width - 3, 8))]
    whole = everything or len(rows) <= LINES
    told = [(f"  {only}", "yellow")] if (only := _only(*found)) else []
    return Diff((*(rows if whole else _ends(rows)), *told), whole)


def _rows(before: str, after: str, width: int) -> Iterator[Row]:
    for line in _compared(_lines(before), _lines(after)):
        style, lead = STYLES.get(line[:1], "dim"), line[:1]
        for row in wrapped(_visible(line[1:].removesuffix("\n")), width):
            yield f"  {lead}{row}", style
            lead = "┊"
        if not line.endswith("\n"):
            yield "  \\ no newline at the end", style


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _visible(line: str) -> str:
    return re.sub("[\u2028\u2029]", lambda found: f"<U+{ord(found[0]):04X}>", neutral(line))


def _compared(old: list[str], new: list[str]) -> list[str]:
    if max(len(old), len(new)) <= LONG:
        return list(unified_diff(old, new, n=2))[2:]
    gone, come = between(old, new)
    return [*(f"-{line}" for line in gone), *(f"+{line}" for line in come)]


def _only(before: str, after: str) -> str:
    """What alone changes, where that is hard to see."""
    if before == after:
        return "nothing changes"
    if before.splitlines() == after.splitlines():
        return "only the ends of lines change"
    return "only blanks and the ends of lines change" if before.split() == after.split() else ""


def _ends(rows: list[Row]) -> list[Row]:
    half = LINES // 2
    left = many(len(rows) - 2 * half, "line")
    return [*rows[:half], (f"  [… {left} of the diff not shown …]", "yellow"), *rows[-half:]]
