"""How the request is to be made: length, thinking, the choice of tools, edits by the provider."""

from __future__ import annotations

from typing import Any, cast

from holdfast.codecs.anthropic.pieces import legal_name
from holdfast.model.window import Options, Window

LEAST_THINKING = 1_024

EDITING = "context-management-2025-06-27"
COMPACTING = "compact-2026-01-12"
SUMMARISING = "compact-2026-09-04"

Message = dict[str, Any]


LONG = "context-1m-2025-08-07"
"""The beta of a window of a million tokens"""
LONG_NAME = "[1m]"
"""and how a model's name ends that is asked for with it."""


def settings(window: Window, options: Options, messages: list[Message]) -> dict[str, Any]:
    """Everything in a request beside tools, system prompt and messages."""
    longest = options.max_tokens or window.budget.output or 1
    choice = _choice(options) if window.tools else {}
    request: dict[str, Any] = {"model": plain(window.model), "max_tokens": longest}
    request |= {"stream": True} if options.stream else {}
    request |= _thinking(options.thinking, longest, choice, messages)
    request |= {"output_config": {"effort": options.effort}} if options.effort else {}
    request |= {"tool_choice": choice} if choice else {}
    return request | _edits(options.server_edits)


def _thinking(
    told: int | dict[str, Any] | None, longest: int, choice: dict[str, Any], messages: list[Message]
) -> dict[str, Any]:
    """Thinking by a number of tokens, or as the caller wrote it, where the rules allow it.

    It is left out where a tool is forced, where it cannot fit, and inside a tool cycle that another
    model began: a turn that did not start with thinking cannot go on with it (A6).
    """
    if told is None:
        return {}
    native = told if isinstance(told, dict) else None
    if native and native.get("type") != "enabled":
        return {"thinking": native}
    tokens = int((native or {}).get("budget_tokens", told))
    if tokens <= 0:
        return {"thinking": {"type": "disabled"}}
    if longest <= LEAST_THINKING or choice.get("type") in ("any", "tool"):
        return {}
    if turn_without_thinking(messages) is not None:
        return {}
    budget = max(LEAST_THINKING, min(tokens, longest - 1))
    return {"thinking": {**(native or {}), "type": "enabled", "budget_tokens": budget}}


def turn_without_thinking(messages: list[Message]) -> int | None:
    """The message that opens the running tool cycle, where it does not start with thinking."""
    opener: int | None = None
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        types = [block.get("type") for block in _blocks(message)]
        if message.get("role") == "assistant":
            opener = place
        elif message.get("role") != "system" and "tool_result" not in types:
            break
    if opener is None:
        return None
    first = next((block.get("type") for block in _blocks(messages[opener])), None)
    return None if first in ("thinking", "redacted_thinking", "compaction") else opener


def _blocks(message: Message) -> list[dict[str, Any]]:
    content = message.get("content")
    found = cast(list[Any], content) if isinstance(content, list) else []
    return [cast(dict[str, Any], block) for block in found if isinstance(block, dict)]


def plain(model: str) -> str:
    """A model as the provider knows it: that it is to have a window of a million is a header."""
    return model[: -len(LONG_NAME)] if model.lower().endswith(LONG_NAME) else model


def _choice(options: Options) -> dict[str, Any]:
    choice: dict[str, Any] = {}
    if isinstance(options.tool_choice, dict):
        return options.tool_choice
    if options.tool_choice in ("auto", "none", "any"):
        choice = {"type": options.tool_choice}
    elif options.tool_choice:
        choice = {"type": "tool", "name": legal_name(options.tool_choice)}
    if options.parallel_tools is False and choice.get("type") != "none":
        choice = {"type": "auto", **choice, "disable_parallel_tool_use": True}
    return choice


def _edits(edits: dict[str, Any]) -> dict[str, Any]:
    """`{"edits": […]}` is context management; `{"type": "summarize"}` compacts and answers not."""
    if not edits:
        return {}
    return {"compaction" if edits.get("type") == "summarize" else "context_management": edits}


def betas(options: Options, messages: list[Message], model: str) -> list[str]:
    """The betas a request needs: for what it asks of the provider, and for what it echoes."""
    edits = options.server_edits
    named = [LONG] if model.lower().endswith(LONG_NAME) else []
    if edits and edits.get("type") != "summarize":
        named.append(EDITING)
    compacted = [
        block for message in messages for block in _blocks(message)
        if block.get("type") == "compaction"
    ]  # fmt: skip
    if _compacts(edits) or any(not block.get("signature") for block in compacted):
        named.append(COMPACTING)
    if edits.get("type") == "summarize" or any(block.get("signature") for block in compacted):
        named.append(SUMMARISING)
    asked = options.extra.get("betas")
    further = [str(beta) for beta in cast(list[Any], asked)] if isinstance(asked, list) else []
    return list(dict.fromkeys([*named, *further]))


def _compacts(edits: dict[str, Any]) -> bool:
    return any(str(edit.get("type")).startswith("compact_") for edit in edits.get("edits") or ())
