"""What keeps a session's window in order besides its policy: who writes summaries, and who watches.

A hook sees each compaction before it happens. It may add context for whoever writes the summary (by
returning text), replace the summary (by writing the plan's own), or veto it (by returning False).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Struct

from holdfast.model.plan import Plan

Voice = Callable[[Any], Any]
"""Whoever writes summaries: takes a Question; returns text, or a provider's response."""

Heard = Callable[[Any], Awaitable[Any]]
"""The same as the engine calls it, in the door's colour."""

Hook = Callable[[Plan], str | Literal[False] | None]


class Upkeep(Struct, frozen=True, kw_only=True):
    """How summaries come about in one open session."""

    voice: Heard | None = None
    weak_model: str = ""
    """A cheaper model that is asked first; empty for none."""
    hooks: tuple[Hook, ...] = ()

    def consulted(self, plan: Plan) -> str | Literal[False]:
        """What the hooks say of a plan: False for a veto, otherwise the context they add."""
        added: list[str] = []
        for hook in self.hooks:
            told = hook(plan)
            if told is False:
                return False
            if told:
                added.append(told)
        return "\n".join(added)
