"""The blocks of a window as input items.

Rule 1: a message of the model is one item again: texts that came as one item go as one.
Rule 2: reasoning goes with the item it led to or not at all (O3), and only where it says something
        by itself: encrypted, in the open, or stored with its id at the provider (O5).
Rule 3: items go without their ids unless the provider stores them. An id makes the server look for
        the item and for its reasoning (O4): with `store` off it answers "Item with id 'rs_…' not
        found", while encrypted reasoning is accepted without one (the AI SDK's change log says so,
        and Codex sends none). What led to an item may be missing: then no item of that stretch has
        an id, and the server asks for nothing.
Rule 4: what one stretch of the model's words becomes depends on nothing outside of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import TypeGuard

from msgspec import Struct

from holdfast.codecs.openai_responses import calls
from holdfast.codecs.openai_shared import (
    PICTURES,
    Fields,
    echoed,
    fields,
    free_text,
    location,
    note,
    number,
    objects,
    opened,
    prompt,
    string,
    takes_pictures,
    together,
    without,
    words,
)
from holdfast.model.message import (
    Media,
    Opaque,
    Part,
    Reasoning,
    Role,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.profile import Profile
from holdfast.model.window import Block, Window

NEVER_SENT = frozenset({"ghost_snapshot", "other"})
"""Items that a client keeps for itself."""

NAMELESS = frozenset({"message", "reasoning", "web_search_call", *calls.KINDS}) - {"computer_call"}
"""Items that are accepted without their id; a hosted tool's others are echoed with it."""

_ROLES: dict[Role, str] = {
    "system": "developer",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "user",
}


class Piece(Struct):
    """An item on its way, and whether it is the provider's own."""

    item: Fields
    """Empty where a part had to be left out."""
    own: bool = False
    origin: Fields | None = None
    """What a message was sealed with, so that its other texts find it."""
    reasoning: bool = False


