"""What keeps a session's window in order besides its policy: who writes summaries, and who watches.

A hook sees each compaction before it happens. It may add context for whoever writes the summary (by
returning text), replace the summary (by writing the plan's own), or veto it (by returning False).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal

from msgspec import Struct

from holdfast.model.plan import Plan

Voice = Callable[[Any], Any]
"""Whoever writes summaries: takes a Question; returns text, or a provider's response."""

Heard = Callable[[Any], Awaitable[Any]]
"""The same as the engine calls it, in the door's colour."""

Work = Callable[[], Coroutine[Any, Any, None]]
"""Something to be done beside the turns."""

Hook = Callable[[Plan], str | Literal[False] | None]


class Ahead:
    """What was prepared ahead for one open session, and what is under way."""

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self.busy: set[str] = set()

    def has(self, epoch: int) -> bool:
        """Whether a plan is ready that still holds."""
        return self.plan is not None and self.plan.epoch == epoch

    def take(self, epoch: int) -> Plan | None:
        """The plan that is ready, where it still holds; a stale one is dropped."""
        plan, self.plan = self.plan, None
        return plan if plan and plan.epoch == epoch else None


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
