"""What later turns really use of what was said before: names, paths, sentences of the user's.

A name or path is told by its shape, as bench/replay.py has it. A sentence of the user's is used
where most of its longer words come up in what the model writes next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from bench.replay import names, with_ends, words, written
from holdfast.core.log.boundary import is_request
from holdfast.model.log import Entry
from holdfast.model.message import Message

AHEAD = 20
"""The reply and so many turns behind it."""

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{4,}")
_SHORTEST, _LONGEST, _WORDS, _MOST = 20, 400, 3, 0.6


class Use(msgspec.Struct, frozen=True):
    """What is used at one place of a transcript that had been said before."""

    names: frozenset[str]
    sentences: frozenset[str]


def uses(entries: Sequence[Entry], every: int) -> dict[int, Use]:
    """What is used from a reply on, by the reply's index: of every so many replies one."""
    replies = [at for at, entry in enumerate(entries) if _body(entry).role == "assistant"]
    wrote = [_written(written(entries[at])) for at in replies]
    said: set[str] = set()
    asked: dict[str, frozenset[str]] = {}
    found: dict[int, Use] = {}
    before = 0
    for number, at in enumerate(replies):
        for entry in entries[before:at]:
            said |= _all_names(words(entry))
            asked |= _sentences(entry)
        before = at
        if number % every == 0 and number:
            found[at] = _used(wrote[number : number + AHEAD + 1], said, asked)
    return found


def _used(
    ahead: Iterable[tuple[frozenset[str], frozenset[str]]],
    said: set[str],
    asked: dict[str, frozenset[str]],
) -> Use:
    told, spoken = set[str](), set[str]()
    for more, wording in ahead:
        told |= more
        spoken |= wording
    sentences = (s for s, ws in asked.items() if len(ws & spoken) >= _MOST * len(ws))
    return Use(frozenset(told & said), frozenset(sentences))


@lru_cache(1 << 15)
def _written(text: str) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(names(text)), _spoken(text)


@lru_cache(1 << 15)
def _all_names(text: str) -> frozenset[str]:
    return frozenset(with_ends(names(text)))


def _spoken(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _sentences(entry: Entry) -> dict[str, frozenset[str]]:
    """The sentences of a request, plainly spaced, with their longer words."""
    if not is_request(_body(entry)):
        return {}
    texts = (plain(sentence) for sentence in _SENTENCE.findall(words(entry)))
    told = {text: _spoken(text) for text in texts if _SHORTEST <= len(text) <= _LONGEST}
    return {text: spoken for text, spoken in told.items() if len(spoken) >= _WORDS}


def plain(text: str) -> str:
    """A text with single blanks."""
    return " ".join(text.split())


class Shown:
    """What of a use is in a window: its texts, each looked through once."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)

    def share(self, use: Use) -> tuple[int, int]:
        """How many of the names and sentences are there, and of how many."""
        left = set(use.names)
        for text in self._texts:
            left -= _all_names(text)
        lost = {s for s in use.sentences if not any(s in _plain(text) for text in self._texts)}
        whole = len(use.names) + len(use.sentences)
        return whole - len(left) - len(lost), whole


@lru_cache(1 << 15)
def _plain(text: str) -> str:
    return plain(text)


def _body(entry: Entry) -> Message:
    assert isinstance(entry.body, Message)
    return entry.body
