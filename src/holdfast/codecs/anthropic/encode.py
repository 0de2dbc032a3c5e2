"""The window as a request.

Rule 1: what the user and the tools say between two replies is one message, results first (A3).
Rule 2: the same blocks always give the same bytes, and more blocks never change earlier ones.
Rule 3: a request that names betas is for `client.beta.messages.create`, which alone takes
        `context_management`, `compaction` and `betas`; any other for `client.messages.create`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct

from holdfast.codecs.anthropic import pairs
from holdfast.codecs.anthropic.blocks import OWNER
from holdfast.codecs.anthropic.pieces import Target, legal_name, note, wire_blocks, words_of
from holdfast.codecs.anthropic.settings import betas, settings
from holdfast.model.message import Media
from holdfast.model.profile import Profile
from holdfast.model.window import Block, Options, Tool, Window

CONTINUE = "Continue."
"""Said for the user where a request would begin or end with a reply, and must not."""

MOST_BREAKPOINTS = 4

CACHED = frozenset(
    {"text", "image", "document", "search_result", "tool_use", "tool_result", "compaction"}
)
"""Blocks that may carry `cache_control`, besides the provider's own tools and their results."""


class Piece(Struct, frozen=True):
    """One content block on its way, and the block of the window that it came from."""

    role: str
    index: int
    wire: dict[str, Any]


def encode(window: Window, profile: Profile, options: Options) -> dict[str, Any]:
    """The request, as the official SDK takes it."""
    target = _target(window, profile, options)
    opening = _opening(window.blocks)
    tools = [wire for tool in window.tools if (wire := _tool(tool)) is not None]
    system = _system(window.blocks[:opening])
    said = _paired(
        _compacted_first(
            [
                Piece(_speaker(block, wire), index, wire)
                for index, block in enumerate(window.blocks[opening:], opening)
                for wire in wire_blocks(block, target)
            ]
        )
    )
    turns = _turns(said)
    if options.cache:
        ordered = [piece for turn in turns for piece in turn]
        _mark(window.breakpoints, options.cache_ttl, [*_offered(tools), *system, *ordered])
    messages = [{"role": turn[0].role, "content": [piece.wire for piece in turn]} for turn in turns]
    framed = _framed(messages)
    request = settings(window, options, framed)
    request |= {"tools": tools} if tools else {}
    request |= {"system": [piece.wire for piece in system]} if system else {}
    thinks = request.get("thinking", {}).get("type") == "enabled"
    prefill = profile.can("prefill") and not thinks and _ends_with_reply(messages)
    request["messages"] = _prefilled(framed[:-1]) if prefill else framed
    request |= options.extra
    if named := betas(options, messages, window.model):
        request["betas"] = named
    return request


def _target(window: Window, profile: Profile, options: Options) -> Target:
    edits = options.server_edits.get("edits") or ()
    return Target(
        model=window.model,
        profile=profile,
        free=frozenset(legal_name(tool.name) for tool in window.tools if tool.kind == "custom"),
        # A signed compaction block is refused beside an edit that compacts (SDK, tool runner).
        signed_compaction=not any(str(edit.get("type")).startswith("compact_") for edit in edits),
    )


def _speaker(block: Block, wire: dict[str, Any]) -> str:
    if block.section == "summary" and wire["type"] == "compaction":
        return "compaction"
    return "assistant" if block.role == "assistant" else "user"


def _compacted_first(pieces: list[Piece]) -> list[Piece]:
    """What stands before a compaction is not read, so the one that stands comes first."""
    made = [piece for piece in pieces if piece.role == "compaction"]
    if not made:
        return pieces
    rest = [piece for piece in pieces if piece.role != "compaction"]
    return [Piece("assistant", made[-1].index, made[-1].wire), *rest]


def _opening(blocks: Sequence[Block]) -> int:
    """Where the conversation begins: behind the leading instructions."""
    for index, block in enumerate(blocks):
        if block.role not in ("system", "developer"):
            return index
    return len(blocks)


