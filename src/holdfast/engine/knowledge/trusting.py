"""Which files of a project act: by an argument, the environment or the settings."""

from __future__ import annotations

import msgspec

from holdfast.core.knowledge.trust import Trusting
from holdfast.engine.settings import settings
from holdfast.errors import InvalidRequest


def trusting(chosen: str = "") -> Trusting:
    """What was given, else HOLDFAST_TRUST, else `trust` of settings.toml, else "ask"."""
    named = chosen or settings().trust
    try:
        return msgspec.convert(named, Trusting)
    except msgspec.ValidationError:
        raise InvalidRequest(f"trust is {named!r}; say ask, always or never") from None
