"""One block of the window as content blocks of the wire.

Rule 1: a seal is merged back, and an opaque block inserted, only for the model that made it; what a
        part itself says always wins over its seal.
Rule 2: the thinking of one message is echoed whole or not at all; unsigned thinking never is.
Rule 3: what has no native form becomes words, and what is left out is said.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Any, cast

import msgspec
from msgspec import Struct

from holdfast.codecs.anthropic.blocks import OWNER
from holdfast.codecs.anthropic.raw import Garbled, value
from holdfast.model.image_header import media_type
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
from holdfast.model.profile import Profile
from holdfast.model.window import Block

IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})

MODELLED = frozenset({"text", "thinking", "tool_use", "tool_result"})
"""Types that are never echoed as they are: a whole one is a part of its own."""

REMINDER = "system-reminder"

SILENT_FAILURE = "The tool failed and said nothing."

_VERSION = re.compile(r"(?:\[1m\]|-latest|-v\d{1,4}(?::\d{1,4})?|[@-]\d{8})+$")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


class Target(Struct, frozen=True, kw_only=True):
    """Where the request goes, as far as its blocks depend on it."""

    model: str
    profile: Profile
    free: frozenset[str] = frozenset()
    """Tools that take free text, by name."""
    signed_compaction: bool = True
    """Whether a signed compaction block may be echoed."""

    def made(self, owner: str, model: str) -> bool:
        """Whether what this owner's model sealed may go back to it."""
        return owner == OWNER and (not model or same_model(model, self.model))

    def takes(self, what: str) -> bool:
        """Whether the model takes images or documents; a profile that tells nothing allows them."""
        return not self.profile.abilities or what in self.profile.abilities


def same_model(one: str, other: str) -> bool:
    """Whether two names mean one model: an alias is answered under a dated name."""
    return _undated(one) == _undated(other)


@lru_cache(maxsize=256)
def _undated(name: str) -> str:
    name = name.lower().rpartition("/")[2]
    return _VERSION.sub("", name.rpartition("anthropic.")[2])


def wire_blocks(block: Block, target: Target) -> list[dict[str, Any]]:
    """The content blocks that a user, tool or assistant block of the window becomes."""
    thoughts = _thoughts(block, target)
    echoed: list[dict[str, Any]] = []
    for place, part in enumerate(block.parts):
        if isinstance(part, Reasoning) or _redacted(part):
            made = thoughts.get(place)
        elif isinstance(part, SummaryText) and _says(echoed, part.text, block):
            continue  # the compaction block beside it says the same
        else:
            made = _written(part, block, target)
        if made is not None:
            echoed.append(made)
    return echoed


def words_of(part: Part) -> str | None:
    """The words that a part is sent as; None where it is more than words."""
    if isinstance(part, Text | SummaryText):
        return part.text
    if isinstance(part, Patch):
        return part.diff
    return part.result if isinstance(part, Subtask) else None


def _written(part: Part, block: Block, target: Target) -> dict[str, Any] | None:
    if (words := words_of(part)) is not None:
        return _text(part, words, block, target)
    if isinstance(part, ToolCall):
        return _tool_use(part, block, target) if block.role == "assistant" else None
    if isinstance(part, ToolResult):
        return _tool_result(part, block, target) if block.role != "assistant" else None
    if isinstance(part, Media):
        # No picture or document may stand in what the assistant says (Messages API, 2026-10-21).
        made = _media(part, block, target) if block.role != "assistant" else None
        return made or {"type": "text", "text": note(part)}
    return _opaque(part, block, target) if isinstance(part, Opaque) else None


def _text(part: Part, words: str, block: Block, target: Target) -> dict[str, Any] | None:
    if not words.strip():
        return None
    # Citations are legal on what the assistant said, and nowhere else.
    seal = part.seal if isinstance(part, Text) and block.role == "assistant" else None
    tagged = block.role in ("system", "developer") and not (
        isinstance(part, Text) and part.scaffold
    )
    return rest(seal, block, target) | {
        "type": "text",
        "text": reminder(words) if tagged else words,
    }


def reminder(words: str) -> str:
    """An instruction given amid the conversation: no role of its own is left for it here.

    Older models refuse a message of the role system outright.
    """
    return f"<{REMINDER}>\n{words.replace(f'</{REMINDER}>', f'&lt;/{REMINDER}&gt;')}\n</{REMINDER}>"


def _tool_use(part: ToolCall, block: Block, target: Target) -> dict[str, Any]:
    name = legal_name(part.name)
    input = call_input(part.input, free=name in target.free)
    whole = {"type": "tool_use", "id": legal_id(part.id), "name": name, "input": input}
    return whole | rest(part.seal, block, target, but=whole)


def _tool_result(part: ToolResult, block: Block, target: Target) -> dict[str, Any]:
    content: Any = part.output
    if part.media:
        said = [{"type": "text", "text": part.output}] if part.output.strip() else []
        shown = [
            _media(media, block, target) or {"type": "text", "text": note(media)}
            for media in part.media
        ]
        content = said + shown
    elif not part.output.strip():
        # "content cannot be empty if `is_error` is true" (Messages API)
        content = SILENT_FAILURE if part.error else None
    whole: dict[str, Any] = {"type": "tool_result", "tool_use_id": legal_id(part.call)}
    whole |= {} if content is None else {"content": content}
    whole |= {"is_error": True} if part.error else {}
    return whole | rest(part.seal, block, target, but=("content", "is_error", *whole))


