"""Held costs: what calls under way may cost, so that two of them do not both take what is left.

A call is held at its estimate until its row is written. What another process has under way is not
known until then.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


class HeldCosts:
    """The estimates of calls under way, by session; one object for all that one engine has open."""

    def __init__(self) -> None:
        self._held: list[tuple[str, int]] = []
        self.told: set[str] = set()
        """Models without a price that a warning was given for."""

    @contextmanager
    def holding(self, session: str, price: int) -> Generator[None]:
        """Hold what a call may cost while it is under way."""
        one = (session, price)
        self._held.append(one)
        try:
            yield
        finally:
            self._held.remove(one)

    def of(self, session: str = "") -> int:
        """What is held for a session, or for all."""
        return sum(price for name, price in tuple(self._held) if not session or name == session)
