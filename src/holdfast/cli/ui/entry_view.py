"""Pieces onto the screen: heads in colour, bodies indented, shortened or streamed in full."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from holdfast.cli.ui.entry_text import Piece
from holdfast.cli.ui.format import many
from holdfast.cli.ui.snippets import FOUND
from holdfast.cli.ui.terminal import console, neutral, one_line

LINES, LETTERS = 10, 800
"""How much of a text a terminal shows unless all is asked for."""

LINES_BEFORE, BEFORE = 3, 200
"""How much is shown before what is to be seen."""

CHUNK = 1 << 16


class Drawing:
    """Draws pieces one after the other, and remembers whether it left anything out."""

    def __init__(self, *, full: bool) -> None:
        self.full = full
        self.cut = False
        self.sight: tuple[str, ...] = ()
        """What is to be seen of a text that is shortened: the first of these that stands in it."""

    def draw(self, pieces: Iterable[Piece]) -> None:
        """Print these pieces."""
        for piece in pieces:
            if not piece.body:
                self.line(piece)
            elif self.full:
                stream(piece)
            else:
                self.shortened(piece)

    def line(self, piece: Piece) -> None:
        """One line; a terminal that is too narrow cuts it, a pipe takes all of it."""
        from rich.text import Text

        screen = console()
        text = Text(" " * piece.indent + one_line(piece.text), style=piece.style)
        if screen.is_terminal:
            text.truncate(screen.width, overflow="ellipsis")
        screen.print(text, soft_wrap=True)

    def shortened(self, piece: Piece) -> None:
        """The beginning of a text, wrapped, and how much more there is; where something is to be
        seen further on, from a little before that."""
        from rich.padding import Padding
        from rich.text import Text

        width = console().width - piece.indent
        begins, left = beginning(piece.text, width)
        if left and (start := _place(piece.text, self.sight, len(begins))):
            lines = piece.text.count("\n", 0, start)
            earlier = many(lines, "line") if lines else many(start, "character")
            self.line(Piece(f"… {earlier} before", "dim", piece.indent))
            begins, left = beginning(piece.text[start:], width)
        shown = Text(neutral(begins), piece.style)
        shown.highlight_words(filter(None, self.sight), FOUND, case_sensitive=False)
        console().print(Padding(shown, (0, 0, 0, piece.indent)))
        if left:
            self.cut = True
            self.line(Piece(left, "dim", piece.indent))


def _place(text: str, sight: tuple[str, ...], shown: int) -> int:
    """From where on a text shows one of these; 0 where its beginning does, or nothing of it."""
    folded = text.lower()
    places = (folded.find(words.lower()) for words in sight if words)
    at = next((at for at in places if at >= 0), 0)
    if at < shown:
        return 0
    before = text[max(at - BEFORE, 0) : at].split("\n")
    return at - len("\n".join(before[-LINES_BEFORE:]))


def beginning(text: str, width: int) -> tuple[str, str]:
    """The first lines of a text without its last line break, and what is left of it in words.

    A text is cut only where that saves a line of the screen: the words take one themselves.
    """
    shown = "\n".join(text[:LETTERS].split("\n")[:LINES])
    rest = text[len(shown) :]
    if not rest.strip():
        return shown.rstrip("\n"), ""
    if len(rest) < width and rest.rstrip("\n").count("\n") < 2:
        return text.rstrip("\n"), ""
    lines = rest.count("\n")
    return shown, f"… {many(lines, 'more line') if lines else many(len(rest), 'more character')}"


def stream(piece: Piece) -> None:
    """The whole of a text, indented, in chunks: it may be of any size."""
    margin = " " * piece.indent
    sys.stdout.write(margin)
    for chunk in chunks(piece.text):
        sys.stdout.write(neutral(chunk).replace("\n", f"\n{margin}"))
    sys.stdout.write("\n")


def chunks(text: str) -> Iterator[str]:
    """A text in pieces, none of which ends inside a line break of two characters."""
    start = 0
    while start < len(text):
        end = start + CHUNK
        while text[end - 1 : end] == "\r":
            end += 1
        yield text[start:end]
        start = end