def _media(part: Media, block: Block, target: Target) -> dict[str, Any] | None:
    kind = (media_type(part.data) or part.type) if part.data else part.type
    if kind in IMAGES and target.takes("images"):
        shell: dict[str, Any] = {"type": "image"}
    elif kind in ("application/pdf", "text/plain") and target.takes("documents"):
        shell = {"type": "document", **({"title": part.name} if part.name else {})}
    else:
        return None
    source = _source(part, kind)
    whole = shell | ({"source": source} if source else {})
    whole |= rest(part.seal, block, target, but=whole)
    return whole if "source" in whole else None


def _source(part: Media, kind: str) -> dict[str, Any] | None:
    if part.data and kind == "text/plain":
        text = part.data.decode("utf-8", "replace")
        return {"type": "text", "media_type": kind, "data": text} if text.strip() else None
    if part.data:
        data = b64encode(part.data).decode("ascii")
        return {"type": "base64", "media_type": kind, "data": data}
    if part.url.startswith(("https://", "http://")) and kind != "text/plain":
        return {"type": "url", "url": part.url}
    return None


def note(part: Media) -> str:
    """What stands for a picture or document that cannot be sent."""
    size = f", {len(part.data)} bytes" if part.data else f" at {part.url[:200]}" * bool(part.url)
    name = f" {part.name!r}" if part.name else ""
    return f"[{part.type or 'media'}{name}{size}: left out, it cannot be sent here]"


def _opaque(part: Opaque, block: Block, target: Target) -> dict[str, Any] | None:
    if part.type in MODELLED or not part.intact:
        return None
    if not target.made(part.owner, part.model or block.model):
        return None
    found = _json(part.data)
    if found.get("type") != part.type:
        return None
    if part.type == "compaction" and found.get("signature") and not target.signed_compaction:
        return None
    found.pop("cache_control", None)  # where the cache ends is the window's business
    return found


def _sealed(part: Part, block: Block, target: Target) -> dict[str, Any] | None:
    if isinstance(part, Opaque):
        return _opaque(part, block, target)
    if not isinstance(part, Reasoning):
        return None
    seal = rest(part.seal, block, target, but=("thinking",))
    if not seal.get("signature"):
        return None
    return {"type": "thinking", "thinking": part.text} | seal


def _thoughts(block: Block, target: Target) -> dict[int, dict[str, Any]]:
    """The sealed thoughts of a message by their place, if all may go back: one less changes it."""
    if block.role != "assistant":
        return {}
    found = {
        place: _sealed(part, block, target)
        for place, part in enumerate(block.parts)
        if (isinstance(part, Reasoning) and part.seal is not None) or _redacted(part)
    }
    whole = {place: thought for place, thought in found.items() if thought is not None}
    return whole if len(whole) == len(found) else {}


def _redacted(part: Part) -> bool:
    return isinstance(part, Opaque) and part.type == "redacted_thinking"


def _says(echoed: list[dict[str, Any]], text: str, block: Block) -> bool:
    last = echoed[-1] if echoed else {}
    same = block.section == "summary" or last.get("content") == text
    return last.get("type") == "compaction" and same


def rest(
    seal: Seal | None, block: Block, target: Target, but: Iterable[str] = ()
) -> dict[str, Any]:
    """The further members of a block, where its seal may go back; nothing otherwise."""
    if seal is None or not seal.intact or not target.made(seal.owner, seal.model or block.model):
        return {}
    never = {"type", "cache_control", *but}
    return {key: member for key, member in _json(seal.data).items() if key not in never}


def _json(data: bytes) -> dict[str, Any]:
    """What cannot be read, or cannot be written as UTF-8 again, is nothing."""
    try:
        found = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def legal_id(id: str) -> str:
    """An id as the format takes it; another's that does not fit gets one made from it."""
    if id and not _ILLEGAL.search(id):
        return id
    return "call_" + sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def legal_name(name: str) -> str:
    """A tool's name as the format takes it; told apart by a hash where it had to change."""
    if name and len(name) <= 128 and not _ILLEGAL.search(name):
        return name
    mark = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_ILLEGAL.sub('_', name)[:100] or 'tool'}_{mark}"


def call_input(written: str, *, free: bool) -> dict[str, Any]:
    """The object that a call's input is on the wire.

    An input cut short is no JSON. The guide to fine-grained tool streaming says to send it wrapped
    under a key of its own, so nothing the model wrote is lost. Free text is wrapped likewise.
    """
    if not written.strip():
        return {}
    try:
        found = msgspec.json.decode(written)
    except (ValueError, RecursionError):
        found = _mended(written)
    if isinstance(found, dict):
        return cast(dict[str, Any], found)
    return {"input" if free else "INVALID_JSON": _without_surrogates(written)}


def _mended(written: str) -> Any:
    """Input that only lone surrogates keep from being sent, with these replaced."""
    try:
        return _plain(value(written.encode("utf-8", "surrogatepass")))
    except (Garbled, RecursionError):
        return None


def _plain(found: Any) -> Any:
    if isinstance(found, str):
        return _without_surrogates(found)
    if isinstance(found, list):
        return [_plain(item) for item in cast(list[Any], found)]
    if isinstance(found, dict):
        members = cast(dict[str, Any], found)
        return {_without_surrogates(key): _plain(item) for key, item in members.items()}
    if isinstance(found, float) and not math.isfinite(found):
        raise Garbled("not a number that JSON knows")
    return found


def _without_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
