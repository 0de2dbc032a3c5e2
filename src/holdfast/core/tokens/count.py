"""How many tokens a part is likely to take, from its content alone.

Rule 1: a part is texts, which a counter counts, and a frame around them, which it cannot see.
Rule 2: what is stored with an entry is the estimate by `weigh`; it depends on the part alone.
Rule 3: some policies count in their own way: `WEIGHED` holds these ways under their names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from holdfast.core.tokens.estimate import estimate, recurring
from holdfast.core.tokens.media import media_tokens
from holdfast.model import wire
from holdfast.model.log import Body
from holdfast.model.message import (
    Media,
    Message,
    Opaque,
    Part,
    Patch,
    Reasoning,
    Record,
    Seal,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)  # fmt: skip
from holdfast.model.profile import Pictures, Profile
from holdfast.model.window import Tool

ANY_PICTURES: Final = Pictures(pixels=750)
ANY_PAGE: Final = 3_000
"""How pictures and pages are counted while nobody knows which model will see them."""

SEALED_BYTES_PER_TOKEN = 4
"""Signatures and encrypted text: base64 that its owner counts by length."""

NEVER_SENT = frozenset({"ghost_snapshot"})
"""What a program keeps among what was said and no provider is ever sent."""

MESSAGE = 4
"""The frame of a message around its parts."""

CALL = 12
"""The frame of a tool call or result around its content."""


def weigh(part: Part) -> int:
    """The estimate of one part."""
    if type(part) is Text and part.seal is None:
        return estimate(part.text)  # most of what is ever said
    if type(part) is Record:
        return 0
    return sum(map(estimate, texts(part))) + frame(part)


def weigh_body(body: Body) -> tuple[int, ...]:
    """The estimate of each part of a message; nothing for a marker."""
    return tuple([weigh(part) for part in body.parts]) if isinstance(body, Message) else ()


def weigh_tools(tools: Sequence[Tool]) -> int:
    """What the tools take, by estimate."""
    return sum(map(recurring, map(tool_text, tools)))


def tool_text(tool: Tool) -> str:
    """A tool as it is counted: its definition as JSON."""
    return wire.encode(tool).decode("utf-8", "replace")


def texts(part: Part) -> tuple[str, ...]:
    """The words of a part, which a counter counts one by one."""
    read = _TEXTS.get(type(part))
    return read(part) if read else ()


_TEXTS: Final[dict[type, Callable[[Any], tuple[str, ...]]]] = {
    Text: lambda part: (part.text,),
    Reasoning: lambda part: (part.text,),
    SummaryText: lambda part: (part.text,),
    ToolCall: lambda part: (part.name, part.input),
    ToolResult: lambda part: (part.output,),
    Patch: lambda part: (part.diff,),
    Subtask: lambda part: (part.prompt, part.result),
}


def frame(part: Part, profile: Profile | None = None) -> int:
    """What a part takes besides its words: the call around them, seals, pictures."""
    around = CALL if isinstance(part, (ToolCall, ToolResult)) else 0
    return around + unsure(part, profile)


def plain(part: Part) -> bool:
    """Whether nothing of a part's frame is unsure: it has no seal and no picture."""
    kind = type(part)
    if kind is Text or kind is ToolCall:
        return part.seal is None  # type: ignore[union-attr]
    return isinstance(part, ToolResult) and part.seal is None and not part.media


def unsure(part: Part, profile: Profile | None = None) -> int:
    """Of the frame, what no counter on this machine can know for certain: seals and pictures."""
    how = profile.pictures if profile else ANY_PICTURES
    page = profile.page_tokens if profile else ANY_PAGE
    return sealed(part) // SEALED_BYTES_PER_TOKEN + sum(
        media_tokens(media, how, page) for media in media_of(part)
    )


def media_of(part: Part) -> tuple[Media, ...]:
    """The pictures and documents of a part."""
    if isinstance(part, Media):
        return (part,)
    return part.media if isinstance(part, ToolResult) else ()


def sealed(part: Part) -> int:
    """How many bytes of a part only its owner can read."""
    if isinstance(part, Opaque):
        return 0 if part.type in NEVER_SENT else len(part.data)
    seal: Seal | None = getattr(part, "seal", None)
    if seal is None or not (seal.sent or isinstance(part, Reasoning)):
        return 0  # a framework keeps a message whole beside its words; of a thought only the rest
    return len(seal.data)


def _by_bytes(part: Part) -> int:
    """Four bytes a token; what is encrypted at three quarters of its base64, as it decodes."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts(part))
    media = sum(media_tokens(one, ANY_PICTURES, ANY_PAGE) for one in media_of(part))
    return -(-(size + sealed(part) * 3 // 4) // 4) + media


def _by_characters(part: Part) -> int:
    """Four characters a token, rounded."""
    size = sum(map(len, texts(part))) + sealed(part)
    media = sum(media_tokens(one, ANY_PICTURES, ANY_PAGE) for one in media_of(part))
    return (size + 2) // 4 + media


WEIGHED: Final[dict[str, Callable[[Part], int]]] = {
    "estimate": weigh,
    "bytes/4": _by_bytes,
    "chars/4": _by_characters,
}
"""How a part is weighed, by the name a policy uses for it."""
