"""`/model`: whom to talk to from here on, and who there is to talk to now."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.cli.wording import program

if TYPE_CHECKING:
    from holdfast.cli.conversation import Conversation
    from holdfast.model.profile import Profile

SHOWN = 12
"""So many models of one provider are listed."""


def choose(talk: Conversation, name: str) -> None:
    """Go on with another model; without a name, list those that can be had."""
    from holdfast.agent.whom import whom

    if not name:
        talk.screen.say(f"{talk.whom.model}; /model NAME takes another")
        _list(talk)
    elif _meant(talk, name):
        talk.speak_to(whom(name))
        session = talk.agent.session
        if "window" not in session.catalogue.profile(name).assumed:
            session.set_model(name)  # whoever opens it again goes on with whom was asked for
        talk.screen.say(f"from here on {talk.whom.model}")


def _list(talk: Conversation) -> None:
    usable = _usable()
    for provider, names in usable.items():
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        talk.screen.say(f"  {provider}: {', '.join(names[:SHOWN])}{more}", "dim")
    if not usable:
        talk.screen.say("  no key is set, so there is no other to talk to", "dim")
    talk.screen.say(f"  `{program()} models --all` shows what each holds and costs", "dim")


def _usable() -> dict[str, list[str]]:
    """The models that can be talked to now, by whose they are: those a key is there for, and ours.

    The newest come first, as far as names tell.
    """
    from holdfast.agent.whom import KEYS, SMALL, compatible
    from holdfast.core.nearest import newest_first
    from holdfast.engine.models import talks
    from holdfast.engine.plugins import catalogue, has_weights

    keyed = [name for name, keys in KEYS.items() if any(map(os.environ.get, keys))]
    known = catalogue()
    found: dict[str, list[str]] = {name: [] for name in keyed}
    for one in filter(talks, map(known.profile, known.models())):
        if one.provider in found:
            found[one.provider].append(one.name)
    found = {name: newest_first(names) for name, names in found.items()}
    if compatible(os.environ):
        found |= {"openai": ["any that the server at OPENAI_BASE_URL has"]}
    return found | ({"on this machine": [SMALL]} if has_weights() else {})


def _meant(talk: Conversation, name: str) -> bool:
    """Whether a model is known, or somebody wants it all the same."""
    from holdfast.agent.whom import SMALL, compatible
    from holdfast.engine.models import is_known, meant

    known = talk.agent.session.catalogue
    profile = known.profile(name)
    if name == SMALL or name.endswith(".gguf") or is_known(profile):
        return True
    assumed = f"{profile.window:,} tokens are assumed"
    if profile.provider == "" and not compatible(os.environ):
        _unknown(talk, profile, meant(known, profile))
        return talk.screen.agreed(f"talk to it all the same? {assumed}")
    talk.screen.say(f"nobody here knows {name}: {assumed}", "yellow")
    return True


def _unknown(talk: Conversation, profile: Profile, near: tuple[str, ...]) -> None:
    hint = f"; did you mean {' or '.join(near)}?" if near else "; there are:"
    talk.screen.say(f"nobody here knows {profile.name}{hint}", "yellow")
    if not near:
        _list(talk)
