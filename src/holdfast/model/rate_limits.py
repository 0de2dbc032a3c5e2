"""How much a provider still takes, as its answers say: limits, and what is left of each."""

from __future__ import annotations

from msgspec import Struct

LOW = 0.2
"""Less than this share left is worth a word."""


class Limit(Struct, frozen=True, kw_only=True):
    """One limit of an account, counted by the minute or as its provider counts it."""

    kind: str
    """`requests`, `tokens`, `input_tokens`, `output_tokens`, `project_tokens`…"""
    limit: int
    remaining: int
    reset: int | None = None
    """When it is whole again, in milliseconds since 1970; None where nobody says."""

    @property
    def share(self) -> float:
        """What is left of it, between 0 and 1."""
        return min(max(self.remaining / self.limit, 0.0), 1.0) if self.limit else 0.0


class Limits(Struct, frozen=True, kw_only=True):
    """What one answer says of all limits of an account."""

    provider: str
    at: int
    """When it said so, in milliseconds since 1970."""
    limits: tuple[Limit, ...]

    @property
    def tightest(self) -> Limit:
        """The one that will stop us first."""
        return min(self.limits, key=lambda one: one.share)

    def headroom(self, now: int) -> Limit | None:
        """The tightest of those that have not been reset since; None where all have."""
        left = [one for one in self.limits if one.reset is None or one.reset > now]
        return min(left, key=lambda one: one.share) if left else None
