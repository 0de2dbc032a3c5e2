"""What was said about a place, cut to a room so that what was found is seen in it.

Rule 1: a room is counted in columns, of which a letter may take two or none.
Rule 2: what was found comes first: if anything of it fits, that is what is shown.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

    from holdfast.model.search import Hit

FOUND = "bold yellow"


def highlighted(hit: Hit, room: int = 0) -> Text:
    """A snippet that cannot act, what was found in bold; without a room all of it."""
    from rich.cells import cell_len
    from rich.text import Text

    from holdfast.cli.ui.terminal import neutral

    letters = [neutral(letter).replace("\n", " ").replace("\t", " ") for letter in hit.snippet]
    first, last = 0, len(letters)
    widths = list(map(cell_len, letters))
    if room and sum(widths) > room:
        first, last = about(widths, hit.marks[0] if hit.marks else (0, 0), room)
    made = Text("…" if first else "", no_wrap=True, overflow="ellipsis")
    marked = {at for begin, end in hit.marks for at in range(begin, end)}
    for found, run in groupby(range(first, last), marked.__contains__):
        made.append("".join(letters[at] for at in run), style=FOUND if found else "")
    if last < len(letters):
        made.append("…")
    return made


def about(widths: list[int], mark: tuple[int, int], room: int) -> tuple[int, int]:
    """Where the letters about a mark begin and end that fit into a room, with a sign for what was
    cut on either side."""
    start, end = mark
    taken = sum(widths[start:end])
    while end > start + 1 and taken > room - (start > 0) - (end < len(widths)):
        end -= 1
        taken -= widths[end]
    grown = True
    while grown:
        grown = False
        for left in (True, False):
            before, after = (start - 1, end) if left else (start, end + 1)
            if before < 0 or after > len(widths):
                continue
            more = widths[before if left else end]
            if taken + more + (before > 0) + (after < len(widths)) <= room:
                start, end, taken, grown = before, after, taken + more, True
    return start, end
