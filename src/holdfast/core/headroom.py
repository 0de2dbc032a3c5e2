"""What is left of a provider's limits, in words for a status line and for whoever asks."""

from __future__ import annotations

from holdfast.model.limits import LOW, Limit, Limits


def warning(limits: Limits | None, now: int) -> str:
    """A few words where little is left of a limit; empty where there is no need for any."""
    left = limits.headroom(now) if limits else None
    if left is None or left.share >= LOW:
        return ""
    until = f", {_seconds(left.reset, now):,} s" if left.reset is not None else ""
    return f"{left.kind.replace('_', ' ')} {left.share:.0%} left{until}"


def told(limits: Limits | None, rate: int, now: int) -> str:
    """The pace, and what is left of each limit."""
    pace = f"{rate:,} tokens in the last minute"
    if limits is None:
        return f"{pace}; the provider says nothing of limits"
    return " · ".join([pace, *(_words(one, now) for one in limits.limits)])


def _words(left: Limit, now: int) -> str:
    if left.reset is not None and left.reset <= now:
        return f"{left.kind.replace('_', ' ')}: all of {left.limit:,} again"
    until = f", whole in {_seconds(left.reset, now):,} s" if left.reset is not None else ""
    return f"{left.kind.replace('_', ' ')}: {left.share:.0%} of {left.limit:,} left{until}"


def _seconds(reset: int, now: int) -> int:
    return -(-(reset - now) // 1000)
