"""Whether a call may be made: what was spent, and what it is estimated at, against the caps.

Rule 1: a call is not made where what was spent, what is held for calls under way and its estimate
        reach a cap together.
Rule 2: a turn is estimated by its prompt, all of it at the price of sending it afresh: nobody knows
        how long a reply will be. So the caps hold but for the output of the turns under way.
Rule 3: work beside the turns is estimated with the longest reply it may have: it never crosses one.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.core.price import MILLION
from holdfast.model.caps import Caps, Of, Reached
from holdfast.model.profile import Profile

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
