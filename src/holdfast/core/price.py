"""What a call costs: its four buckets at the price that holds for its size.

Rule 1: where a call took several samplings, each is paid at the price of its own prompt's size and
        of its own model; their sum would fall into a dearer tier than any of them did.
Rule 2: fractions are rounded once, for the whole call.
Rule 3: a way of serving that costs more or less (fast, priority, flex, batch) is priced by what its
        model's profile says of it; where that says nothing, the cost is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import asdict

from holdfast.model.profile import Profile
from holdfast.model.reply import Iteration, Usage

MILLION = 1_000_000

PERCENT = 100
"""Tiers are told in per cent."""


def cost(
    usage: Usage,
    profile: Profile,
    iterations: Sequence[Iteration] = (),
    known: Callable[[str], Profile] | None = None,
) -> int | None:
    """In billionths of a US dollar, rounded once; None where no price is known."""
    each = iterations or (Iteration(**asdict(usage)),)
    whole = 0
    for one in each:
        exact = _exact(one, known(one.model) if one.model and known else profile)
        if exact is None:
            return None
        whole += exact
    return (whole + MILLION * PERCENT // 2) // (MILLION * PERCENT)


def _exact(usage: Usage, profile: Profile) -> int | None:
    """Exactly, in hundredths of a millionth of what is kept."""
    price, percent = profile.price(usage.prompt), profile.percent(usage.tier)
    if price is None or percent is None:
        return None
    short = usage.cache_write - usage.cache_write_long
    long_price = price.cache_write_long or price.cache_write
    usual = (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + short * price.cache_write
        + usage.cache_write_long * long_price
    )
    return usual * percent


def dollars(nano: int | None) -> float:
    """Billionths of a dollar as dollars, for display."""
    return (nano or 0) / 1_000_000_000
