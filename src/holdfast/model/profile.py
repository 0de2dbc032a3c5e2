"""What one model can do: its limits, prices and abilities, as data.

Prices are whole billionths of a US dollar for a million tokens, so that a cost is exact until it is
rounded once, for a whole call.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Ability = Literal[
    "server_compaction",
    "context_editing",
    "cache_breakpoints",
    "cache_key",
    "thinking",
    "budget_awareness",
    "images",
    "documents",
    "tools",
    "prefill",
    "token_counting",
    "system_messages",
]


class Price(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a million tokens cost in each bucket, in billionths of a US dollar."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_long: int = 0
    above: int = 0
    """The price holds for prompts of more tokens than this; 0 for any."""


class Pictures(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How a model counts a picture; core/tokens/media.py holds the formulas."""

    way: Literal["patches", "tiles", "crops", "fixed"] = "patches"
    side: int = 28
    """How many pixels a side of a patch has."""
    pixels: int = 0
    """A token for so many pixels, where that makes more than patches do; 0: patches only."""
    most: int = 4_784
    """Patches at most: a larger picture is scaled down first; with `fixed`, what each one takes."""
    edge: int = 0
    """The longest side it is scaled down to before anything else; 0: no such limit."""
    scale: float = 1.0
    """Tokens for each patch."""
    base: int = 0
    each: int = 0
    """Tokens for every picture, and for each of its tiles."""


class Profile(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One model, as far as managing its context needs to know it."""

    name: str
    provider: str = ""
    window: int = 128_000
    """Everything it can hold, the reply included."""
    input_limit: int = 0
    """What a prompt may have at most, where that is less than the window; 0: no such limit."""
    output_limit: int = 4_096
    auto_compact_limit: int = 0
    """The tokens at which its conversations are summarised at the latest; 0: as the policy says."""
    tokenizer: str = ""
    """The local vocabulary that counts for it exactly; empty where there is none."""
    ratio: float = 1.0
    """How many tokens it makes where o200k_base makes one, as far as is known beforehand."""
    pictures: Pictures = Pictures()
    reminder: Literal["system", "user"] = "system"
    """Who says a reminder to it, where a policy leaves that to the model."""
    page_tokens: int = 3_000
    """What a page of a document takes at most, as a rule."""
    prices: tuple[Price, ...] = ()
    """By prompt size, smallest first; empty where no price is known."""
    tiers: dict[str, int] = {}
    """What other ways of serving cost, in per cent of these prices: `fast = 200` is twice as much.
    A tier that is not named here has no known price."""
    price_version: str = ""
    abilities: frozenset[Ability] = frozenset()
    cache_seconds: int = 300
    """How long what it has cached stays cached when nobody asks again."""
    cache_minimum: int = 1_024
    """The shortest prefix that is cached at all."""
    request_bytes: int = 0
    """How large a request may be; 0: no such limit is known."""
    most_images: int = 0
    most_tools: int = 0
    assumed: tuple[str, ...] = ()
    """Fields that nobody has told us; safe values stand in for them."""

    def can(self, ability: Ability) -> bool:
        """Whether the model has an ability."""
        return ability in self.abilities

    def price(self, prompt: int) -> Price | None:
        """The price that holds for a prompt of this size."""
        fitting = [price for price in self.prices if prompt > price.above or not price.above]
        return fitting[-1] if fitting else None

    def percent(self, tier: str) -> int | None:
        """What a tier costs in per cent of the usual price; None where nobody has told it."""
        return self.tiers.get(tier) if tier else 100
