"""Sentences of a conversation that can be quoted, and what each is worth.

Rule 1: a piece stands in its entry word for word, white space aside; a cut one ends with `…`.
Rule 2: requests are worth more than conclusions, conclusions more than remarks between two calls.
Rule 3: programs are no prose: what stands between fences is not quoted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush, nlargest
from math import fsum
from typing import Final

from msgspec import Struct

from holdfast.core.extract.names import Names, is_public
from holdfast.core.log.boundary import is_request
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.handles import has_handle
from holdfast.core.window.scaffold import own_words
from holdfast.model.log import Entry
from holdfast.model.message import Message, Subtask, SummaryText, Text, ToolResult

OPENING, GOING_ON = 7, 2
"""What a line around a quotation takes, and what one more on the same line takes."""
TELLING = 25
"""A quotation of so many tokens is worth half of what it could be: `Perfect!` says little."""
ENOUGH = 3
"""Once so many pieces of an entry are quoted, one more of it is worth half."""


def choose(candidates: Iterable[Piece], names: Names, told: set[str], room: int) -> list[Piece]:
    """The quotations that fit into so many tokens."""
    most = max(room, 0) // 2
    best = nlargest(most, candidates, key=promising)
    held = {piece: names.within(piece.text) for piece in best}
    costs = {piece: estimate(piece.text) for piece in best}
    told, taken, chosen = set(told), Counter[tuple[int, str]](), dict[str, Piece]()

    def rate(piece: Piece) -> float:
        new = fsum(map(names.likely, held[piece] - told))  # the same in whatever order
        worth = piece.worth * costs[piece] / (costs[piece] + TELLING)
        worth /= 1 + taken[piece.seq, piece.role] / ENOUGH
        return (worth + new) / (costs[piece] + _around(piece, taken))

    waiting = [(-rate(piece), number, piece) for number, piece in enumerate(best)]
    heapify(waiting)
    while waiting and room > OPENING:
        said, number, piece = heappop(waiting)
        now = -rate(piece)
        if waiting and now > said and now > waiting[0][0]:  # others told its names meanwhile
            heappush(waiting, (now, number, piece))
            continue
        cost = costs[piece] + _around(piece, taken)
        if cost <= room and piece.text not in chosen and _tells(piece.text):
            room -= cost
            told |= held[piece]
            taken[piece.seq, piece.role] += 1
            chosen[piece.text] = piece
    return list(chosen.values())


def promising(piece: Piece) -> float:
    """What a quotation gives for its length, told without looking for names."""
    size = len(piece.text.encode("utf-8", "surrogatepass"))
    return piece.worth * size / (size + 100) / (size + 30)


def _tells(text: str) -> bool:
    """Whether a text may be quoted: it has no secret, and does not only say what to look up."""
    return is_public(text) and not has_handle(text)


def _around(piece: Piece, taken: Counter[tuple[int, str]]) -> int:
    return GOING_ON if taken[piece.seq, piece.role] else OPENING


LINE: Final = 240
"""No piece has more characters."""
READ: Final = 4_000
"""Of a longer text so many characters at its beginning and at its end are read as prose."""
ASKED: Final = "user asked"
EARLIER: Final = "earlier"
"""Who says a line of a summary that somebody else wrote."""
GAP: Final = " … "
"""Between two pieces of one entry that do not follow one another."""

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"(?<=[^\d\s][.!?])\s+(?=\S)|(?<=[。！？])|\n+")
_LAST = re.compile(r"(?<![!-~\u00c0-\u058f])[!-~\u00c0-\u058f]+\Z")
_FIRST = re.compile(r"\A[!-~\u00c0-\u058f]*")
_WORD = re.compile(r"\w")
_LEFT_OUT: Final = "\n\0\n"
"""A line that is never quoted and parts what stands around it."""
_TROUBLE = re.compile(r"error|fail|exception|denied|not found|fatal|panic|错误|失败|エラー", re.I)


class Piece(Struct, frozen=True):
    """Words that can be quoted."""

    seq: int
    role: str
    text: str
    worth: float = 0.0
    """What it is worth beside the names in it."""
    order: int = 0
    """Its place in its entry."""


def pieces(entry: Entry, age: int) -> Iterator[Piece]:
    """What can be quoted of an entry that is so many entries old."""
    body = entry.body
    if not isinstance(body, Message):
        return
    first = 0
    for part in body.parts:
        role, found, worths = _quotable(part, entry, body, age)
        for (number, text), worth in zip(found, worths, strict=True):
            yield Piece(entry.seq, role, text, worth, first + number)
        first += found[-1][0] + 2 if found else 0  # parts never follow one another directly


Quotable = tuple[str, list[tuple[int, str]], list[float]]


def _quotable(part: object, entry: Entry, body: Message, age: int) -> Quotable:
    """Who says it, what can be quoted of it, and what each is worth."""
    if isinstance(part, Text) and not part.scaffold:
        own = own_words if entry.native else str.strip  # whoever typed it here meant all of it
        return _spoken(own(part.text) if body.role == "user" else part.text, body, age)
    if isinstance(part, SummaryText):
        found = sentences(part.text)
        return "summary", found, [2.0 / (1 + age / 200)] * len(found)
    if isinstance(part, ToolResult) and part.error:
        found = _trouble(part.output)
        return "tool", found, [0.8 / (1 + age / 20)] * len(found)
    if isinstance(part, Subtask):
        found = sentences(part.result)
        return "tool", found, _concluding(len(found), 1.0 / (1 + age / 60), 0.5)
    return "", [], []


def _spoken(text: str, body: Message, age: int) -> Quotable:
    if body.role == "user" and is_request(body):
        found = sentences(text)
        return ASKED, found, _leading(len(found), 4.0 / (1 + age / 200) + 4.0 / (1 + age / 8))
    if body.role == "assistant":
        found = sentences(text)
        return "assistant", found, _concluding(len(found), *_weight(body, age))
    return "", [], []


def _weight(body: Message, age: int) -> tuple[float, float]:
    """Who calls a tool goes on; who calls none concludes."""
    return (0.5 / (1 + age / 30), 0.2) if body.calls else (2.5 / (1 + age / 60), 0.5)


def _leading(number: int, worth: float) -> list[float]:
    """What is asked stands first."""
    return [worth if at < 2 else worth * 0.6 for at in range(number)]


def _concluding(number: int, worth: float, rest: float) -> list[float]:
    """What is said stands first, and what comes of it last."""
    return [worth if at in (0, number - 1) else worth * rest for at in range(number)]


def _trouble(output: str) -> list[tuple[int, str]]:
    """The line that tells what is wrong; the last one where none says so."""
    lines = [line for line in _shortened(output).splitlines() if _says_something(line)]
    telling = [line for line in lines if _TROUBLE.search(line)] or lines[-1:]
    return [(0, text) for line in telling[:1] if (text := cut(line))]


def sentences(text: str) -> list[tuple[int, str]]:
    """The sentences of a text with their numbers, each at most LINE long; some are left out."""
    prose = _FENCE.sub(_LEFT_OUT, _shortened(text))
    found = ((number, cut(piece)) for number, piece in enumerate(_SENTENCE.split(prose)))
    return [(number, piece) for number, piece in found if _says_something(piece)]


def _shortened(text: str) -> str:
    if len(text) <= 2 * READ:
        return text
    return _beginning(text, READ) + _LEFT_OUT + _FIRST.sub("", text[-READ:], count=1)


def _says_something(piece: str) -> bool:
    """Whether there are words in it, and no half of a quotation in backticks."""
    return bool(_WORD.search(piece)) and piece.count("`") % 2 == 0


def cut(text: str) -> str:
    """A text on one line, cut between two words where it is too long."""
    words = " ".join(_beginning(text, 8 * LINE).split())
    if len(words) <= LINE:
        return words
    kept = _beginning(words, LINE).rstrip()
    return f"{kept} …" if kept else ""


def _beginning(text: str, size: int) -> str:
    """So many characters of a text, or fewer so that no word is cut in two."""
    if len(text) <= size:
        return text
    return text[:size] if text[size].isspace() else _LAST.sub("", text[:size])


def joined(quoted: Sequence[Piece]) -> str:
    """The chosen pieces of one entry, on one line; a gap where something between them is left."""
    text, last = "", -2
    for piece in sorted(quoted, key=lambda one: one.order):
        follows = piece.order == last + 1 and text[-1] not in "。！？…"
        between = "" if not text else " " if follows or text.endswith(" …") else GAP
        text, last = f"{text}{between}{piece.text}", piece.order
    return text


def quotations(quoted: Sequence[Piece]) -> list[str]:
    """The lines that quote, in the order of the log; what somebody else wrote comes first."""
    foreign = sorted((piece.order, piece.text) for piece in quoted if piece.role == EARLIER)
    told = [f"- {role}: {joined(held)} #{seq}" for (seq, role), held in by_line(quoted).items()]
    return [text for _, text in foreign] + told


def by_line(quoted: Sequence[Piece]) -> dict[tuple[int, str], list[Piece]]:
    """The pieces that stand on one line together, in the order of the log."""
    lines: dict[tuple[int, str], list[Piece]] = defaultdict(list)
    for piece in quoted:
        if piece.role != EARLIER:
            lines[piece.seq, piece.role].append(piece)
    return dict(sorted(lines.items()))
