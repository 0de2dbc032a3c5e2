"""Attachments: context that the program put before the model, beside what the user said."""

from __future__ import annotations

from typing import Any

from holdfast.importers.claude_code.blocks import asked, shown, words
from holdfast.model.message import Message, Part

TEXTS = ("content", "snippet", "text", "banner")
"""Where the words of an attachment stand, in the order they are looked for."""

DEEP = 4
"""How deep its words may lie."""


def injected(attachment: dict[str, Any], rendered: Any = None) -> Message | None:
    """What the model was told by it; None where nobody can tell from the record.

    What the record itself says that it became (`rendered`) counts more than its words.
    """
    if attachment.get("type") == "queued_command":
        meta = attachment.get("isMeta") is True
        said = asked(attachment.get("prompt"), meta=meta) if attachment.get("prompt") else []
        return said[-1] if said else None
    if parts := _became(rendered):
        return Message("user", parts)
    text = next(filter(None, (_words(attachment.get(name), DEEP) for name in TEXTS)), "")
    return Message("user", (words(text, meta=True),)) if text.strip() else None


def _became(rendered: Any) -> tuple[Part, ...]:
    parts: list[Part] = []
    for one in rendered if type(rendered) is list else ():
        content = one.get("content") if type(one) is dict else None
        blocks = [{"type": "text", "text": content}] if type(content) is str else content
        for block in blocks if type(blocks) is list else ():
            parts += shown(block, True) if type(block) is dict else []
    return tuple(parts)


def _words(value: Any, deep: int) -> str:
    if type(value) is str:
        return value
    if type(value) is list and value and all(type(one) is str for one in value):
        return "\n".join(value)
    if type(value) is dict and deep:
        inner = (_words(value.get(name), deep - 1) for name in ("content", "file", "text"))
        return next(filter(None, inner), "")
    return ""
