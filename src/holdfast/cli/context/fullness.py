"""How full a window is, in the same words everywhere; see core/window/occupancy.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from holdfast.cli.ui.format import number

if TYPE_CHECKING:
    from holdfast.engine.inspect.explain import Explained
    from holdfast.model.reply import Call

SOURCES = {
    "recorded": "as {} recorded",
    "program": "as much of it as {} uses",
    "model": "as its model holds",
    "assumed": "assumed, since nobody knows its model's",
}
"""How it is known what a window holds."""


def percent(tokens: int, window: int) -> str:
    """A share of a window; in words where nobody knows what it holds."""
    if window <= 0:
        return "share unknown"
    if tokens > window:
        return f"{max(tokens / window, 1.01):.0%}, over it"
    return "<1%" if 0 < tokens / window < 0.005 else f"{tokens / window:.0%}"


def of_window(tokens: int, window: int) -> str:
    """How much of a window some tokens take."""
    if window <= 0:
        return f"{number(tokens)} tokens of a window of unknown size"
    return f"{number(tokens)} of {number(window)} tokens ({percent(tokens, window)})"


def change(before: int, after: int, window: int) -> str:
    """What a prompt took, and takes now; a size that nobody told is unknown, not nothing."""
    if not before and not after:
        return "the prompt's size is unknown"
    told = [number(one) if one else "unknown" for one in (before, after)]
    shares = [percent(one, window) for one in (before, after) if one] if window > 0 else []
    whole = f" of the window of {number(window)}" if shares else ""
    share = f" ({' → '.join(shares)})" if shares else ""
    return f"{' → '.join(told)} tokens{whole}{share}"


def remarks(told: Explained) -> Iterator[str]:
    """What is to be known about these numbers: whose they are, and what they leave out."""
    if told.program and told.beside is not None:
        yield (
            f"Of that, about {number(told.beside)} are what {told.program} sent besides the "
            "messages: its system prompt and tools, of which only the size was recorded, and what "
            "the estimate of the messages is off by."
        )
    elif told.program and told.sent:
        yield (
            f"{told.program} recorded less than its messages are estimated at, so the estimate was "
            "corrected; what its system prompt and tools took is unknown."
        )
    elif told.program:
        yield (
            f"{told.program} recorded no size of this prompt: what its system prompt and tools "
            "took is unknown, and is not in this number."
        )
    if told.sent:
        which = "It" if told.call else "The newest call"
        yield f"{which} was sent {number(told.sent)}, its reply not included."
    if told.call and told.program:
        yield _used(told.call)
    if told.window:
        source = SOURCES[told.source].format(told.program)
        yield (
            f"The window holds {number(told.window)}, {source}; a prompt may take "
            f"{number(told.room)} of it, and the rest is kept for the reply."
        )


def _used(call: Call) -> str:
    """What a call that another program made has used and cost."""
    from holdfast.cli.ui.format import money

    usage = call.last
    cost = "an unknown amount" if call.cost is None else money(call.cost)
    return (
        f"Of its prompt {number(usage.input)} were fresh, {number(usage.cache_read)} read from a "
        f"cache and {number(usage.cache_write)} written to it; its reply took "
        f"{number(usage.output)}, and it cost {cost}."
    )
