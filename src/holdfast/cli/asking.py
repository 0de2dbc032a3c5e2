"""What somebody is asked to allow, shown whole: nothing is approved that was not to be seen.

Short words stand in the question itself. Others stand above it, each line wrapped; of very many
lines the head and the tail are shown and what is between is counted; then there is no `always`
before somebody has viewed them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from holdfast.agent.matching import FIELDS
from holdfast.agent.permissions import Leave
from holdfast.cli.terminal import neutral
from holdfast.cli.wording import many
from holdfast.core.ledger.arguments import arguments
from holdfast.model.message import ToolCall

Answer = Leave | Literal["view"]

LINES = 40
"""No more lines of what is asked about are shown."""

ENDING = "y / n / a = always here, then Enter "
ONCE = "y / n / v = view all, then Enter "

_PLAIN: Mapping[str, Leave] = {"y": "yes", "yes": "yes", "n": "no", "no": "no"}
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
