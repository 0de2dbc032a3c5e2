"""The blocks of a window as chat messages.

Rule 1: each of the model's blocks is a message of its own, so that a later one changes no earlier
        one (law 8), and the answers to its calls follow it at once (O7); pictures that tools made
        come after all of the answers.
Rule 2: OpenAI knows developers and free-text tools. The servers that speak its format often do not
        (their templates raise on an unknown role): to them a later instruction is a reminder from
        the user, and free text is the `input` of a function.
Rule 3: reasoning in the open (`reasoning_content`, `reasoning`) goes back to whoever wrote it:
        DeepSeek answers 400 where it is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from holdfast.codecs.openai_shared import (
    PICTURES,
    Fields,
    arguments,
    echoed,
    fields,
    free_text,
    location,
    note,
    opened,
    prompt,
    spoken,
    takes_pictures,
    together,
    without,
    words,
)
from holdfast.model.message import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from holdfast.model.profile import Profile
from holdfast.model.window import Block, Window

MODELLED = ("role", "content", "tool_calls")


class Writer:
    """Writes the messages of one request."""

    def __init__(self, window: Window, profile: Profile, provider: str) -> None:
        self._blocks = together(window.blocks)
        self._model, self._provider = window.model, provider
        self._openai = provider == "openai"
        self._pictures = takes_pictures(profile)
        self._custom = free_text(window.tools)

    def messages(self) -> list[Fields]:
        """Every message, the system prompt first."""
        ahead = prompt(self._blocks)
        found = list(self._prompt(self._blocks[:ahead]))
        for role, stretch in groupby(self._blocks[ahead:], lambda block: block.role):
            blocks = list(stretch)
            if role == "assistant":
                found += [message for block in blocks for message in self._own(block)]
            elif role == "tool":
                found += self._answers([part for block in blocks for part in block.parts])
            else:
                found += [message for block in blocks for message in self._other(block)]
        return found

    def _prompt(self, blocks: tuple[Block, ...]) -> Iterator[Fields]:
        told = [block for block in blocks if block.role == "system" or not self._openai]
        if text := "\n\n".join(text for block in told if (text := spoken(block))):
            yield {"role": "system", "content": text}
        for block in blocks:
            if self._openai and block.role == "developer" and (text := spoken(block)):
                yield {"role": "developer", "content": text}

    def _other(self, block: Block) -> Iterator[Fields]:
        if block.role == "user":
            yield from self._answers(list(block.parts))
        elif text := spoken(block):
            yield self._instruction(block, text)

    def _instruction(self, block: Block, text: str) -> Fields:
        """An instruction in the middle of a conversation."""
        if self._openai:
            return {"role": "developer", "content": text}
        if all(isinstance(part, Text) and part.scaffold for part in block.parts):
            return {"role": "user", "content": text}
        return {"role": "user", "content": f"<system-reminder>\n{text}\n</system-reminder>"}

    def _answers(self, parts: list[Part]) -> Iterator[Fields]:
        """The answers of tools, then what was said or shown beside them."""
        beside: list[Fields] = []
        for part in parts:
            if isinstance(part, ToolResult):
                yield self._answer(part, beside)
            else:
                beside += self._content(part)
        if beside:
            yield {"role": "user", "content": _simple(beside)}

    def _answer(self, part: ToolResult, beside: list[Fields]) -> Fields:
        texts = [part.output] if part.output else []
        for media in part.media:
            shown = self._medium(media)
            if shown["type"] == "text":
                texts.append(shown["text"])
            else:
                beside += [{"type": "text", "text": f"From tool call {part.call}:"}, shown]
        return {"role": "tool", "tool_call_id": part.call, "content": "\n\n".join(texts)}

    def _content(self, part: Part) -> list[Fields]:
        if isinstance(part, Media):
            return [self._medium(part)]
        text = words(part)
        return [{"type": "text", "text": text}] if text else []

    def _medium(self, media: Media) -> Fields:
        place = location(media)
        if media.type in PICTURES and place and self._pictures:
            detail = opened(media.seal, self._provider, self._model).get("detail")
            return {
                "type": "image_url",
                "image_url": {"url": place} | ({"detail": detail} if detail else {}),
            }
        if media.type == "application/pdf" and media.data and self._openai:
            file = {"filename": media.name or "document.pdf", "file_data": place}
            return {"type": "file", "file": file}
        return {"type": "text", "text": note(media)}

    def _own(self, block: Block) -> list[Fields]:
        """What the model said at once, as one message; none where nothing is left of it."""
        parts = list(block.parts)
        calls = [self._call(part) for part in parts if isinstance(part, ToolCall)]
        message: Fields = {"role": "assistant", **self._said(parts)}
        if not calls and message["content"] is None:
            return []
        if calls:
            if message["content"] is None and not self._openai:
                message["content"] = ""  # a template would write the word None
            message["tool_calls"] = calls
        for part in parts:
            message |= without(self._extras(part), *MODELLED)
        results = [part for part in parts if isinstance(part, ToolResult)]
        return [message, *self._answers([*results])]

    def _said(self, parts: list[Part]) -> Fields:
        texts: list[str] = []
        refusals: list[str] = []
        for part in parts:
            text = note(part) if isinstance(part, Media) else words(part)
            if text:
                (refusals if self._refuses(part) else texts).append(text)
        text, refusal = "\n\n".join(texts), "\n\n".join(refusals)
        if refusal and text:
            return {"content": text, "refusal": refusal}
        if refusal:
            return {"content": [{"type": "refusal", "refusal": refusal}]}
        return {"content": text or None}

    def _refuses(self, part: Part) -> bool:
        if not self._openai or not isinstance(part, Text):
            return False
        inner = opened(part.seal, self._provider, self._model).get("content")
        return fields(inner).get("type") == "refusal"

    def _extras(self, part: Part) -> Fields:
        """What belongs to the whole message: open reasoning, and the fields we do not model."""
        if isinstance(part, Reasoning):
            return fields(opened(part.seal, self._provider, self._model).get("chat"))
        if isinstance(part, Opaque) and part.type == "chat.message":
            return echoed(part, self._provider, self._model) or {}
        return {}

    def _call(self, part: ToolCall) -> Fields:
        extras = opened(part.seal, self._provider, self._model)
        custom = extras.get("type") == "custom_tool_call" or part.name in self._custom
        outer = fields(extras.get("chat"))
        inner = fields(outer.get("function"))
        if custom and self._openai:
            body: Fields = {"type": "custom", "custom": {"name": part.name, "input": part.input}}
        else:
            function = {"name": part.name, "arguments": arguments(part.input)}
            body = {"type": "function", "function": function | inner}
        return {"id": part.id, **body} | without(outer, "function")


def _simple(content: list[Fields]) -> str | list[Fields]:
    """One text where all is text: many servers take nothing else."""
    if all(entry["type"] == "text" for entry in content):
        return "\n\n".join(entry["text"] for entry in content)
    return content
