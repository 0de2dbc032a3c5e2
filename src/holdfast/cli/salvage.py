"""When a store cannot be opened: saying what is left of it, and saving that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.options import Asked

if TYPE_CHECKING:
    from holdfast.errors import Corrupt


def rescue(asked: Asked, damage: Corrupt, *, wanted: bool, yes: bool) -> int:
    """The exit code."""
    raise damage
