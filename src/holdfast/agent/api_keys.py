"""Whether somebody can be talked to at all: asked before anything is written for them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from holdfast.agent.model_choice import KEYS, SMALL, ModelTarget, compatible
from holdfast.engine.plugins import has_weights
from holdfast.errors import AuthError


def check_key(whom: ModelTarget, environ: Mapping[str, str] | None = None) -> None:
    """AuthError, with what to do, where a provider wants a key and none is set.

    A model on this machine wants none, and a server that is like OpenAI's may want none.
    """
    env = os.environ if environ is None else environ
    names = KEYS.get(whom.provider, ())
    free = bool(whom.url) or (whom.provider == "openai" and compatible(env))
    if not names or free or any(map(env.get, names)):
        return
    raise AuthError(
        f"no key for {whom.provider}, so {whom.model} cannot be asked; set {' or '.join(names)}, "
        f"or name another model (-m MODEL, in a chat /model NAME); {_small()}",
        provider=whom.provider,
    )


def _small() -> str:
    """How to talk to the model that wants no key."""
    pull = "" if has_weights() else ", once `holdfast models pull` has brought it"
    return f"-m {SMALL}, small and on this machine, wants none{pull}"
