"""An entry with what is around it: on a terminal as much of that as one screen takes.

Rule 1: the entry's heading and what was found in it are in sight, whatever the height.
Rule 2: what is around it is cut first, the farthest first; then the entry itself about what was
        found in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from holdfast.cli.options import Asked

if TYPE_CHECKING:
    from holdfast.cli.sessions.show import Look, Steps
    from holdfast.cli.ui.entry_text import Piece
    from holdfast.cli.ui.entry_view import Drawing
    from holdfast.engine.client import Session
    from holdfast.model.view import View

BELOW = 2
"""Rows that are left for what comes behind it: which keys to press, or a prompt."""

LEAST = 4
"""How many rows of the entry are shown at least, its heading with them."""


def show_around(
    asked: Asked, session: Session, at: View, many: int | None, *, full: bool,
    sight: tuple[str, ...] = (),
) -> None:  # fmt: skip
    """Some of the log about an entry, whether or not it is in the window now; of that entry what is
    to be in sight, where it says any of it."""
    from holdfast.cli.sessions.show import Callers, Look, drawn, imported_from, stepwise
    from holdfast.cli.ui.terminal import emit
    from holdfast.engine.bridge import drive_all
    from holdfast.engine.loading import pages
    from holdfast.errors import InvalidRequest
    from holdfast.model.span import Span

    if many is None:
        raise InvalidRequest("around which entry? name it with --at")
    look, head = Look(session.view(), imported_from(session)), session.info.head
    look.place = at.last
    near = Span(max(at.last - many, 1), min(at.last + many, head))
    look.earlier, look.later = near.first - 1, head - near.last
    found = drive_all(pages(session.store.log, session.id, (near,)))
    steps = Callers(session).named(stepwise(chain.from_iterable(found)))
    if asked.json:
        for entry, states in steps:
            emit(look.as_value(entry, states))
    elif full:
        drawn(session.info, look, steps, whole=True, full=True)
    else:
        _fitted(session, look, steps, sight, f"--at {at.last} --around {many}{asked.again}")


def _fitted(session: Session, look: Look, steps: Steps, sight: tuple[str, ...], place: str) -> None:
    """Draw it row by row, and print those that fit."""
    from holdfast.cli.sessions.show import ending, heading, told
    from holdfast.cli.ui.entry_view import Drawing
    from holdfast.cli.ui.format import program
    from holdfast.cli.ui.terminal import console

    drawing = Drawing(full=False)
    head = _rows(drawing, heading(session.info, look))
    before, entry, behind = list[str](), list[str](), list[str]()
    for one, states in steps:
        look.count(one)
        drawing.sight = sight if one.seq == look.place else ()
        rows = _rows(drawing, told(one, look, states, whole=True))
        (before if one.seq < look.place else behind if one.seq > look.place else entry).extend(rows)
    end = _rows(drawing, ending(session.info, look, whole=True, cut=drawing.cut))
    screen = console()
    room = screen.height - BELOW - len(head)
    if len(before) + len(entry) + len(behind) + len(end) > room:
        end = _wrapped(
            f"Cut for this screen; all of it:\n{program()} show {session.id} {place} --full | less"
        )
        look.earlier = 0  # how many there are would not tell which of them are shown
        head = _rows(drawing, heading(session.info, look))
        room = screen.height - BELOW - len(head) - len(end)
        before, entry, behind = fit(before, entry, behind, room, sight)
    for row in (*head, *before, *entry, *behind, *end):
        screen.file.write(f"{row}\n")


def fit(
    before: Sequence[str], entry: Sequence[str], behind: Sequence[str], room: int,
    sight: tuple[str, ...],
) -> tuple[list[str], list[str], list[str]]:  # fmt: skip
    """The rows that fit: of the entry as many as can be, of the others those next to it."""
    room = max(room, LEAST)
    if len(entry) > room:
        return [], _about(entry, room, sight), []
    left = room - len(entry)
    above = min(len(before), max(left // 2, left - len(behind)))
    below = min(len(behind), left - above)
    return list(before[len(before) - above :]), list(entry), list(behind[:below])


def _about(rows: Sequence[str], room: int, sight: tuple[str, ...]) -> list[str]:
    """The first two rows of an entry, which name it, and those about what was found."""
    head, body = rows[:2], rows[2:]
    room -= len(head)
    first = max(min(_place(body, sight) - room // 3, len(body) - room), 0)
    return [*head, *body[first : first + room]]


def _place(rows: Sequence[str], sight: tuple[str, ...]) -> int:
    """The row where one of these stands; where they are broken, where their first word does."""
    from rich.text import Text

    plain = [" ".join(Text.from_ansi(row).plain.lower().split()) for row in rows]
    words = [" ".join(one.lower().split()) for one in sight]
    for one in (*words, *(word.split()[0] for word in words if word)):
        for at, row in enumerate(plain):
            if one and one in row:
                return at
    return 0


def _rows(drawing: Drawing, pieces: Iterable[Piece]) -> list[str]:
    """Pieces as the rows of the screen that they take."""
    from holdfast.cli.ui.terminal import console

    with console().capture() as taken:
        drawing.draw(pieces)
    return taken.get().splitlines()


def _wrapped(words: str) -> list[str]:
    """A sentence as rows, dim."""
    from holdfast.cli.ui.terminal import console, say

    with console().capture() as taken:
        say(words, "dim")
    return taken.get().splitlines()
