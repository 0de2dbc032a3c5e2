"""Holdfast: the context engine for LLM agents. These are its public names."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.core.window.recall import recall_tools as recall_tools
    from holdfast.engine.calls.ask import Question as Question
    from holdfast.engine.client import AsyncHoldfast as AsyncHoldfast
    from holdfast.engine.client import Holdfast as Holdfast
    from holdfast.engine.client import Session as Session
    from holdfast.engine.client import open as open
    from holdfast.engine.client import open_async as open_async
    from holdfast.engine.session import AsyncSession as AsyncSession
    from holdfast.errors import HoldfastError as HoldfastError
    from holdfast.model.message import Media as Media
    from holdfast.model.message import Message as Message
    from holdfast.model.message import Reasoning as Reasoning
    from holdfast.model.message import Text as Text
    from holdfast.model.message import ToolCall as ToolCall
    from holdfast.model.message import ToolResult as ToolResult
    from holdfast.model.message import assistant as assistant
    from holdfast.model.message import user as user
    from holdfast.model.spending import Caps as Caps

_HOMES = {
    "holdfast.engine.client": (
        "open", "open_async", "Holdfast", "AsyncHoldfast", "Session",
    ),
    "holdfast.engine.session": ("AsyncSession",),
    "holdfast.engine.calls.ask": ("Question",),
    "holdfast.core.window.recall": ("recall_tools",),
    "holdfast.errors": ("HoldfastError",),
    "holdfast.model.spending": ("Caps",),
    "holdfast.model.message": (
        "Message", "Text", "Reasoning", "ToolCall", "ToolResult", "Media", "assistant", "user",
    ),
}  # fmt: skip
_WHERE = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [name for names in _HOMES.values() for name in names]  # pyright: ignore


def __getattr__(name: str) -> Any:
    """A public name is loaded when it is first used, so that importing the package costs little."""
    if name == "__version__":
        return import_module("importlib.metadata").version("holdfast")
    if name not in _WHERE:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(_WHERE[name]), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *_WHERE]
