"""Whether a window can be sent as it is: one look at each part, in place of every repair.

Rule 1: a window that can be sent is one that repairing would not change; in doubt, it is repaired.
Rule 2: a window with a picture or document is always in doubt: its limits are the provider's.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.message import Part, Reasoning, Text, ToolCall, ToolResult
from holdfast.model.window import Block

AHEAD = ("system", "developer")
"""Who speaks before the conversation begins."""


def can_be_sent(blocks: Sequence[Block], *, prefill: bool = False) -> bool:
    """Whether these blocks need no repair: words and calls, each answered right behind it."""
    asked: set[str] = set()
    waiting: list[str] = []
    for block in blocks:
        if waiting:
            if not _answers(block, waiting):
                return False
            waiting = []
        else:
            calls = _calls(block)
            if calls is None or not asked.isdisjoint(calls):
                return False
            asked.update(calls)
            waiting = calls
    return not waiting and _framed(blocks, prefill)


def _answers(block: Block, waiting: list[str]) -> bool:
    """Whether a block is the answers to these calls, in their order and nothing else."""
    if block.role != "tool" or len(block.parts) != len(waiting):
        return False
    for part, call in zip(block.parts, waiting, strict=True):
        if type(part) is not ToolResult or part.call != call or part.media:
            return False
        if not (has_utf8(part.output) and has_utf8(part.name)):
            return False
    return True


def _calls(block: Block) -> list[str] | None:
    """The calls that a block makes; None where it is anything but words and calls."""
    if block.role == "tool" or not block.parts:
        return None
    calls: list[str] = []
    for part in block.parts:
        if type(part) is ToolCall:
            if not _callable(part) or part.id in calls:
                return None
            calls.append(part.id)
        elif not _said(part):
            return None
    return calls


def _callable(part: ToolCall) -> bool:
    return bool(part.id) and has_utf8(part.id) and has_utf8(part.name) and has_utf8(part.input)


def _said(part: Part) -> bool:
    if type(part) is Text:
        return bool(part.text) and not part.text.isspace() and has_utf8(part.text)
    return type(part) is Reasoning and has_utf8(part.text)


def _framed(blocks: Sequence[Block], prefill: bool) -> bool:
    """Whether the user speaks first, and last where the model wants that."""
    first = next((block.role for block in blocks if block.role not in AHEAD), "user")
    last = next((block.role for block in reversed(blocks) if block.role not in AHEAD), "user")
    return first == "user" and (prefill or last != "assistant")


def has_utf8(text: str) -> bool:
    """Whether a text has a UTF-8 form: a lone surrogate has none."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
