"""What may be spent: a cap for one session, and one for a calendar day over all of them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Of = Literal["session", "day"]


class Caps(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """In US dollars; None for no cap."""

    session: float | None = None
    day: float | None = None


class Reached(Struct, frozen=True, kw_only=True):
    """A cap that the next call would reach; money in billionths of a US dollar."""

    of: Of
    cap: int
    spent: int
    """What has been spent, and is held for calls under way."""
    price: int
    """What the next call is estimated at."""
