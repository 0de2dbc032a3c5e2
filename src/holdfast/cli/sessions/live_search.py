"""`holdfast search --live`: what is found while somebody types, and which of it they choose.

Typing never waits: a search runs beside it, one at a time, and the newest words are searched next.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from holdfast.cli.sessions.search import HEADING
from holdfast.errors import HoldfastError, InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prompt_toolkit import Application
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from holdfast.engine.client import Holdfast
    from holdfast.model.search import Hit, Where

AROUND_HITS = 4
"""Rows of the screen that are no hits: what is typed, the heading, what the chosen one is, keys."""

KEYS = "↑ ↓ PgUp PgDn choose · Enter opens · Esc leaves"

READ = "Enter or Backspace: back to the list · q or Esc: leave"
"""What can be pressed once a hit is open."""

LEAVING = ("q", "Q", "\x1b", "\x03", "\x04")

STYLE = {"heading": "ansibrightblack", "found": "bold ansiyellow", "chosen": "reverse"}


def check() -> None:
    """Refuse where nobody could type."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidRequest(
            "--live needs a terminal to type in; leave it out to print what is found"
        )
    if find_spec("prompt_toolkit") is None:
        raise InvalidRequest("--live needs prompt_toolkit; run  pip install 'holdfast[chat]'")


def chosen(hf: Holdfast, words: str, where: Where, *, meaning: bool) -> Iterator[Hit]:
    """Let somebody search, and each hit that they choose; whoever comes back from reading one finds
    what they typed and what they chose as it was."""
    live = Live(Finding(hf, where, meaning=meaning))
    while hit := live.run(words):
        yield hit
        if not _returns():
            return
        words = live.words


def _returns() -> bool:
    """Whether somebody who has read enough wants to see the list again."""
    from holdfast.cli.ui.terminal import say

    try:
        with _keys() as key:  # from here on, so that none is lost that follows the words at once
            say(READ, "dim")
            return key() not in LEAVING
    except (KeyboardInterrupt, EOFError, OSError):  # a terminal that is gone says nothing more
        return False


@contextmanager
def _keys() -> Iterator[Callable[[], str]]:
    """Something that waits for the next key, without Enter; keys pressed meanwhile are kept."""
    try:
        import termios
        import tty
    except ImportError:  # Windows
        import click

        yield click.getchar
        return
    place = sys.stdin.fileno()
    before = termios.tcgetattr(place)
    try:
        tty.setcbreak(place, termios.TCSADRAIN)
        yield lambda: _key(place)
    finally:
        termios.tcsetattr(place, termios.TCSADRAIN, before)


def _key(place: int) -> str:
    """One key, and nothing of what was typed ahead behind it: that is for who reads next."""
    import select

    pressed = os.read(place, 1)
    if pressed == b"\x1b" and select.select([place], [], [], 0)[0]:
        pressed += os.read(place, 31)  # an arrow, say: one key of several bytes
    return pressed.decode("utf-8", "replace") or "\x04"


class Finding:
    """What is found for some words, as rows of a screen."""

    def __init__(self, hf: Holdfast, where: Where, *, meaning: bool) -> None:
        self._hf, self._where, self._meaning = hf, where, meaning
        self._short: dict[str, str] = {}
        self.hits: tuple[Hit, ...] = ()
        self.told = ""
        """Why nothing is found, where that is not plain."""

    def search(self, words: str, limit: int) -> None:
        """Find them; the last word may be one that is still being typed."""
        from holdfast.cli.sessions.list import shortened

        where: Any = self._where | {"limit": limit, "prefix": not words.endswith(" ")}
        hits: tuple[Hit, ...] = ()
        told = "" if words.strip() else "Type what is to be found."
        if words.strip():
            try:
                hits = self._hf.search(words, meaning=self._meaning, **where)
                told = "" if hits else self._nothing(words)
            except HoldfastError as why:
                told = str(why)
        if new := [hit.session for hit in hits if hit.session not in self._short]:
            self._short |= shortened(self._hf, list(dict.fromkeys(new)))
        self.hits, self.told = hits, told

    def _nothing(self, words: str) -> str:
        meant = self._hf.respelled(words) if words.endswith(" ") else ""
        return f"Nothing is found; did you mean {meant!r}?" if meant else "Nothing is found."

    def rows(self, width: int) -> list[list[tuple[str, str]]]:
        """A heading and a row for each hit, as styled pieces."""
        from holdfast.cli.sessions.search import fewer, places
        from holdfast.cli.ui.snippets import highlighted

        heading, columns = HEADING, places(self.hits, self._short, 0)
        heading, columns = _without_project(heading), list(map(_without_project, columns))
        heading, columns = fewer(heading, columns, width)
        widths = [max(map(len, column)) for column in zip(heading, *columns, strict=True)]
        room = max(width - sum(widths) - 2 * len(widths), 1)
        rows = [[("class:heading", f"{_aligned(heading, widths)}what was said")]]
        for hit, row in zip(self.hits, columns, strict=True):
            said = highlighted(hit, room)
            marked = {at for span in said.spans for at in range(span.start, span.end)}
            letters = [("class:found" if at in marked else "", letter)
                       for at, letter in enumerate(said.plain)]  # fmt: skip
            rows.append([("", _aligned(row, widths)), *letters])
        return rows


