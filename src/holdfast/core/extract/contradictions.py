"""Which quotations still stand: what was true once may contradict what the log says by now.

Rule 1: the lines are judged as they will be read, by the rules that a model's summary is judged by.
Rule 2: of a line that is contradicted only what is contradicted leaves; where that cannot be told,
        the line leaves. Then what is left is judged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from holdfast.core.extract.quotes import EARLIER, Piece, by_line, quotations
from holdfast.core.ledger.checks.matching import plain
from holdfast.core.ledger.checks.objections import objections
from holdfast.model.ledger import Ledger

STALE: Final = ("status", "file-state")
"""What is held against a quotation; that it invents something cannot be."""


def standing(quoted: Sequence[Piece], ledger: Ledger | None) -> list[Piece]:
    """The quotations that nothing in the ledger contradicts, in the same order."""
    left = list(quoted)
    while ledger and (wrong := _contradicted(left, ledger)):
        leaving = {piece for words in wrong for piece in _behind(words, left)}
        if not leaving:
            return left
        left = [piece for piece in left if piece not in leaving]
    return left


def _contradicted(quoted: Sequence[Piece], ledger: Ledger) -> list[str]:
    text = "\n".join(quotations(quoted))
    return [one.text for one in objections(ledger, text, text) if one.rule in STALE]


def _behind(words: str, quoted: Sequence[Piece]) -> list[Piece]:
    """The pieces that a contradicted sentence is made of, or else all of its line."""
    foreign = [[piece] for piece in quoted if piece.role == EARLIER]
    for held in (*foreign, *by_line(quoted).values()):
        whole = plain(quotations(held)[0])
        if words in whole:
            return [piece for piece in held if _overlap(plain(piece.text), words)] or held
    return []


def _overlap(piece: str, words: str) -> bool:
    bare = words.strip("… ")
    return piece.rstrip("… ") in words or bare in piece
