"""How fast money and tokens go in a block of five hours, and what the one that runs comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.cli.ui.format import clock, moment, now, rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.engine.usage.costs import Costs

HOUR = 3_600_000
MINUTE = 60_000


def _lasted(one: Costs) -> int:
    """From the first call to the end of the last quarter of an hour, or to now, in ms."""
    return max(min(one.ended, now()) - one.begun, MINUTE)


def unknown(one: Costs) -> bool:
    """Whether no price is known of any of its calls."""
    return bool(one.unpriced) and one.unpriced >= one.calls


def hourly(one: Costs) -> str:
    """What an hour has cost, starred where some prices are unknown."""
    if unknown(one):
        return "unknown*"
    return f"{usd_per_hour(one):.2f}{'*' if one.unpriced else ''}"


def usd_per_hour(one: Costs) -> float:
    """What an hour of its calls has cost."""
    return one.cost / 1e9 * HOUR / _lasted(one)


def tokens_per_minute(one: Costs) -> int:
    """How many tokens went in a minute, cached ones too."""
    return round(one.usage.total * MINUTE / _lasted(one))


def ends(one: Costs) -> int:
    """When a block ends, in ms."""
    from holdfast.engine.usage.periods import BLOCK, HOUR

    return one.begun - one.begun % HOUR + BLOCK


def projected(one: Costs) -> float:
    """What a block that runs comes to at its rate, in dollars; what it was, where it is over."""
    left = max(ends(one) - now(), 0)
    return one.cost / 1e9 + usd_per_hour(one) * left / HOUR


def rates(one: Costs) -> dict[str, Any]:
    """A block's rate as JSON."""
    return {
        "begun": moment(one.begun),
        "ends": moment(ends(one)),
        "running": now() < ends(one),
        "usd_per_hour": None if unknown(one) else round(usd_per_hour(one), 6),
        "tokens_per_minute": tokens_per_minute(one),
        "projected_usd": None if unknown(one) else round(projected(one), 6),
    }


def running(found: Sequence[Costs]) -> str:
    """The block that runs now, in words; empty where none does."""
    if not found or now() >= ends(found[-1]):
        return ""
    last = found[-1]
    speed, over = f"{rounded(tokens_per_minute(last))} tokens a minute", clock(ends(last))
    if unknown(last):
        return f"The block that runs ends at {over}, at {speed}; no price is known of its calls."
    star = "*" if last.unpriced else ""
    return (
        f"The block that runs ends at {over}; at {speed}, ${usd_per_hour(last):.2f}{star} an hour "
        f"it comes to ${projected(last):.2f}{star}."
    )
