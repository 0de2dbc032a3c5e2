"""Whether what a provider has cached is to be read once more, shortly before it runs out.

Rule 1: only where reading keeps a cache alive, its price is known, and the prefix is long enough.
Rule 2: it pays while all the reading costs less than writing it anew, times the chance that
        somebody comes back while it is warm.
Rule 3: at most so often in a row as the policy says; a cache that has run out is left to be cold.
"""

from __future__ import annotations

from holdfast.core.cache import caches
from holdfast.model.policy import KeepWarm
from holdfast.model.profile import Profile


def warm_in(
    rule: KeepWarm | None, profile: Profile, *, prompt: int, idle: int, made: int
) -> int | None:
    """In how many ms to read it once more, `idle` ms after it was used; None where not at all.

    `prompt` is what is cached, in tokens, and `made` how often it was kept warm since the last
    reply.
    """
    price = profile.price(prompt)
    if rule is None or price is None or not profile.can("cache_breakpoints"):
        return None
    lives = profile.cache_seconds * 1_000
    if prompt < profile.cache_minimum or made >= rule.most or not 0 <= idle < lives:
        return None
    saved = ((price.cache_write or price.input) - price.cache_read) * rule.chance
    if not caches(price) or (made + 1) * price.cache_read >= saved:
        return None
    return max(lives - rule.before * 1_000 - idle, 0)
