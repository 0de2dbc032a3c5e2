"""How many tokens a file takes for a model: text as it streams by, pictures, documents."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import chain

from msgspec import Struct

from holdfast.core.tokens.calibrate import calibrated, counted
from holdfast.core.tokens.estimate import estimate, estimate_bytes
from holdfast.core.tokens.media import media_tokens
from holdfast.engine.bridge import drive
from holdfast.engine.plugins import count_stream, endpoint
from holdfast.engine.plugins import counter as vocabulary_counter
from holdfast.errors import InvalidRequest
from holdfast.model.image_header import media_type
from holdfast.model.message import Media
from holdfast.model.profile import Profile
from holdfast.model.window import Count, Tier

DEFAULT = "o200k_base"
"""The vocabulary that is used where no model is named."""

ASKED_AT_MOST = 32 * 1024 * 1024
"""No provider takes a larger request."""

BINARY = 8 * 1024
"""How much of a file is looked at to see whether it is text."""


class Measured(Struct, frozen=True, kw_only=True):
    """A count, and what was counted."""

    count: Count
    bytes: int
    kind: str
    """text, picture or document."""


class Sized:
    """Chunks that go by, and how many bytes have."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.bytes += len(chunk)
            yield chunk


def measure(chunks: Iterable[bytes], profile: Profile, tier: Tier) -> Measured:
    """Count what streams by; only a piece of it is held, unless a provider is asked."""
    stream = iter(chunks)
    first = next(stream, b"")
    sized = Sized(chain((first,), stream))
    if kind := _media(first):
        data = b"".join(sized)
        tokens = media_tokens(Media(kind, data), profile.pictures, profile.page_tokens)
        what = "document" if kind == "application/pdf" else "picture"
        return Measured(count=counted(tokens, "estimate", tokens), bytes=sized.bytes, kind=what)
    if b"\0" in first[:BINARY]:
        raise InvalidRequest("this is no text: it holds NUL bytes; count text, a picture or a PDF")
    count = _text(sized, profile, tier)
    return Measured(count=count, bytes=sized.bytes, kind="text")


def _media(first: bytes) -> str | None:
    return "application/pdf" if first.startswith(b"%PDF-") else media_type(first)


def _text(chunks: Sized, profile: Profile, tier: Tier) -> Count:
    if tier == "estimate":
        return calibrated(sum(map(estimate_bytes, chunks)), profile.ratio)
    if tier == "exact":
        return count_stream(decoded(chunks), vocabulary(profile))
    return _asked(chunks, profile)


def vocabulary(profile: Profile) -> str:
    """The vocabulary that counts exactly for a model; with no model, the newest public one."""
    if profile.name and not profile.tokenizer:
        raise InvalidRequest(
            f"no vocabulary of {profile.name} is public, so nothing here counts exactly for it; "
            "say --tier estimate or --tier provider"
        )
    return profile.tokenizer or DEFAULT


def at_most(profile: Profile) -> Callable[[str], int]:
    """What says how many tokens a text takes: exactly, or by our estimate where that is more."""
    counter = vocabulary_counter(profile.tokenizer or DEFAULT)
    return lambda text: max(drive(counter.count([text]))[0], estimate(text))


def _asked(chunks: Iterable[bytes], profile: Profile) -> Count:
    held = bytearray()
    for chunk in chunks:
        held += chunk
        if len(held) > ASKED_AT_MOST:
            raise InvalidRequest("no provider takes more than 32 MB at once; say --tier estimate")
    with closing(endpoint(profile.provider, profile.name)) as counter:
        (tokens,) = drive(counter.count([held.decode("utf-8", "replace")]))
    return Count(tokens=tokens, tier="provider")


def decoded(chunks: Iterable[bytes]) -> Iterator[str]:
    """Bytes as text, however the characters are split among them."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for chunk in chunks:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", True)
