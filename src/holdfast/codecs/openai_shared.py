"""What the two OpenAI formats share: reading loose JSON, opening seals, and parts in plain words.

Rule 1: nothing a provider sends is trusted to have its type; what has another counts as absent.
Rule 2: a seal or an opaque part is opened for its owner only, intact, and for the model it is from.
Rule 3: what a format cannot carry is said in words, never left out in silence.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from holdfast.model import wire
from holdfast.model.message import (
    Media,
    Opaque,
    Part,
    Patch,
    Seal,
    Snapshot,
    Subtask,
    SummaryText,
    Text,
    seal,
)
from holdfast.model.profile import Profile
from holdfast.model.reply import Usage
from holdfast.model.window import Block, Options, Tool

Fields = dict[str, Any]

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")
_HALF = re.compile("[\ud800-\udfff]")
_KEY_LENGTH = 64


def read(data: bytes) -> Fields | None:
    """The JSON object that these bytes are; None where they are anything else."""
    try:
        value = wire.decode(data, object)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return cast(Fields, value) if isinstance(value, dict) else None


def fields(value: object) -> Fields:
    """The object that a value is; an empty one where it is something else."""
    return cast("Fields", value) if isinstance(value, dict) else {}


def objects(value: object) -> list[Fields]:
    """The objects in a list; none where it is something else."""
    if not isinstance(value, list):
        return []
    return cast(
        "list[Fields]", [item for item in cast("list[Any]", value) if isinstance(item, dict)]
    )


def string(value: object) -> str:
    """The text that a value is; empty where it is something else."""
    return value if isinstance(value, str) else ""


def number(value: object) -> int:
    """The count that a value is; 0 where it is something else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def whole(pieces: Iterable[str]) -> str:
    """Pieces of a text put together; a character may have been cut into its two surrogates."""
    text = "".join(pieces)
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def without(source: Fields, *names: str) -> Fields:
    """The other fields, in their order."""
    return {name: value for name, value in source.items() if name not in names}


def sealed(owner: str, extras: Fields, model: str) -> Seal | None:
    """The fields we do not model, as a seal; None where there are none."""
    return seal(owner, wire.encode(extras), model) if extras else None


def opened(found: Seal | None, owner: str, model: str) -> Fields:
    """The fields of a seal that may be echoed; none where it may not."""
    if found is None or found.owner != owner or not found.intact:
        return {}
    return (read(found.data) or {}) if same_model(found.model, model) else {}


def echoed(part: Opaque, owner: str, model: str) -> Fields | None:
    """An opaque part as it came; None where it may not be echoed."""
    if part.owner != owner or not part.intact or not same_model(part.model, model):
        return None
    return read(part.data)


def same_model(made: str, asked: str) -> bool:
    """Whether both names are one model: a reply tells its date even where an alias was asked."""
    return not made or made == asked or _DATED.sub("", made) == _DATED.sub("", asked)


def words(part: Part) -> str | None:
    """A part as text where text is all it is; None where it is something else."""
    match part:
        case Text() | SummaryText():
            return part.text
        case Patch():
            return part.diff
        case Subtask():
            return part.result
        case Snapshot():
            return ""
        case _:
            return None


def note(media: Media) -> str:
    """What stands where a medium cannot go."""
    name = f" {media.name}" if media.name else ""
    return f"[{media.type or 'file'}{name} left out: it cannot be sent to this model]"


def takes_pictures(profile: Profile) -> bool:
    """Whether pictures may be sent: yes where nothing is known about the model."""
    return profile.can("images") or not profile.abilities


def location(media: Media) -> str:
    """Where a medium is: its own address, or its bytes as a data URL; empty where it is nowhere."""
    if media.data:
        return f"data:{media.type};base64,{b64encode(media.data).decode('ascii')}"
    return media.url


def arguments(text: str) -> str:
    """A call's input as the JSON object the wire wants: as it was written where it is one.

    Free text, and JSON cut short, go as the one field `input`: servers that render calls through a
    template decode this text, and refuse the whole request where it does not decode.
    """
    if not text.strip():
        return "{}"
    if text.lstrip()[:1] == "{" and read(text.encode("utf-8", "surrogatepass")) is not None:
        return text
    return wire.encode({"input": text}).decode("utf-8", "surrogatepass")


def prompt(blocks: tuple[Block, ...]) -> int:
    """How many blocks stand before the conversation: what the model is told to be."""
    for place, block in enumerate(blocks):
        if block.role not in ("system", "developer"):
            return place
    return len(blocks)


def together(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks, with those of one bundle that follow one another as the parts of one message."""
    if not any(block.bundle for block in blocks):
        return blocks
    made: list[Block] = []
    for block in blocks:
        last = made[-1] if made and block.bundle else None
        if last and (last.bundle, last.role) == (block.bundle, block.role):
            made[-1] = replace(last, parts=(*last.parts, *block.parts))
        else:
            made.append(block)
    return tuple(made)


def spoken(block: Block) -> str:
    """A block in words alone."""
    said = [note(part) if isinstance(part, Media) else words(part) for part in block.parts]
    return "\n\n".join(text for text in said if text)


def free_text(tools: tuple[Tool, ...]) -> frozenset[str]:
    """The names of the tools that take free text."""
    return frozenset(tool.name for tool in tools if tool.kind == "custom")


def toolbox(
    made: list[Fields], options: Options, choice: Callable[[str, list[Fields]], str | Fields]
) -> Fields:
    """The tools and how they may be used; nothing where there are none."""
    if not made:
        return {}
    box: Fields = {"tools": made}
    if options.tool_choice:
        wanted = options.tool_choice
        box["tool_choice"] = wanted if isinstance(wanted, dict) else choice(wanted, made)
    if options.parallel_tools is not None:
        box["parallel_tool_calls"] = options.parallel_tools
    return box


def cache_key(key: str) -> str:
    """A cache key of a length that is accepted (at most 64 characters)."""
    return key if len(key) <= _KEY_LENGTH else sha256(key.encode("utf-8", "replace")).hexdigest()


def usage(sent: int, sent_details: Fields, made: int, reasoning: int) -> Usage:
    """The four buckets: what OpenAI calls input includes what was read from and written to a cache.

    Where more was reasoned than made (xAI counts it apart), reasoning is added to the output.
    """
    cached = min(number(sent_details.get("cached_tokens")), sent)
    written = min(number(sent_details.get("cache_write_tokens")), sent - cached)
    long = number(fields(sent_details.get("cache_write_tokens_details")).get("ttl_12h_tokens"))
    return Usage(
        input=sent - cached - written,
        cache_read=cached,
        cache_write=written,
        cache_write_long=min(long, written),
        output=made if reasoning <= made else made + reasoning,
        reasoning=reasoning,
    )


USUAL = frozenset({"", "auto", "default", "standard", "on_demand"})
"""The words for the usual way of serving, which the prices are for."""


def served(used: Usage, tier: object) -> Usage:
    """The usage with how it was served, where that has a price of its own."""
    word = string(tier)
    return used if word in USUAL or not used.total else replace(used, tier=word)


def complaint(value: object) -> str:
    """What an `error` says, whether it is an object or a plain text."""
    said = fields(value)
    text = string(said.get("message")) or string(value)
    code = string(said.get("code")) or string(said.get("type"))
    return ": ".join(piece for piece in (code, text) if piece) or "the provider gave no reason"
