"""What is known of models: learned, told by the user, our own file, then the price snapshot.

A model that nobody knows never fails: safe values stand in, and `assumed` names them. A window that
is guessed too large is refused by a hosted model, with its real limit, which is then learned; but a
local runner cuts the prompt without a word. So a hosted model is taken to hold 32,768 tokens, which
nearly all do, and a local one 4,096, which is what Ollama gives it unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec
from msgspec.structs import asdict

from holdfast import policies
from holdfast.errors import InvalidRequest
from holdfast.files import config_home
from holdfast.model.policy import Policy
from holdfast.model.profile import Price, Profile
from holdfast.providers import families
from holdfast.providers.families import Told, told_of, without
from holdfast.providers.names import Reading, reading
from holdfast.providers.snapshot import find, snapshot

HOSTED = {"window": 32_768, "output_limit": 4_096}
ON_THIS_MACHINE = {"window": 4_096, "output_limit": 1_024}
LONG = 1_000_000
OUTPUT_SHARE = 4
"""Where only a window is known, the reply may take a quarter of it."""

NEEDED = ("window", "output_limit", "tokenizer", "prices", "abilities")
"""What is named in `assumed` unless somebody has told it."""

_CONVERTING = Lock()
"""A type that msgspec learns in several threads at once ends the process."""

MAKERS = ("anthropic", "openai", "google")
"""Whose models are listed when no name is given."""


class BuiltIn:
    """The catalogue that comes with Holdfast."""

    def __init__(self, *, today: Callable[[], date] = date.today, file: Path | None = None) -> None:
        self._today = today
        self._file = file
        self._learned: dict[str, Told] = {}
        self._made: dict[tuple[str, date], Profile] = {}
        self._user: tuple[Path | None, int, dict[str, Told]] = (None, 0, {})

    def profile(self, model: str) -> Profile:
        """A model's profile; safe, stated assumptions for one that nobody knows."""
        user = self._users()
        key = (model, self._today())
        if key not in self._made:
            self._made[key] = self._make(model, user, ())
        return self._made[key]

    def policy(self, name: str) -> Policy:
        """A policy by its name, or by the path of its file."""
        return policies.policy(name)

    def prompt(self, name: str) -> str:
        """The prompt that a policy names, or the path of its file."""
        return policies.prompt(name)

    def learn(self, model: str, **told: Any) -> Profile:
        """Keep what an endpoint or its error has said of a model, for as long as we run."""
        unknown = set(told) - set(families.FIELDS)
        if unknown or any(isinstance(v, int) and v < 0 for v in told.values()):
            raise InvalidRequest(f"{model} cannot have {told!r}; give fields of a profile")
        self._learned.setdefault(model.lower(), {}).update(told)
        self._made.clear()
        return self.profile(model)

    def models(self) -> tuple[str, ...]:
        """The models of the three largest makers, then those the user named or we learned."""
        listed = [one.id for maker in MAKERS for one in snapshot().providers[maker].models]
        own = [name for name in listed if not name.startswith("ft:")]
        return tuple(dict.fromkeys((*own, *self._users(), *self._learned)))

    def _users(self) -> dict[str, Told]:
        """The user's own file, read again when it has changed."""
        file = self._file or config_home() / "profiles.toml"
        try:
            changed = file.stat().st_mtime_ns
        except OSError:
            changed = 0
        if self._user[:2] != (file, changed):
            self._made.clear()
            self._user = (file, changed, families.read(file) if changed else {})
        return self._user[2]

    def _make(self, model: str, user: dict[str, Told], seen: tuple[str, ...]) -> Profile:
        own = user.get(model.lower(), {})
        learned = self._learned.get(model.lower(), {})
        if base := own.get("extends"):
            if base in seen:
                ring = " → ".join((*seen, model, base))
                raise InvalidRequest(f"a profile extends itself: {ring}; break the ring")
            told = asdict(self._make(base, user, (*seen, model)))
        else:
            told = self._known(reading(model))
        told |= without(own, "extends")
        told |= learned
        return _finished(model, told, {*own, *learned})

    def _known(self, read: Reading) -> Told:
        """What our own file and the snapshot say together."""
        told = told_of(read)
        found = None if read.local else find(read, told.get("provider", ""))
        listed = _listed(*found, self._today()) if found else {}
        guessed = set(told.get("assumed", ()))
        if read.local:
            told = without(told, "window", "input_limit", "output_limit", "most_images")
            guessed = {*told.get("assumed", ()), "window", "output_limit"}
        known = {name: value for name, value in told.items() if name not in guessed}
        made = {**told, **listed, **known}
        if read.host:
            made |= {"provider": read.host}
        if read.long:
            made["window"] = max(made.get("window", 0), LONG)
        if read.free:
            made |= {"prices": [Price()], "price_version": "its name"}
        assumed = _assumed(guessed, listed, made, read)
        return made | {"assumed": tuple(x for x in assumed if x != "prices" or not read.free)}


def _listed(provider: str, one: Any, today: date) -> Told:
    told: Told = {"provider": provider}
    if one.window:
        told["window"] = one.window
    if rows := one.price(today):
        told |= {"prices": rows, "price_version": snapshot().source}
    return told


def _assumed(guessed: set[str], listed: Told, made: Told, read: Reading) -> tuple[str, ...]:
    """The fields whose values nobody has told."""
    missing = {name for name in NEEDED if name not in made}
    if made.get("provider") in MAKERS or "ratio" in made:
        missing.discard("tokenizer")  # that theirs is not public is known
    if read.host and listed and listed["provider"] != read.host:
        missing.add("prices")  # another's price stands in for the host's
    return tuple(sorted((guessed - set(listed)) | missing))


def _finished(model: str, told: Told, sure: set[str]) -> Profile:
    """A whole profile, with what is still missing filled in."""
    fallback = ON_THIS_MACHINE if reading(model).local else HOSTED
    window = told.get("window") or fallback["window"]
    output = told.get("output_limit") or min(fallback["output_limit"], window // OUTPUT_SHARE)
    if "output_limit" not in sure and output >= window:
        output = window // OUTPUT_SHARE
    made = {
        **told,
        "name": model,
        "window": window,
        "input_limit": min(told.get("input_limit", 0), window),
        "output_limit": output,
        "assumed": tuple(name for name in told.get("assumed", NEEDED) if name not in sure),
    }
    with _CONVERTING:
        return msgspec.convert(made, Profile, from_attributes=True)
