"""Why a compaction was made, or was not yet: the numbers it was decided by."""

from __future__ import annotations

from msgspec import Struct


class Decision(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Tokens saved on every turn that is left, against writing the cached prefix anew."""

    saved: int
    """Tokens that leave the window."""
    turns: int
    """How many more calls are expected to be spared them."""
    rewritten: int
    """Tokens behind the change, which a provider has cached and would have to cache again."""
    gain: int
    """What is saved over those turns, in billionths of a US dollar; of tokens without a price."""
    price: int
    """What it costs, in the same: writing the rest anew, and the summary itself."""
    cold: bool = False
    """Whether what was cached has run out, so that it is written anew in any case."""
    pays: bool = False
    because: str = ""
    """In words: what decided."""
