"""From the blocks of a message to parts: what was said, called, answered and shown."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.codecs.anthropic.blocks import parts as decoded
from holdfast.codecs.anthropic.raw import Garbled, fields, items, written
from holdfast.codecs.anthropic.raw import words as text
from holdfast.importers.values import picture
from holdfast.model.message import Media, Message, Part, Text, ToolResult, opaque

OWNER = "anthropic"
"""Whose signatures thinking carries."""

REMINDER = "system-reminder"
"""What is told to the model, and not by the user."""


def nameless(uuid: str) -> str:
    """The id of a call whose own is missing, by the record that makes it."""
    return f"call-{uuid}"


def replied(data: bytes, content: bytes, model: str, uuid: str) -> list[Part]:
    """What a model said, as its own codec reads it, from the bytes of a record and of its content,
    where that is known."""
    try:
        content = content or fields(fields(data)["message"]).get("content", b"[]")
        if content.startswith(b'"'):
            return [Text(msgspec.json.decode(content, type=str))]
        blocks = items(content)
    except (Garbled, KeyError, msgspec.DecodeError):
        return []
    return [part for block in blocks for part in _parts(block, model, uuid)]


def _parts(block: bytes, model: str, uuid: str) -> tuple[Part, ...]:
    try:
        members = fields(block)
        if text(members.get("type")) == "tool_use" and not text(members.get("id")):
            members["id"] = written(nameless(uuid))
        return decoded(members, model)
    except Garbled:
        return (opaque(OWNER, "unreadable", block, model),)


def asked(content: Any, *, meta: bool = False, answers: str = "") -> list[Message]:
    """What stands in a user's record: answers of tools, and words and pictures beside them.

    `answers` is the call that an answer is to where it does not say.
    """
    if type(content) is str:
        return [Message("user", (words(content, meta),))]
    results: list[Part] = []
    said: list[Part] = []
    for block in content if type(content) is list else ():
        if type(block) is not dict:
            said += [words(block, meta)] if type(block) is str else []
        elif block.get("type") == "tool_result":
            results.append(result(block, answers))
        else:
            said += shown(block, meta)
    made = [Message("tool", tuple(results))] if results else []
    return [*made, Message("user", tuple(said))] if said else made


def words(text: str, meta: bool) -> Text:
    """Somebody's words, or the program's."""
    return Text(text, scaffold=REMINDER if meta else "")


def shown(block: dict[str, Any], meta: bool) -> list[Part]:
    """Words, or a picture; nothing where it is something else, which its record keeps."""
    kind = block.get("type")
    if kind == "text" and type(block.get("text")) is str:
        return [words(block["text"], meta)]
    found = media(block) if kind in ("image", "document") else None
    return [found] if found else []


def result(block: dict[str, Any], answers: str = "") -> ToolResult:
    """What a tool answered."""
    content = block.get("content")
    texts = [content] if type(content) is str else []
    pictures: list[Media] = []
    for inner in content if type(content) is list else ():
        if type(inner) is dict and type(inner.get("text")) is str:
            texts.append(inner["text"])
        elif type(inner) is dict and (found := media(inner)):
            pictures.append(found)
    return ToolResult(
        call=_text(block, "tool_use_id") or answers,
        output="\n".join(texts),
        error=block.get("is_error") is True,
        media=tuple(pictures),
    )


def media(block: dict[str, Any]) -> Media | None:
    """A picture or document; None where its bytes are not there."""
    source = block.get("source")
    if type(source) is not dict:
        return None
    kind, data = _text(source, "type"), _text(source, "data")
    media_type, name = _text(source, "media_type"), _text(block, "title")
    if kind == "url" and _text(source, "url"):
        return Media(type=media_type or "image/png", url=_text(source, "url"), name=name)
    if kind == "text" and data:
        raw = data.encode("utf-8", "surrogatepass")
        return Media(type=media_type or "text/plain", data=raw, name=name)
    return picture(media_type, data, name)


def thinned(content: Any) -> Any:
    """A user's content without what its parts say in full; None where they say it all."""
    if type(content) is str:
        return None
    if type(content) is not list:
        return content
    return None if all(map(_is_plain, content)) else [_thinned(block) for block in content]


def _thinned(block: Any) -> Any:
    if type(block) is not dict:
        return block
    inner = block.get("content")
    if type(inner) is list:
        return block | {"content": [_thinned(one) for one in inner]}
    if media(block):
        return block | {"source": block["source"] | {"data": ""}}
    said = block.get("type") in ("text", "tool_result")
    return {k: v for k, v in block.items() if not (said and k in ("text", "content"))}


def _is_plain(block: Any) -> bool:
    if type(block) is not dict:
        return False
    if block.get("type") == "text":
        return block.keys() == {"type", "text"} and type(block["text"]) is str
    known = {"type", "tool_use_id", "content", "is_error"}
    answers = block.get("type") == "tool_result" and type(block.get("content")) is str
    return answers and block.keys() <= known


def _text(table: dict[str, Any], name: str) -> str:
    value = table.get(name)
    return value if type(value) is str else ""
