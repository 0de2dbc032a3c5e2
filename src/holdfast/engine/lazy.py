"""Modules that are imported when they are first used: most of the engine waits for the first turn.

Whoever uses one names it twice, for the reader of types and for the interpreter:

    if TYPE_CHECKING:
        from holdfast.engine import plans
    else:
        plans = later("holdfast.engine.compaction.plans")
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class later:
    """A module that is not there yet."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)
        return found
