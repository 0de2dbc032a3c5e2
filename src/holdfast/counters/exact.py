"""Exact counts by a local vocabulary, offline: tiktoken over vocabularies that ship with Holdfast.

The vocabularies and the patterns that go with them are tiktoken's (MIT licence), byte for byte; each
is checked against the hash that tiktoken itself pins. Loading one takes up to a second, so it is
done when first asked for.
"""

from __future__ import annotations

import lzma
from base64 import b64decode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from holdfast.errors import Corrupt, Unknown

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


def count(text: str, vocabulary: str) -> int:
    """How many tokens a text takes; text that looks like a special token is only text."""
    return len(encoding(vocabulary).encode_ordinary(text))


@cache
def encoding(vocabulary: str) -> Encoding:
    """The encoding of a vocabulary that ships with Holdfast."""
    if vocabulary not in PATTERNS:
        raise Unknown("vocabulary", vocabulary, (), f"(there are {', '.join(PATTERNS)})")
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
