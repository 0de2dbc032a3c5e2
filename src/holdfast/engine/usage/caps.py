"""The caps of an open session: what has been spent against them, over all processes.

Calls that are under way are held at their estimate, so that work beside a turn and the turn itself
do not both take what is left. What another process has under way is not known until it is recorded.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.core.calls.price import dearest, reached
from holdfast.engine.usage.costs import midnight
from holdfast.errors import Capped, UnpricedModel
from holdfast.model.profile import Profile
from holdfast.model.spending import Caps, Of, Reached

if TYPE_CHECKING:
    from holdfast.engine.session import AsyncSession


class Held:
    """What is held for calls under way, by session; one for all that one program has open."""

    def __init__(self) -> None:
        self._held: list[tuple[str, int]] = []
        self.told: set[str] = set()
        """Models whose price nobody knows, of which that was said."""

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


async def check(session: AsyncSession, profile: Profile, prompt: int, own: int = 0) -> None:
    """Capped where the next turn would reach a cap; nothing was sent then.

    `own` is what is held for it already.
    """
    found = await _reached(session, session.caps, dearest(profile, prompt), profile, own)
    if found:
        raise Capped(found.of, cap=found.cap, spent=found.spent, held=found.held, price=found.price)


async def why_not(session: AsyncSession, profile: Profile, prompt: int, output: int) -> str:
    """Why no call is made beside the turns, in words; empty where one may be."""
    price = dearest(profile, prompt, output)
    found = await _reached(session, session.caps, price, profile)
    if found is None:
        return ""
    return f"it could cost {found.price / 1e9:.4f} USD more, beyond the cap of the {found.of}"


async def _reached(
    session: AsyncSession, caps: Caps, price: int | None, profile: Profile, own: int = 0
) -> Reached | None:
    if caps == Caps():
        return None
    if price is None:
        _tell_unpriced(session.held, profile)
        return None
    spent, held = dict[Of, int](), dict[Of, int]()
    calls, whole = session.store.calls, session.whole()
    if caps.session is not None:
        held["session"] = session.held.of(whole) - own
        spent["session"] = (await calls.spent(whole))[0].cost
    if caps.day is not None:
        begun = midnight(session.now())
        held["day"] = session.held.of() - own
        spent["day"] = (await calls.spent(since=begun))[0].cost
    return reached(caps, spent, price, held)


def _tell_unpriced(held: Held, profile: Profile) -> None:
    """Say once of a model that no cap can hold for it."""
    if profile.name in held.told:
        return
    held.told.add(profile.name)
    warnings.warn(
        f"no price is known of the model {profile.name!r}: what its calls cost does not count "
        "towards any cap",
        UnpricedModel,
        stacklevel=2,
    )
