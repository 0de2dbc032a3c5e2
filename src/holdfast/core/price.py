"""What a call costs: its four buckets at the price that holds for its size."""

from __future__ import annotations

from holdfast.model.profile import Profile
from holdfast.model.reply import Usage

MILLION = 1_000_000


def cost(usage: Usage, profile: Profile) -> int | None:
    """In billionths of a US dollar, rounded once; None where no price is known."""
    price = profile.price(usage.prompt)
    if price is None:
        return None
    short = usage.cache_write - usage.cache_write_long
    long_price = price.cache_write_long or price.cache_write
    whole = (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + short * price.cache_write
        + usage.cache_write_long * long_price
    )
    return (whole + MILLION // 2) // MILLION


def dollars(nano: int | None) -> float:
    """Billionths of a dollar as dollars, for display."""
    return (nano or 0) / 1_000_000_000
