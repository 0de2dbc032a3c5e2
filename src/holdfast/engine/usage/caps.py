"""Caps: whether the next call would cost more than an open session, or the day, may spend."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from holdfast.core.calls.price import dearest, reached
from holdfast.engine.usage.costs import midnight
from holdfast.engine.usage.held_costs import HeldCosts
from holdfast.errors import Capped, UnpricedModel
from holdfast.model.profile import Profile
from holdfast.model.spending import Caps, Of, Reached

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext


NO_CAPS = Caps()


async def check(session: SessionContext, profile: Profile, prompt: int, own: int = 0) -> None:
    """Capped where the next turn would reach a cap; nothing was sent then.

    `own` is what is held for it already.
    """
    found = await _reached(session, session.caps, dearest(profile, prompt), profile, own)
    if found:
        raise Capped(found.of, cap=found.cap, spent=found.spent, held=found.held, price=found.price)


async def why_not(session: SessionContext, profile: Profile, prompt: int, output: int) -> str:
    """Why no call is made beside the turns, in words; empty where one may be."""
    price = dearest(profile, prompt, output)
    found = await _reached(session, session.caps, price, profile)
    if found is None:
        return ""
    return f"it could cost {found.price / 1e9:.4f} USD more, beyond the cap of the {found.of}"


async def _reached(
    session: SessionContext, caps: Caps, price: int | None, profile: Profile, own: int = 0
) -> Reached | None:
    if caps == NO_CAPS:
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


def _tell_unpriced(held: HeldCosts, profile: Profile) -> None:
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
