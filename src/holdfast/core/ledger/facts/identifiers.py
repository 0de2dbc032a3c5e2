"""Names, addresses and numbers that cannot be written again from memory.

Rule 1: they are taken from what people and the model say, never from the output of tools.
Rule 2: each is told by its shape; the rule's name says which.
Rule 3: our own handles are none.
Rule 4: at most MOST are kept: those used least, and longest ago, leave first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import nsmallest
from typing import Final

from msgspec.structs import replace

from holdfast.core.window.handles import is_own, recalled
from holdfast.model.ledger import Identifier, Ledger

MOST: Final = 400
SPEECH: Final = 20_000
"""Of a longer text only the beginning is read."""
_LONGEST: Final = 200

SHAPES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("url", re.compile(r"https?://[^\s<>\"'`）)\]}，。]+")),
    ("code", re.compile(r"`([^`\n]{2,80})`")),
    ("hash", re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")),
    ("issue", re.compile(r"(?:\b(?:PR|MR|GH|issue) ?)?#\d{1,7}\b")),
    ("key", re.compile(r"\b[A-Z]{2,10}-\d{1,6}\b")),
    ("setting", re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")),
    ("name", re.compile(r"\b[A-Za-z]\w*(?:_\w+)+\b|\b(?:[a-z]+"
    r"|(?:[A-Z][a-z0-9]+))(?:[A-Z][a-z0-9]+)+\b")),
    ("version", re.compile(r"\bv?\d+\.\d+(?:\.\d+)+(?:-[\w.]+)?\b")),
)  # fmt: skip


def found_in(text: str) -> Iterator[tuple[str, str]]:
    """Each identifier of a text, and the name of its shape; a stretch is read as one shape only."""
    taken = bytearray(len(text))
    for first, end in recalled(text):
        taken[first:end] = b"x" * (end - first)
    for name, pattern in SHAPES:
        for match in pattern.finditer(text):
            if not taken[match.start()] and len(match[0]) <= _LONGEST:
                taken[match.start() : match.end()] = b"x" * len(match[0])
                if is_own(match[0].strip("`")):
                    continue
                yield (match[1] if match.re.groups else match[0]).rstrip(".,:;"), name


def note(ledger: Ledger, seq: int, text: str) -> Ledger:
    """The identifiers of a text have been used."""
    found = list(found_in(text[:SPEECH]))
    if not found:
        return ledger
    known = dict(ledger.identifiers)
    for word, rule in found:
        before = known.get(word)
        if before is None:
            known[word] = Identifier(text=word, seq=seq, inferred=rule)
        else:
            known[word] = replace(before, seq=seq, uses=before.uses + 1)
    if len(known) > MOST:
        least = nsmallest(len(known) - MOST, known.values(), key=_worth)
        for one in least:
            del known[one.text]
    return replace(ledger, identifiers=known)


def _worth(one: Identifier) -> tuple[bool, int, str]:
    return one.uses > 1, one.seq, one.text
