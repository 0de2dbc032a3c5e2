"""What a call costs: its four buckets at the price that holds for its size.

Rule 1: where a call took several samplings, each is paid at the price of its own prompt's size and
        of its own model; their sum would fall into a dearer tier than any of them did.
Rule 2: fractions are rounded once, for the whole call.
Rule 3: a way of serving that costs more or less (fast, priority, flex, batch) is priced by what its
        model's profile says of it; where that says nothing, the cost is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import asdict

from holdfast.model.profile import Profile
from holdfast.model.reply import Iteration, Usage
from holdfast.model.spending import Caps, Of, Reached

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


NANO = 1_000_000_000


def reached(
    caps: Caps, spent: Mapping[Of, int], price: int, held: Mapping[Of, int] | None = None
) -> Reached | None:
    """The first cap that a call of this price would reach; None where it may be made."""
    each: tuple[tuple[Of, float | None], ...] = (("session", caps.session), ("day", caps.day))
    for of, dollars in each:
        if dollars is None:
            continue
        cap, gone, kept = round(dollars * NANO), spent.get(of, 0), (held or {}).get(of, 0)
        if gone + kept + price >= cap:
            return Reached(of=of, cap=cap, spent=gone, held=kept, price=price)
    return None


def dearest(profile: Profile, prompt: int, output: int = 0) -> int | None:
    """What a call may cost at most, with nothing read from a cache; None without a price."""
    price = profile.price(prompt)
    if price is None:
        return None
    each = max(price.input, price.cache_write)
    return -(-(prompt * each + output * price.output) // MILLION)
