"""What is known of a model inside one session: its profile, and what its refusals have taught."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.core.calls.refusals import limited
from holdfast.engine.loading import standing_repairs
from holdfast.model.log import Entry, Repair
from holdfast.model.profile import Profile
from holdfast.model.view import View

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext


async def profile_at(session: SessionContext, model: str, view: View) -> Profile:
    """A model's profile as it stood at a view: what was refused before limits it."""
    known = session.catalogue.profile(model)
    return limited(known, bodies(await standing_repairs(session.store.log, view)))


def bodies(entries: Sequence[Entry]) -> list[Repair]:
    """What some entries repair."""
    return [entry.body for entry in entries if isinstance(entry.body, Repair)]
