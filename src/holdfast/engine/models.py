"""Which models there are to talk to, and which of them a name that nobody knows may mean."""

from __future__ import annotations

from holdfast.core.nearest import nearest_models
from holdfast.model.profile import Profile
from holdfast.ports import Catalogue


def talks(profile: Profile) -> bool:
    """Whether a model is one to talk to: no embeddings, no pictures, no sound."""
    told = is_known(profile) and "tools" in profile.abilities
    return told and any(price.output for price in profile.prices)


def is_known(profile: Profile) -> bool:
    """Whether anybody has told how much a model holds."""
    return "window" not in profile.assumed


def meant(catalogue: Catalogue, profile: Profile) -> tuple[str, ...]:
    """The models most like one that nobody knows; none for one that is known."""
    if is_known(profile):
        return ()
    own = (one.name for one in map(catalogue.profile, catalogue.models()) if talks(one))
    return nearest_models(profile.name, own)
