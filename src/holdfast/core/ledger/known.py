"""Everything that may be said: the words of a ledger, and of the stretch that a summary covers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from holdfast.core.ledger.matching import plain
from holdfast.model.ledger import Ledger

ALIKE: Final = 0.6
"""How alike two file names are when one may be a slip for the other."""


class Known:
    """The words against which what a summary names is held."""

    def __init__(self, ledger: Ledger, covered: str = "") -> None:
        self.files = tuple(ledger.files)
        self.text = plain("\n".join((*_words(ledger), covered)))
        self.paths = self.text.replace("\\", "/")
        self.lines = tuple(plain(one.line) for one in ledger.commands)

    def has_path(self, path: str) -> bool:
        """Whether a path, or the end of one, was ever named."""
        bare = re.sub(r"^(?:\.{3}|…)?/?|^\./", "", path.replace("\\", "/"), count=1)
        bare = re.sub(r"^\./", "", bare)
        if not bare or self._stands(bare) or self._stands(path):  # some programs print `...ile.py`
            return True
        return self._joined(path.replace("\\", "/"))

    def _stands(self, path: str) -> bool:
        """Whether a path stands somewhere; an ideograph right beside it is none of its letters."""
        found = rf"(?<![A-Za-z0-9_.-]){re.escape(path.rstrip('/'))}(?![A-Za-z0-9_-])"
        return bool(re.search(found, self.paths))

    def _joined(self, path: str) -> bool:
        """Whether it is a known directory and a known path behind it."""
        for file in self.files:
            end = file.replace("\\", "/").removeprefix("./")
            if path.endswith("/" + end) and path[: -len(end) - 1] in self.paths:
                return True
        return False

    def meant(self, path: str) -> str:
        """The file that a wrong path was probably written for; empty where none comes near."""
        name = path.replace("\\", "/").rsplit("/", 1)[-1]
        best, found = ALIKE, ""
        for file in self.files:
            other = file.replace("\\", "/").rsplit("/", 1)[-1]
            alike = SequenceMatcher(None, name.lower(), other.lower(), autojunk=False).ratio()
            if alike > best or (alike == best and not found):
                best, found = alike, file
        return found

    def has_command(self, line: str) -> bool:
        """Whether a command was given or spoken of so; words may be left out of it."""
        if plain(line) in self.text:
            return True
        pieces = [plain(piece) for piece in re.split(r"\.{3}|…", line) if piece.strip()]
        if len(pieces) > 1:
            return all(piece in self.text for piece in pieces)
        return any(_within(line.split(), known.split()) for known in self.lines)

    def has_name(self, name: str) -> bool:
        """Whether an identifier, or each piece of a dotted one, was ever used."""
        bare = name.removesuffix("()").removeprefix("self.").removeprefix("this.")
        if bare in self.text:
            return True
        pieces = [piece for piece in re.split(r"\.|::|#|->", bare) if piece]
        return len(pieces) > 1 and all(self._word(piece) for piece in pieces)

    def _word(self, word: str) -> bool:
        return bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.text))


def _within(some: list[str], others: list[str]) -> bool:
    """Whether all words of one list stand in another, in the same order."""
    rest = iter(others)
    return all(word in rest for word in some)


def _words(ledger: Ledger) -> Iterator[str]:
    yield from ledger.files
    yield from (one.line for one in ledger.commands)
    yield from (one.text for one in ledger.requests)
    for problem in ledger.problems:
        yield from (problem.subject, problem.text)
    yield from (step.text for plan in ledger.plans for step in plan.steps)
    yield from (one.title for one in ledger.subtasks)
    yield from (one.name for one in ledger.subtasks)
    yield from (one.text for one in ledger.decisions)
    yield from ledger.identifiers
