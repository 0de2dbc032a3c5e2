"""A provider as its bill sees it: what of a request it has cached, and what the rest costs.

Rule 1: a request is a row of blocks, tools first, then system, then what was said; a cache ends
        behind a breakpoint and holds everything up to there.
Rule 2: of what is alive, the longest beginning counts that ends at most 20 blocks before a
        breakpoint; what stands behind it, up to the last breakpoint, is written; the rest is fresh.
Rule 3: each use keeps it alive for as long as the profile says; what is too short is not cached.
Rule 4: a token is one of o200k_base, times what the profile knows of its model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from holdfast.counters.exact import ExactCounter
from holdfast.engine.bridge import drive
from holdfast.model.profile import Profile
from holdfast.model.reply import Usage

LOOKBACK = 20
FRAME = 4
"""What stands around a block, in tokens."""

_JSON = msgspec.json.Encoder(order="deterministic")


class Piece(msgspec.Struct, frozen=True):
    """One block of a request: what it is known by, what it takes, whether a cache ends here."""

    key: bytes
    tokens: int
    ends: bool


class Tokens:
    """Counts blocks, each once."""

    def __init__(self) -> None:
        self._counter = ExactCounter("o200k_base")
        self._known: dict[bytes, int] = {}

    def of(self, text: str) -> int:
        """What a text takes."""
        return drive(self._counter.count([text]))[0]

    def block(self, key: bytes, block: Mapping[str, Any]) -> int:
        """What a block takes."""
        if key not in self._known:
            self._known[key] = FRAME + self.of("\n".join(_words(block)))
        return self._known[key]


def _words(block: Any) -> Iterator[str]:
    if isinstance(block, str):
        yield block
    elif isinstance(block, Mapping):
        if "input" in block or "input_schema" in block:
            yield _JSON.encode({k: v for k, v in block.items() if k != "id"}).decode()
        else:
            for name in ("text", "content", "thinking"):
                yield from _words(block.get(name))
    elif isinstance(block, Sequence):
        for inner in block:
            yield from _words(inner)


class Cache:
    """What one provider holds of one session, and what its next request is charged."""

    def __init__(self, profile: Profile, tokens: Tokens) -> None:
        self._profile = profile
        self._tokens = tokens
        self._alive: dict[bytes, int] = {}
        """Until when each beginning is held, in milliseconds, by what it is known by."""

    def charge(self, request: Mapping[str, Any], now: int, output: int) -> Usage:
        """The four buckets of a request that is sent now, and what it leaves cached."""
        names, sums, ends = self._sums(request)
        whole = sums[-1] if sums else 0
        read = max((sums[at] for at in self._found(names, ends, now)), default=0)
        last = max((sums[at] for at in ends), default=0)
        written = max(last - read, 0) if last >= self._least else 0
        until = now + self._profile.cache_seconds * 1_000
        for at in ends:
            if sums[at] >= self._least:
                self._alive[names[at]] = until
        fresh = whole - read - written
        return Usage(input=fresh, cache_read=read, cache_write=written, output=output)

    def peek(self, request: Mapping[str, Any], now: int, output: int) -> Usage:
        """A request that leaves nothing cached, and reads what it shares with another."""
        names, sums, _ = self._sums(request)
        alive = (at for at, name in enumerate(names) if self._alive.get(name, 0) > now)
        read = max((sums[at] for at in alive), default=0)
        return Usage(input=(sums[-1] if sums else 0) - read, cache_read=read, output=output)

    @property
    def _least(self) -> int:
        return self._profile.cache_minimum

    def _found(self, names: Sequence[bytes], ends: Sequence[int], now: int) -> Iterator[int]:
        for end in ends:
            for at in range(end, max(end - LOOKBACK, -1), -1):
                if self._alive.get(names[at], 0) > now:
                    yield at
                    break

    def _sums(self, request: Mapping[str, Any]) -> tuple[list[bytes], list[int], list[int]]:
        """What each beginning of a request is known by and takes; and where a cache may end."""
        names: list[bytes] = []
        sums: list[int] = []
        ends: list[int] = []
        name, taken = b"", 0.0
        for at, piece in enumerate(pieces(request, self._tokens)):
            name = blake2b(name + piece.key, digest_size=16).digest()
            taken += piece.tokens * self._profile.ratio
            names.append(name)
            sums.append(round(taken))
            if piece.ends:
                ends.append(at)
        return names, sums, ends


def pieces(request: Mapping[str, Any], tokens: Tokens) -> Iterator[Piece]:
    """The blocks of a request in the order in which a provider caches them."""
    rows: list[tuple[str, Sequence[Any]]] = [
        ("tool", request.get("tools") or ()),
        ("system", _listed(request.get("system") or ())),
        *((said["role"], _listed(said["content"])) for said in request["messages"]),
    ]
    for role, blocks in rows:
        for block in blocks:
            bare = {name: value for name, value in block.items() if name != "cache_control"}
            key = blake2b(role.encode() + _JSON.encode(bare), digest_size=16).digest()
            yield Piece(key, tokens.block(key, bare), "cache_control" in block)


def _listed(content: Any) -> Sequence[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