def _system(blocks: Sequence[Block]) -> list[Piece]:
    """The system prompt, which is text only."""
    found: list[Piece] = []
    for index, block in enumerate(blocks):
        for part in block.parts:
            text = note(part) if isinstance(part, Media) else words_of(part)
            if text and text.strip():
                found.append(Piece("system", index, {"type": "text", "text": text}))
    return found


def _tool(tool: Tool) -> dict[str, Any] | None:
    if tool.native:
        native = {key: member for key, member in tool.native.items() if key != "cache_control"}
        return native if tool.owner == OWNER else None
    schema: dict[str, Any] = {"type": "object", **tool.schema}
    if tool.kind == "custom":  # free text is the one field of an object here
        fields = {"properties": {"input": {"type": "string"}}, "required": ["input"]}
        schema = {"type": "object", **fields}
    wire: dict[str, Any] = {"name": legal_name(tool.name)}
    wire |= {"description": tool.description} if tool.description else {}
    return wire | {"input_schema": schema}


def _offered(tools: list[dict[str, Any]]) -> list[Piece]:
    """The tools that a cache may end behind: not those that are loaded later."""
    return [Piece("tools", -1, tool) for tool in tools if not tool.get("defer_loading")]


def _turns(pieces: list[Piece]) -> list[list[Piece]]:
    """Pieces of one role in a row are one message, results of tools first."""
    rows = [list(row) for _, row in groupby(pieces, key=lambda piece: piece.role)]
    return [
        sorted(row, key=lambda piece: piece.wire["type"] != "tool_result")
        if row[0].role == "user"
        else row
        for row in rows
    ]


def _paired(pieces: list[Piece]) -> list[Piece]:
    """The same without calls and results of the provider's tools that miss each other (A4)."""
    kept = pieces
    if any(piece.wire["type"] in pairs.CALLS or pairs.is_result(piece.wire) for piece in pieces):
        while lost := _lost(kept):  # what leaves may have been what made another legal
            kept = [piece for piece in kept if id(piece) not in lost]
    present = {piece.wire.get("id") for piece in kept if piece.wire["type"] in pairs.CALLS}
    for piece in kept:
        if (tool := pairs.caller(piece.wire)) and tool not in present:
            del piece.wire["caller"]
    return kept


def _lost(pieces: list[Piece]) -> set[int]:
    turns = _turns(pieces)
    said = [(turn[0].role, [piece.wire for piece in turn]) for turn in turns]
    return {id(turns[place][ordinal]) for place, ordinal in pairs.unpaired(said)}


def _mark(breakpoints: Sequence[int], ttl: str, pieces: list[Piece]) -> None:
    """Put `cache_control` behind each breakpoint, at most four: the first, and the last three."""
    behind: list[dict[str, Any]] = []
    for point in sorted(set(breakpoints)):
        fitting = [piece.wire for piece in pieces if piece.index <= point and _cached(piece)]
        if fitting and not any(fitting[-1] is wire for wire in behind):
            behind.append(fitting[-1])
    if len(behind) > MOST_BREAKPOINTS:
        behind = [behind[0], *behind[1 - MOST_BREAKPOINTS :]]
    for wire in behind:
        wire["cache_control"] = {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}


def _cached(piece: Piece) -> bool:
    if piece.role == "tools":
        return True
    return piece.wire["type"] in CACHED | pairs.CALLS or pairs.is_result(piece.wire)


def _framed(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with a user's at the beginning (A13) and at the end (A9)."""
    framed = [_go_on(), *messages] if not messages or _begins_with_reply(messages) else messages
    return [*framed, _go_on()] if _ends_with_reply(messages) else framed


def _go_on() -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": CONTINUE}]}


def _prefilled(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The reply at the end is the beginning of the next one, and must not end in white space."""
    last = messages[-1]["content"][-1]
    if last["type"] == "text":
        last["text"] = last["text"].rstrip()
    return messages


def _begins_with_reply(messages: list[dict[str, Any]]) -> bool:
    first = messages[0]
    return first["role"] == "assistant" and first["content"][0]["type"] != "compaction"


def _ends_with_reply(messages: list[dict[str, Any]]) -> bool:
    last = messages[-1] if messages else {}
    return last.get("role") == "assistant" and not pairs.paused(last["content"])
