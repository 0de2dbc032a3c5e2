"""What may be spent: a cap for one session, and one for a calendar day over all of them."""

from __future__ import annotations

from math import isfinite
from typing import Literal

from msgspec import Struct

from holdfast.errors import InvalidRequest

Of = Literal["session", "day"]


class Caps(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """In US dollars; None for no cap."""

    session: float | None = None
    day: float | None = None

    def __post_init__(self) -> None:
        for dollars in (self.session, self.day):
            if dollars is not None and not isfinite(dollars):
                raise InvalidRequest(
                    "a cap is a finite number of US dollars; leave it out for none"
                )


class Reached(Struct, frozen=True, kw_only=True):
    """A cap that the next call would reach; money in billionths of a US dollar."""

    of: Of
    cap: int
    spent: int
    """What has been spent."""
    held: int = 0
    """What is held for calls under way."""
    price: int
    """What the next call is estimated at."""
