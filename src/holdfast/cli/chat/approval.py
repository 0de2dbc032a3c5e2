"""What somebody is asked to allow, shown whole: nothing is approved that was not to be seen.

Short words stand in the question itself. Others stand above it, each line wrapped; of very many
lines the head and the tail are shown and what is between is counted; then there is no `always`
before somebody has viewed them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import TYPE_CHECKING, Literal, NamedTuple

from holdfast.agent.permissions.match import FIELDS
from holdfast.agent.permissions.rules import Approval
from holdfast.agent.tools.toolbox import CHANGING
from holdfast.cli.ui.format import many
from holdfast.cli.ui.terminal import neutral
from holdfast.core.ledger.facts.effort import between
from holdfast.core.log.tool_input import arguments
from holdfast.model.message import ToolCall

if TYPE_CHECKING:
    from holdfast.agent.tools.toolbox import Toolbox
    from holdfast.model.message import ToolCall

Answer = Approval | Literal["view"]

LINES = 40
"""No more lines of what is asked about are shown."""

ENDING = "y / n / a = always here, then Enter "
ONCE = "y / n / v = view all, then Enter "

_PLAIN: Mapping[str, Approval] = {"y": "yes", "yes": "yes", "n": "no", "no": "no"}
_ALWAYS: Mapping[str, Answer] = {**_PLAIN, "a": "always", "always": "always"}
_VIEW: Mapping[str, Answer] = {**_PLAIN, "v": "view", "view": "view"}


class Question(NamedTuple):
    """What is shown above, and what is asked below it."""

    above: tuple[str, ...]
    words: str
    always: bool

    @property
    def answers(self) -> Mapping[str, Answer]:
        """What may be typed, and what it means."""
        return _ALWAYS if self.always else _VIEW


def question(
    call: ToolCall, width: int, *, seen: bool = True, everything: bool = False
) -> Question:
    """How to ask for a call, on a terminal of so many columns; `seen` says whether its diff was."""
    from rich.cells import cell_len

    name, text = neutral(call.name), neutral(_about(call))
    short = f"  allow {name} {text}? {ENDING if seen else ONCE}"
    if cell_len(short) < width and not set(text) & {"\n", "\t"} and "  " not in text:
        return Question((), short, seen)
    rows = wrapped(text, max(width - 4, 8))
    whole = everything or len(rows) <= LINES
    above = rows if whole else _ends(rows)
    lead = f"  allow this {name}? {ENDING if whole and seen else ONCE}"
    return Question(tuple(f"  │ {row}" for row in above), lead, whole and seen)


def _about(call: ToolCall) -> str:
    """What a call is about: the fields of its tool, or all that it says where the tool has none."""
    fields = arguments(call.input)
    told = [str(fields[name]) for name in FIELDS.get(call.name, ()) if fields.get(name)]
    return " ".join(told) if call.name in FIELDS else str(call.input)


def wrapped(text: str, width: int) -> list[str]:
    """All of a text, in rows that a terminal does not break."""
    from rich.cells import chop_cells

    lines = text.expandtabs(4).split("\n")
    return [row for line in lines for row in (chop_cells(line, width) or [""])]


def _ends(rows: list[str]) -> list[str]:
    half = LINES // 2
    between = rows[half:-half]
    left = f"{many(len(between), 'line')}, {many(sum(map(len, between)), 'character')}"
    return [*rows[:half], f"[… {left} not shown …]", *rows[-half:]]


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
    return Diff((*(rows if whole else _line_ends(rows)), *told), whole)


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


def _line_ends(rows: list[Row]) -> list[Row]:
    half = LINES // 2
    left = many(len(rows) - 2 * half, "line")
    return [*rows[:half], (f"  [… {left} of the diff not shown …]", "yellow"), *rows[-half:]]
