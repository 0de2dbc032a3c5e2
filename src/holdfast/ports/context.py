"""What is known, said beside and measured: models, sources of text, the time, new names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from holdfast.model.event import Event
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.window import SectionName


class Source(Protocol):
    """Something that has text for a section of the window."""

    name: str
    """What it is called when something is wrong with it."""
    section: SectionName
    """instructions, skills, memory, repo_map, read_only_files, context, chat_files or reminder; its
    text stands behind what the caller gave for the same section."""

    async def text(self, allowance: int) -> str:
        """Its text, of at most this many tokens by estimate; empty when it has nothing to say.

        It is asked once for each window. What goes beyond the allowance is cut at the end of a
        line, and a note says how much was left out.
        """
        ...


class Catalogue(Protocol):
    """What is known of models, and which policies there are."""

    def profile(self, model: str) -> Profile:
        """A model's profile; safe, stated assumptions for one that nobody knows."""
        ...

    def policy(self, name: str) -> Policy:
        """A policy by its name, or by the path of its file."""
        ...

    def prompt(self, name: str) -> str:
        """The prompt that a policy names, or the path of its file."""
        ...

    def models(self) -> tuple[str, ...]:
        """Names of models that are known, the common ones first."""
        ...

    def learn(self, model: str, **told: Any) -> Profile:
        """Keep what an endpoint or its error has said of a model, such as `window=8192`."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors that are near where texts mean the same. It never acts."""

    name: str
    """What its vectors are kept under: others cannot be compared with them."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A vector for each text."""
        ...

    def alike(self, one: bytes, many: Sequence[bytes]) -> list[float]:
        """How near each of these vectors is to one: 1 means the same, 0 nothing in common."""
        ...


class Telemetry(Protocol):
    """Whoever measures: told of what happens, never of what was said."""

    def emit(self, event: Event) -> None: ...


class Clock(Protocol):
    """The time, as a label."""

    def now(self) -> int:
        """Milliseconds since 1970."""
        ...


class Ids(Protocol):
    """New names."""

    def new(self, at: int | None = None) -> str:
        """A ULID, greater than every one before it from this source; `at` is the time if known."""
        ...
