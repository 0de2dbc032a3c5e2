"""How context is managed, as data: thresholds, order, words."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from holdfast.model.message import Role
from holdfast.model.window import BudgetConfig, SectionName


class Place(Struct, frozen=True, array_like=True):
    """Where a section stands in the window, and how it is said."""

    section: SectionName
    role: Role = "user"
    tag: str = ""
    """The scaffold tag around it; empty for none."""


class Policy(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One way of managing context, under its name."""

    name: str
    about: str = ""
    layout: tuple[Place, ...]
    layout_compacted: tuple[Place, ...] = ()
    """The order once a summary stands; empty: the same."""
    budget: BudgetConfig = BudgetConfig()
    counts_with: Literal["exact", "bytes/4", "chars/4", "estimate", "provider"] = "estimate"
    summary_preamble: str = ""
    """What is said before a summary, so that nobody takes it for a request."""
    reminder_if_it_fits: bool = False
    """The reminder is left out where it would not fit, rather than counted in."""
    asks_before_overlong: bool = False
    """The user is asked before more is sent than fits, rather than anything being cut."""

    def order(self, compacted: bool) -> tuple[Place, ...]:
        """The layout in force."""
        return self.layout_compacted if compacted and self.layout_compacted else self.layout
