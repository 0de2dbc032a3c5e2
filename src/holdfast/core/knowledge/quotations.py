"""Which lines of a note quote what was said in a session that is to be erased.

Rule 1: a line quotes where a run of five of its words was said there, or all of a shorter one.
Rule 2: what quotes leaves, be it in the head of a note; what somebody wrote beside it stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from holdfast.core.knowledge.notes import read_note, write_note

RUN: Final = 5

GONE: Final = "(erased with its session)"

_LABEL: Final = re.compile(r"\*\*(?:Why|How to apply):\*\*")


class Quotable:
    """What was said in a session, ready to be compared with."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._runs: set[tuple[str, ...]] = set()
        self._whole: list[str] = []
        self._others: tuple[Quotable, ...] = ()
        for text in texts:
            words = _words(text)
            self._runs.update(zip(*(words[n:] for n in range(RUN)), strict=False))
            self._whole.append(f" {' '.join(words)} ")

    def quotes(self, line: str) -> bool:
        """Whether a line repeats what was said."""
        if any(one.holds(line) for one in self._others):
            return False
        words = _words(_LABEL.sub("", line))
        if len(words) >= RUN:
            return any(run in self._runs for run in zip(*(words[n:] for n in range(RUN)),
                                                        strict=False))  # fmt: skip
        return self.holds(line)

    def holds(self, line: str) -> bool:
        """Whether all of a line was said in one piece."""
        told = f" {' '.join(_words(_LABEL.sub('', line)))} "
        return bool(told.strip()) and any(told in one for one in self._whole)

    def but(self, others: Iterable[Quotable]) -> Quotable:
        """The same without what was said elsewhere, too, by whom it may be kept."""
        found = Quotable(())
        found._runs, found._whole = self._runs, self._whole
        found._others = tuple(others)
        return found

    def without(self, file: str, text: str) -> str:
        """A note without what it quotes; empty where nothing of it is left."""
        note = read_note(file, text)
        lines = note.body.splitlines()
        kept = [line for line in lines if not self.quotes(line)]
        head = {
            name: GONE
            for name in ("name", "description")
            if self.quotes(getattr(note, name))
        }  # fmt: skip
        if kept == lines and not head:
            return text
        if not any(line.strip() and not _LABEL.match(line.strip()) for line in kept):
            return ""
        return write_note(replace(note, body="\n".join(kept), **head))

    def without_lines(self, text: str) -> str:
        """A text without the lines that quote."""
        return "".join(line for line in text.splitlines(keepends=True) if not self.quotes(line))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