def _without_project(row: tuple[str, ...]) -> tuple[str, ...]:
    """The same columns but for the project: of the chosen hit it is said below the list."""
    return tuple(cell for cell, name in zip(row, HEADING, strict=True) if name != "project")


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    """The columns before what was said; numbers stand at the right."""
    cells = [
        f"{cell:>{width}}" if place in (0, 2) else f"{cell:<{width}}"
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "".join(f"{cell}  " for cell in cells)


class Live:
    """The screen that is typed into."""

    def __init__(self, finding: Finding) -> None:
        from prompt_toolkit.buffer import Buffer

        self._finding = finding
        self._chosen = self._back = 0
        """The hit that is chosen, and the one that was, to come back to."""
        self._searching = self._entered = False
        """Whether a search is under way, and whether its first hit is already chosen."""
        self._typed = Buffer(multiline=False)
        self._typed.on_text_changed += lambda _: self._begin()
        self._app = self._application()

    def run(self, words: str) -> Hit | None:
        """Ask until somebody chooses or leaves."""
        from prompt_toolkit.document import Document

        self._finding.search("", 1)
        self._back = self._chosen
        self._typed.reset()
        hit: Hit | None = self._app.run(pre_run=lambda: self._typed.set_document(Document(words)))
        return hit

    @property
    def words(self) -> str:
        """What is typed."""
        return self._typed.text

    def _begin(self) -> None:
        if not self._searching:
            self._searching = True
            self._app.create_background_task(self._search())

    async def _search(self) -> None:
        """Search for what is typed, again where more was typed meanwhile."""
        import asyncio

        try:
            words = None
            while words != self._typed.text:
                words = self._typed.text
                rows = max(self._app.output.get_size().rows - AROUND_HITS, 1)
                await asyncio.to_thread(self._finding.search, words, rows)
                self._chosen, self._back = self._back, 0
                self._move(0)
                self._app.invalidate()
        finally:
            self._searching = False
        if self._entered:
            self._enter()

    def _enter(self) -> None:
        """Leave with the chosen hit; one that is still being looked for is waited for."""
        self._entered = self._searching
        if not self._entered and (hit := self._hit()):
            self._app.exit(result=hit)

    def _move(self, by: int) -> None:
        self._chosen = min(max(self._chosen + by, 0), max(len(self._finding.hits) - 1, 0))

    def _hit(self) -> Hit | None:
        hits = self._finding.hits
        return hits[self._chosen] if self._chosen < len(hits) else None

    def _shown(self) -> StyleAndTextTuples:
        """The heading and the hits, the chosen one turned about; or why there are none."""
        if self._finding.told:
            return [("class:heading", self._finding.told)]
        made: StyleAndTextTuples = []
        width = self._app.output.get_size().columns
        for place, row in enumerate(self._finding.rows(width)):
            more = " class:chosen" if place == self._chosen + 1 else ""
            made += [(f"{style}{more}", text) for style, text in row]
            made.append(("", "\n"))
        return made

    def _below(self) -> StyleAndTextTuples:
        """What the chosen hit is from, and what can be pressed."""
        from holdfast.cli.ui.format import path
        from holdfast.cli.ui.terminal import one_line

        hit = self._hit()
        facts = (path(hit.project), hit.agent, hit.model) if hit else ()
        return [("class:heading", f"{one_line(' · '.join(filter(None, facts)))}\n{KEYS}")]

    def _application(self) -> Application[Hit | None]:
        from prompt_toolkit import Application
        from prompt_toolkit.layout import BufferControl, HSplit, Layout, VSplit, Window
        from prompt_toolkit.layout.controls import FormattedTextControl
        from prompt_toolkit.styles import Style

        typed = Window(BufferControl(self._typed), height=1)
        label = Window(FormattedTextControl("search> "), width=8, height=1)
        hits = Window(FormattedTextControl(self._shown))
        below = Window(FormattedTextControl(self._below), height=2)
        layout = Layout(HSplit([VSplit([label, typed]), hits, below]), focused_element=typed)
        return Application(layout=layout, key_bindings=self._bindings(), full_screen=True,
                           style=Style.from_dict(STYLE))  # fmt: skip

    def _bindings(self) -> Any:
        from prompt_toolkit.key_binding import KeyBindings

        keys = KeyBindings()
        for key, by in (("up", -1), ("c-p", -1), ("down", 1), ("c-n", 1), ("pageup", -10),
                        ("pagedown", 10)):  # fmt: skip
            keys.add(key)(lambda _, by=by: self._move(by))
        keys.add("enter")(lambda _: self._enter())
        for key in ("escape", "c-c", "c-d"):
            keys.add(key, eager=key == "escape")(lambda event: event.app.exit(result=None))
        return keys
