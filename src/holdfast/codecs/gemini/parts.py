"""One part of a message as one part of the request.

Rule 1: a seal is merged back for its owner and its model only; elsewhere the part goes without it,
        and a thought or an opaque part goes not at all.
Rule 2: arguments must be an object. Input that is none (free text, a list, JSON cut short) is sent
        as `{"input": …}`: valid for the format, and nothing the model wrote is lost.
Rule 3: files the format does not take are named in a note; nothing is left out silently.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

from holdfast.codecs.gemini.names import ASKED, PROVIDER, same_model, signs, snaked, taken
from holdfast.model.message import (
    Media,
    Opaque,
    Part,
    Patch,
    Reasoning,
    Seal,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.window import Block
from holdfast.model.wire import decode

Encoded = dict[str, Any]

IN_ANSWERS = ("image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain")
"""What a function may answer with, from Gemini 3 on ("Function calling": multimodal responses)."""

DEEPEST = 500
"""Deeper input is text: how deep a decoder goes hangs on the version of Python."""

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)


class Parts:
    """Writes parts for one model."""

    def __init__(self, model: str) -> None:
        self.model = model

    def of(self, block: Block, parts: Sequence[Part]) -> Iterator[Encoded]:
        """Each part that has a form here."""
        for part in parts:
            encoded = self._one(part, block)
            if encoded is not None:
                yield encoded

    def answer(self, result: ToolResult, name: str, block: Block) -> tuple[Encoded, list[Encoded]]:
        """What a tool answered, and what goes beside it because it has no room inside."""
        response: Encoded = {} if result.call.startswith(ASKED) else {"id": result.call}
        response["name"] = name
        response["response"] = {"error" if result.error else "output": result.output}
        inside = [media for media in result.media if self._fits_answer(media)]
        beside = [media for media in result.media if not self._fits_answer(media)]
        if inside:
            response["parts"] = [_media(media) for media in inside]
        encoded = self._sealed({"function_response": response}, result.seal, block)
        return encoded, [_media(media) for media in beside]

    def _one(self, part: Part, block: Block) -> Encoded | None:
        match part:
            case Text():
                return self._sealed({"text": part.text}, part.seal, block) if part.text else None
            case Reasoning():
                return self._thought(part, block)
            case ToolCall():
                return self._call(part, block)
            case Media():
                return self._sealed(_media(part), part.seal, block)
            case Opaque():
                return self._opaque(part, block)
            case _:
                words = _words(part)
                return {"text": words} if words else None

    def _call(self, call: ToolCall, block: Block) -> Encoded:
        written: Encoded = {} if call.id.startswith(ASKED) else {"id": call.id}
        written |= {"name": call.name, "args": arguments(call.input)}
        return self._sealed({"function_call": written}, call.seal, block)

    def _thought(self, part: Reasoning, block: Block) -> Encoded | None:
        fields = self._fields(part.seal, block) if block.role == "assistant" else None
        return None if fields is None else {"text": part.text, "thought": True} | fields

    def _opaque(self, part: Opaque, block: Block) -> Encoded | None:
        return self._fields(Seal(part.owner, part.data, part.model, part.hash), block) or None

    def _sealed(self, encoded: Encoded, seal: Seal | None, block: Block) -> Encoded:
        for name, value in (self._fields(seal, block) or {}).items():
            inner = encoded.get(name)
            encoded[name] = inner | value if isinstance(inner, dict) else value
        return encoded

    def _fields(self, seal: Seal | None, block: Block) -> Encoded | None:
        """What a seal holds, where it may be shown to the model at hand; None elsewhere."""
        if seal is None or seal.owner != PROVIDER or not seal.intact:
            return None
        maker = seal.model or block.model
        ours = block.model == self.model or not maker or same_model(maker, self.model)
        try:
            fields = snaked(decode(seal.data, dict[str, Any])) if ours else None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if fields and block.role != "assistant":
            fields.pop("thought_signature", None)  # only the model signs (rule G5)
        return fields

    def _fits_answer(self, media: Media) -> bool:
        return signs(self.model) and bool(media.data) and media.type in IN_ANSWERS


def arguments(text: str) -> dict[str, Any]:
    """The object that a call's input is, or one around it."""
    if not text.strip():
        return {}
    if _depth(text) > DEEPEST:
        return {"input": text}
    try:
        value: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {"input": text}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"input": value}


def _depth(text: str) -> int:
    """How deep brackets are nested outside strings; 0 where there are too few to matter."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return 0
    deepest = depth = 0
    for found in _BRACKETS.finditer(text):
        depth += (found[0] in "[{") - (found[0] in "]}")
        deepest = max(deepest, depth)
    return deepest


def _words(part: Part) -> str:
    """What a part of ours says in plain words; nothing where it says nothing to a model."""
    match part:
        case SummaryText():
            return part.text
        case Patch():
            return part.diff
        case Subtask():
            return part.result
        case _:
            return ""


def _media(media: Media) -> Encoded:
    """A file by its bytes or its address. Its name is for people: the Developer API takes none."""
    if not taken(media.type):
        what = " ".join(filter(None, (media.type or "file", media.name)))
        return {"text": f"[{what}, {len(media.data)} bytes, left out: Gemini takes no such file]"}
    if media.data:
        data = b64encode(media.data).decode()
        return {"inline_data": {"mime_type": media.type, "data": data}}
    opening, comma, data = media.url.partition(";base64,")
    if comma and opening.startswith("data:"):
        return {"inline_data": {"mime_type": media.type, "data": data}}
    return {"file_data": {"mime_type": media.type, "file_uri": media.url}}
