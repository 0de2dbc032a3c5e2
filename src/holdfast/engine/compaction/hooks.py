"""What keeps a session's window in order besides its policy: who writes summaries, and who watches.

A hook sees each compaction before it happens. It may add context for whoever writes the summary (by
returning text), replace the summary (by writing the plan's own), or veto it (by returning False).
One that has a method `after` is told of the marker that a compaction became.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal

from msgspec import Struct

from holdfast.errors import HoldfastError, InvalidRequest
from holdfast.model.log import Entry
from holdfast.model.plan import Plan

Voice = Callable[[Any], Any]
"""Whoever writes summaries: takes a Question; returns text, or a provider's response."""

Heard = Callable[[Any], Awaitable[Any]]
"""The same as the engine calls it, in the door's colour."""

Work = Callable[[], Coroutine[Any, Any, None]]
"""Something to be done beside the turns."""

Hook = Callable[[Plan], Any]
"""Returns text, False or None; behind the async door also an awaitable of one."""


class Ahead:
    """What was prepared ahead for one open session, and what is under way."""

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self.busy: set[str] = set()

    def has(self, session: str, epoch: int) -> bool:
        """Whether a plan is ready that still holds."""
        return self.plan is not None and (self.plan.session, self.plan.epoch) == (session, epoch)

    def take(self, session: str, epoch: int) -> Plan | None:
        """The plan that is ready, where it still holds; a stale one is dropped.

        A writer that went on in a fork is another session: what was prepared may tell of words
        that the fork does not hold.
        """
        held = self.has(session, epoch)
        plan, self.plan = self.plan, None
        return plan if held else None


class CompactionHooks(Struct, frozen=True, kw_only=True):
    """How summaries come about in one open session."""

    voice: Heard | None = None
    weak_model: str = ""
    """A cheaper model that is asked first; empty for none."""
    hooks: tuple[Hook, ...] = ()

    async def consulted(self, plan: Plan) -> str | Literal[False]:
        """What the hooks say of a plan: False for a veto, otherwise the context they add."""
        added: list[str] = []
        for hook in self.hooks:
            told = await _asked(hook, plan)
            if told is False:
                plan.veto = getattr(hook, "veto", "") or f"the hook {_name(hook)!r}"
                return False
            if told:
                added.append(told)
        return "\n".join(added)

    async def applied(self, marker: Entry) -> None:
        """Tell the hooks that want to know what a compaction became."""
        for hook in self.hooks:
            if after := getattr(hook, "after", None):
                await _asked(after, marker)


async def _asked(hook: Callable[[Any], Any], about: Any) -> str | Literal[False] | None:
    """What one hook says; what it must not say, or that it failed, is told as such."""
    name = _name(hook)
    try:
        told: Any = hook(about)
        told = await told if inspect.isawaitable(told) else told
    except HoldfastError:
        raise
    except Exception as error:
        raise InvalidRequest(
            f"the hook {name!r} failed ({type(error).__name__}: {error}); mend it, or leave it out"
        ) from error
    if told is None or told is False or isinstance(told, str):
        return told
    raise InvalidRequest(
        f"the hook {name!r} returned {type(told).__name__}; text adds context, False is a veto, "
        "None lets it happen"
    )


def _name(hook: Callable[[Any], Any]) -> str:
    return getattr(hook, "__name__", type(hook).__name__)
