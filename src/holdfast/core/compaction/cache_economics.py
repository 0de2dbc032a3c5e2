"""Whether breaking what a provider has cached pays: tokens saved on every turn that is left.

Rule 1: what stands before the change stays cached; what stands behind it is written anew, once.
Rule 2: a cold cache is written anew in any case, so that breaking it costs nothing more.
Rule 3: without prices the decision is by tokens, at the usual ratio of reading to writing a cache.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from holdfast.core.calls.price import MILLION
from holdfast.model.decision import Decision
from holdfast.model.policy import KeepWarm
from holdfast.model.profile import Price, Profile

TOKENS: Final = Price(input=1_000_000, output=5_000_000, cache_read=100_000, cache_write=1_250_000)
"""Where no price is known: in thousandths of a fresh token, as most providers relate them."""


class Change(Struct, frozen=True, kw_only=True):
    """What a compaction would do to the window."""

    prompt: int
    """Tokens of the window now."""
    before: int
    """Tokens that stand before the first change: they stay cached."""
    saved: int
    """Tokens that leave."""
    written: int = 0
    """Tokens a summary adds."""
    asked: int = 0
    """Tokens a summariser reads, at the price of fresh input; 0 where none is asked."""
    prose: int = 0
    """Tokens it writes: the rest of a summary is laid beside it by code."""


def decide(
    change: Change, profile: Profile, *, turns: int, cold: bool, asking: Profile | None = None
) -> Decision:
    """Whether a compaction pays, and the numbers that say so; `asking` writes its summary."""
    price = profile.price(change.prompt) or TOKENS
    cached = caches(price)
    read = price.cache_read if cached else price.input
    write = (price.cache_write or price.input) if cached else price.input
    net = change.saved - change.written
    rest = max(change.prompt - change.before - change.saved, 0)
    fresh = rest + change.written
    extra = 0 if cold or not cached else fresh * (write - read)
    spared = net * (write - read) if cold and cached else 0  # it need not be written once more
    theirs = (asking.price(change.asked) if asking else None) or price
    asked = change.asked * theirs.input + change.prose * theirs.output
    gain = net * read * turns + spared
    paid = extra + (asked if change.asked else 0)
    return Decision(
        saved=net,
        turns=turns,
        rewritten=0 if cold else fresh,
        gain=gain // MILLION,
        price=paid // MILLION,
        cold=cold,
        pays=gain > paid and net > 0,
        because=_because(gain, paid, cold, cached),
    )


def caches(price: Price) -> bool:
    """Whether reading what was sent before is cheaper than sending it afresh."""
    return 0 < price.cache_read < price.input


def is_cold(idle: int | None, profile: Profile) -> bool:
    """Whether what was cached has run out, so many milliseconds after the last reply."""
    return idle is not None and idle > profile.cache_seconds * 1_000


def _because(gain: int, paid: int, cold: bool, cached: bool) -> str:
    if not cached:
        return "nothing is cached, so every token that leaves is saved on every turn"
    if cold:
        return "the cache has run out, so that it is written anew in any case"
    return "it saves more than it costs" if gain > paid else "it costs more than it saves so far"


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
