"""Earlier summaries, read back so that what was carried on once can be carried on again.

Rule 1: a line written here is known again: what it quotes, who said it, and where it stands.
Rule 2: of a summary that somebody else wrote, each line is carried as it is.
Rule 3: headings are not carried: they are written anew. Nor are handles of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.extract import name_index
from holdfast.core.extract.quotes import ASKED, EARLIER, GAP, Piece, sentences
from holdfast.core.window.handles import has_handle, is_own
from holdfast.core.window.recall import EXPAND

HEADING: Final = "What was said, in the words it was said in:"
INDEX: Final = "Names used, and the entries they can be read in:"

_QUOTED = re.compile(rf"- ({ASKED}|assistant|tool|summary): (.+) #(\d+)\Z")
_WORTH: Final = {ASKED: 3.0, "summary": 2.0, "assistant": 1.5, "tool": 0.3}
FOREIGN: Final = 3.0
"""What a line of somebody else's summary is worth: they chose it, and it says much in few words."""
_APART: Final = 10_000
"""What is quoted with a gap before it does not follow."""
LONGEST: Final = 500
"""A line of somebody else's with more characters is carried sentence by sentence."""


class Carried(Struct):
    """What earlier summaries hold."""

    pieces: list[Piece] = []
    names: list[tuple[int, list[str]]] = []
    """Names by the entry they stand in."""

    def aged(self, newest: int) -> Iterator[Piece]:
        """The pieces, worth less the older they are."""
        for piece in self.pieces:
            age = newest - piece.seq if piece.seq else 0
            yield replace(piece, worth=piece.worth / (1 + age / 200))

    @property
    def newest(self) -> int:
        """The newest entry that is named."""
        return max((*(one.seq for one in self.pieces), *(seq for seq, _ in self.names)), default=0)


def carried(earlier: Sequence[str]) -> Carried:
    """Everything that these summaries tell, the oldest first."""
    found = Carried()
    for age, text in zip(range(len(earlier) - 1, -1, -1), earlier, strict=True):
        listing = False
        for line in map(str.rstrip, text.splitlines()):
            if line in (HEADING, INDEX, ""):
                listing = line == INDEX
            elif listing and (known := name_index.read(line)):
                found.names.append((known[0], [name for name in known[1] if not is_own(name)]))
            elif line == EXPAND or has_handle(line):
                continue  # what could be brought back then is in the index by its entry
            elif quoted := _QUOTED.match(line):
                found.pieces += _pieces(quoted)
            else:
                found.pieces += _foreign(line, FOREIGN / (1 + age), len(found.pieces))
    return found


def _foreign(line: str, worth: float, first: int) -> list[Piece]:
    """A line as it is; a long one sentence by sentence."""
    parts = [line] if len(line) <= LONGEST else [text for _, text in sentences(line)]
    return [Piece(0, EARLIER, text, worth, first + at) for at, text in enumerate(parts)]


def _pieces(quoted: re.Match[str]) -> list[Piece]:
    """What a line quotes, sentence by sentence, so that some of it can stay."""
    role, seq = quoted[1], int(quoted[3])
    return [
        Piece(seq, role, text, _WORTH[role], run * _APART + number)
        for run, words in enumerate(quoted[2].split(GAP))
        for number, text in sentences(words)
    ]