class Writer:
    """Writes the items of one request."""

    def __init__(
        self, window: Window, profile: Profile, provider: str, *, ids: bool, stored: bool
    ) -> None:
        self._blocks = together(window.blocks)
        self._model, self._provider = window.model, provider
        self._ids, self._stored = ids, stored
        self._thinks = profile.can("thinking")
        self._pictures = takes_pictures(profile)
        self._custom = free_text(window.tools)
        parts = [part for block in window.blocks for part in block.parts]
        self._results = {part.call: part for part in parts if isinstance(part, ToolResult)}
        self._kinds: dict[str, calls.Kind] = {}
        hosted = [self._echo(part) or {} for part in parts if _of_a_pair(part)]
        answered = {answer for item in hosted if (answer := calls.answers(item))}
        self._pairs = answered & {call for item in hosted if (call := calls.asks(item))}

    def items(self) -> list[Fields]:
        """Every item, in order; leading system blocks are the instructions, not items."""
        ahead = prompt(self._blocks)
        said = [
            block
            for place, block in enumerate(self._blocks)
            if place >= ahead or block.role != "system"
        ]
        found: list[Fields] = []
        for of_model, stretch in groupby(said, lambda block: block.role == "assistant"):
            blocks = list(stretch)
            found += self._own(blocks) if of_model else self._others(blocks)
        return found

    def _others(self, stretch: list[Block]) -> Iterator[Fields]:
        for block in stretch:
            pieces = self._pieces([block])
            yield from (_plain(piece) for piece in pieces if piece.item and not piece.reasoning)

    def _own(self, stretch: list[Block]) -> list[Fields]:
        pieces = self._pieces(stretch)
        named = self._ids and self._complete(pieces)
        if not named and not any(piece.reasoning for piece in pieces):
            return [_plain(piece) for piece in pieces if piece.item]
        kept: list[Piece] = []
        for piece in reversed(pieces):
            stands = not piece.reasoning or (kept and (named or _tells(piece.item)))
            if piece.item and stands:
                kept.append(piece)
        return [piece.item if named else _plain(piece) for piece in reversed(kept)]

    def _complete(self, pieces: list[Piece]) -> bool:
        """Whether all that a stretch came with is here, each reasoning before its own item."""
        if not all(piece.item for piece in pieces):
            return False
        if self._thinks and not any(piece.reasoning for piece in pieces[:1]):
            return False
        if not self._stored and not all(_tells(p.item) for p in pieces if p.reasoning):
            return False
        pairs = pairwise([*pieces, Piece({})])
        return all(after.own for piece, after in pairs if piece.reasoning)

    def _pieces(self, blocks: list[Block]) -> list[Piece]:
        found: list[Piece] = []
        for block in blocks:
            opening = len(found)
            for part in block.parts:
                if type(part) is Text and part.text and part.seal is None:  # as most are
                    content: Fields = {"type": _content_type(block.role), "text": part.text}
                    self._say(content, None, block.role, found, opening)
                elif not (isinstance(part, SummaryText) and _compacted(found, opening)):
                    self._put(part, block.role, found, opening)
        return found

    def _put(self, part: Part, role: Role, found: list[Piece], opening: int) -> None:
        match part:
            case ToolCall():
                found.append(self._call(part))
            case ToolResult():
                found.append(self._result(part))
            case Reasoning():
                found.append(self._reasoning(part))
            case Opaque():
                if part.type not in NEVER_SENT:
                    found.append(self._opaque(part))
            case Media():
                self._say(self._medium(part, role), None, role, found, opening)
            case _:
                self._text(part, role, found, opening)

    def _reasoning(self, part: Reasoning) -> Piece:
        extras = without(opened(part.seal, self._provider, self._model), "chat")
        bare: Fields = {"type": "reasoning", "summary": []}
        item = bare | extras if extras else {}
        return Piece(item, own=True, reasoning=bool(item))

    def _opaque(self, part: Opaque) -> Piece:
        item = self._echo(part) or {}
        call = calls.asks(item) or calls.answers(item)
        paired = not _of_a_pair(part) or call in self._pairs
        stays = paired or item.get("execution") == "server"
        reasoning = stays and item.get("type") == "reasoning"
        return Piece(item if stays else {}, own=True, reasoning=reasoning)

    def _echo(self, part: Opaque) -> Fields | None:
        """An item as it came; what is a piece of Chat Completions is none."""
        return None if part.type.startswith("chat.") else echoed(part, self._provider, self._model)

    def _call(self, part: ToolCall) -> Piece:
        extras = opened(part.seal, self._provider, self._model)
        kind = calls.kind_of(part, extras, self._custom)
        fit = calls.fitting(kind, self._results.get(part.id), self._content)
        self._kinds[part.id] = fit
        extras = extras if fit is kind else {}
        return Piece(calls.item(part, fit, extras), own=bool(extras))

    def _result(self, part: ToolResult) -> Piece:
        extras = opened(part.seal, self._provider, self._model)
        kind = self._kinds.get(part.call, calls.FUNCTION)
        item = calls.output(part, kind, self._content, extras)
        return Piece(item or calls.output(part, calls.FUNCTION, self._content, {}) or {})

    def _content(self, part: ToolResult) -> str | list[Fields]:
        if not part.media:
            return part.output
        text = [{"type": "input_text", "text": part.output}] if part.output else []
        return [*text, *(self._medium(media, "tool") for media in part.media)]

    def _text(self, part: Part, role: Role, found: list[Piece], opening: int) -> None:
        text = words(part)
        if not text:
            return
        # What a model's words were sealed with is no field of anybody else's.
        seal = part.seal if isinstance(part, Text) and role == "assistant" else None
        extras = opened(seal, self._provider, self._model)
        content: Fields = {"type": _content_type(role), "text": text}
        if not extras:
            self._say(content, None, role, found, opening)
            return
        inner = fields(extras.get("content"))
        origin = without(extras, "content")
        content |= without(inner, "text")
        if inner.get("type") == "refusal":
            content = {"type": "refusal", "refusal": text} | without(inner, "type", "refusal")
        self._say(content, origin, role, found, opening)

    def _say(
        self, content: Fields, seal: Fields | None, role: Role, found: list[Piece], opening: int
    ) -> None:
        """Add to the message that stands open, or open another."""
        origin = without(seal, "content_index") if seal else None
        joins = seal is None or number(seal.get("content_index")) > 0
        last = _last(found, opening) if joins and len(found) > opening else None
        if last and last.item.get("role") == _ROLES[role] and last.origin == origin:
            last.item["content"].append(content)
            return
        item: Fields = {"type": "message", "role": _ROLES[role], "content": [content]}
        if origin:
            item |= without(origin, "type", "role", "chat")
        found.append(Piece(item, own=origin is not None, origin=origin))

    def _medium(self, media: Media, role: Role) -> Fields:
        place = location(media)
        extras = without(opened(media.seal, self._provider, self._model), "type", "chat")
        if role == "assistant" or not place:
            return {"type": _content_type(role), "text": note(media)}
        if media.type in PICTURES and self._pictures:
            return {"type": "input_image", "image_url": place, "detail": "auto"} | extras
        if media.type == "application/pdf":
            named = {"file_url": place} if not media.data else {
                "filename": media.name or "document.pdf", "file_data": place,
            }  # fmt: skip
            return {"type": "input_file"} | named | extras
        return {"type": "input_text", "text": note(media)}


def _last(found: list[Piece], opening: int) -> Piece | None:
    """The newest piece that was not left out, of those since an opening."""
    for place in range(len(found) - 1, opening - 1, -1):
        if found[place].item:
            return found[place]
    return None


def _compacted(found: list[Piece], opening: int) -> bool:
    """Whether the server's own compaction was just written, which says what follows it."""
    last = _last(found, opening)
    return last is not None and last.item.get("type") == "compaction"


def _content_type(role: Role) -> str:
    return "output_text" if role == "assistant" else "input_text"


def _of_a_pair(part: Part) -> TypeGuard[Opaque]:
    """Whether an opaque part is a call or an answer, which go together or not at all (O1, O2)."""
    return isinstance(part, Opaque) and (part.type in calls.KINDS or part.type in calls.OUTPUTS)


def _plain(piece: Piece) -> Fields:
    """An item without its id, where it can be without."""
    item = piece.item
    return without(item, "id") if "id" in item and item.get("type") in NAMELESS else item


def _tells(item: Fields) -> bool:
    """Whether reasoning can be understood without its id."""
    return bool(string(item.get("encrypted_content")) or objects(item.get("content")))
