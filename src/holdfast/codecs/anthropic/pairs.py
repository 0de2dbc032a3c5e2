"""Tools that the provider runs itself: a call and its result stay together, or both leave.

Rule 1: a result needs its call before it in the conversation; it may come in a later message,
        where a program called our tools in between.
Rule 2: a call without a result is legal only while it runs: at the very end of a paused reply, or
        while a tool_use that it made waits for us.
"""

from __future__ import annotations

from typing import Any, cast

CALLS = frozenset({"server_tool_use", "mcp_tool_use"})


def is_result(block: dict[str, Any]) -> bool:
    """Whether a block is what a provider's own tool gave."""
    type = block.get("type")
    return isinstance(type, str) and type.endswith("_tool_result")


def paused(content: list[dict[str, Any]]) -> bool:
    """Whether a reply was only paused: it is sent back as it is, and carried on."""
    last = content[-1] if content else {}
    return last.get("type") in CALLS | {"compaction"} or is_result(last)


def unpaired(messages: list[tuple[str, list[dict[str, Any]]]]) -> list[tuple[int, int]]:
    """The places of calls and results that miss the other, given each message's role and blocks."""
    waiting: dict[str, tuple[int, int]] = {}
    lost: list[tuple[int, int]] = []
    for place, (_, blocks) in enumerate(messages):
        for ordinal, block in enumerate(blocks):
            if block.get("type") in CALLS:
                waiting[str(block.get("id"))] = (place, ordinal)
            elif is_result(block) and waiting.pop(str(block.get("tool_use_id")), None) is None:
                lost.append((place, ordinal))
    running = _running(messages)
    return sorted([*lost, *(at for id, at in waiting.items() if id not in running)])


def _running(messages: list[tuple[str, list[dict[str, Any]]]]) -> set[str]:
    """The calls that may still be unanswered."""
    if messages and messages[-1][0] == "assistant":
        last = messages[-1][1] if paused(messages[-1][1]) else []
        return {str(block.get("id")) for block in last if block.get("type") in CALLS}
    if len(messages) < 2 or messages[-2][0] != "assistant":
        return set()
    return {tool for block in messages[-2][1] if (tool := caller(block))}


def caller(block: dict[str, Any]) -> str:
    """The id of the server tool that made a call of ours; empty where the model itself did."""
    told = block.get("caller")
    if block.get("type") != "tool_use" or not isinstance(told, dict):
        return ""
    id = cast(dict[str, Any], told).get("tool_id")
    return id if isinstance(id, str) else ""
