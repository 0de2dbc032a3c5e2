"""Exact counts by a local vocabulary, offline: tiktoken over vocabularies that ship with Holdfast.

The vocabularies and the patterns that go with them are tiktoken's (MIT licence), byte for byte, and
each is checked against the hash that tiktoken itself pins. Loading one takes up to a second, so it
is done when first asked for.

A long text is counted in pieces, cut only where both patterns always begin a new piece themselves,
so that the sum is the count of the whole.
"""

from __future__ import annotations

import lzma
import os
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final

from holdfast.errors import Corrupt, NotFound
from holdfast.model.window import Count, Tier

if TYPE_CHECKING:
    from tiktoken import Encoding

_CAPITALS = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_SMALL = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

PATTERNS: Final = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_CAPITALS}*{_SMALL}+{_ENDINGS}"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_CAPITALS}+{_SMALL}*{_ENDINGS}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}

HASHES: Final = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}


PIECE = 1 << 16
"""A text longer than this many characters is cut, so that no list of all its tokens is made."""

LONGEST = 1 << 17
"""A piece that offers no place to cut is cut here all the same."""

FORCED = 4
"""By how many tokens such a cut may change the count."""

CUTS: Final = re.compile(
    r"(?<=\n)(?=[^\s/])"  # a line break ends a piece unless white space or a slash goes on
    r"|(?<=[a-z])(?= [A-Za-z])"  # a word takes the blank before it along
    r"|(?<=[A-Za-z])(?=[0-9])"  # letters and digits never share a piece
    r"|(?<=[^\W\d_])(?=[,.;:?!，。；：？！、])"  # words end before a sign that is no apostrophe
)

REMEMBERED = 16_384
"""How many texts outside the log keep their counts in memory, by hash."""


WORTH_THREADS = 20_000
"""Fewer characters than this are counted sooner than threads are started."""


class ExactCounter:
    """Counts with one vocabulary; what it has counted once it knows by the hash of the text."""

    blocking: ClassVar[bool] = True

    def __init__(self, vocabulary: str) -> None:
        if vocabulary not in PATTERNS:
            raise NotFound("vocabulary", vocabulary, (), f"name one of {', '.join(PATTERNS)}")
        self.name = vocabulary
        self.tier: Tier = "exact"
        self._known: dict[bytes, int] = {}
        self._lock = Lock()

    async def count(self, texts: Sequence[str]) -> list[int]:
        keys = [sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        with self._lock:
            counts = {key: self._known[key] for key in keys if key in self._known}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in counts}
        counts.update(zip(new, count_all(list(new.values()), self.name), strict=True))
        self._remember(counts)
        return [counts[key] for key in keys]

    def _remember(self, counts: dict[bytes, int]) -> None:
        """Keep these counts as the newest, and forget the oldest where there are too many."""
        with self._lock:
            for key in counts.keys() & self._known.keys():
                del self._known[key]
            self._known.update(counts)
            for key in list(islice(self._known, max(0, len(self._known) - REMEMBERED))):
                del self._known[key]

    async def count_request(self, request: dict[str, Any], format: str) -> Count | None:
        return None  # how a provider lays out a request before counting it, it does not say

    def close(self) -> None:
        """There is nothing to let go of: the vocabulary is shared."""


def count_all(texts: Sequence[str], vocabulary: str) -> list[int]:
    """How many tokens each text takes; many at once are shared among the processors."""
    if sum(map(len, texts)) < WORTH_THREADS or max(map(len, texts)) > PIECE:
        return [count(text, vocabulary) for text in texts]
    batch = encoding(vocabulary).encode_ordinary_batch
    return [len(tokens) for tokens in batch(list(texts), num_threads=os.cpu_count() or 1)]


def count(text: str, vocabulary: str) -> int:
    """How many tokens a text takes; text that looks like a special token is only text."""
    if len(text) <= PIECE:
        return len(encoding(vocabulary).encode_ordinary(text))
    return count_stream((text,), vocabulary).tokens


def count_stream(chunks: Iterable[str], vocabulary: str) -> Count:
    """How many tokens a text of any length takes, chunk by chunk; only a piece is held."""
    encode = encoding(vocabulary).encode_ordinary
    tokens = forced = 0
    for piece, legal in pieces(chunks):
        tokens += len(encode(piece))
        forced += not legal
    return Count(tokens=tokens, tier="exact", error=forced * FORCED)


def pieces(chunks: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """A text in pieces, each with whether the cut behind it changes no count."""
    held = ""
    for chunk in chunks:
        for start in range(0, len(chunk), LONGEST):
            held += chunk[start : start + LONGEST]
            held, ready = _taken(held)
            yield from ready
    if held:
        yield held, True


def _taken(held: str) -> tuple[str, list[tuple[str, bool]]]:
    """What stays for later, and the pieces that can go now."""
    ready: list[tuple[str, bool]] = []
    start = 0
    while len(held) - start > PIECE:
        found = CUTS.search(held, start + PIECE)
        if not found and len(held) - start <= LONGEST:
            break
        end = found.start() if found else start + LONGEST
        ready.append((held[start:end], found is not None))
        start = end
    return held[start:], ready


@cache
def encoding(vocabulary: str) -> Encoding:
    """The encoding of a vocabulary that ships with Holdfast."""
    if vocabulary not in PATTERNS:
        raise NotFound("vocabulary", vocabulary, (), f"name one of {', '.join(PATTERNS)}")
    from tiktoken import Encoding

    return Encoding(
        vocabulary,
        pat_str=PATTERNS[vocabulary],
        mergeable_ranks=_ranks(vocabulary),
        special_tokens={},
    )


def _ranks(vocabulary: str) -> dict[bytes, int]:
    packed = (files("holdfast.counters") / "vocabulary" / f"{vocabulary}.tiktoken.xz").read_bytes()
    data = lzma.decompress(packed)
    if sha256(data).hexdigest() != HASHES[vocabulary]:
        raise Corrupt(f"the vocabulary {vocabulary} is damaged; install Holdfast again")
    pairs = (line.split() for line in data.splitlines())
    return {b64decode(token): int(rank) for token, rank in pairs}
