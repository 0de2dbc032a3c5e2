"""A reply from its body, and what body and stream have in common: why it ended, what it used.

Rule 1: usage is four disjoint buckets; `input_tokens` already leaves the cache out.
Rule 2: the tokens of a compaction are told in `usage.iterations` only, never at the top.
Rule 3: no bytes raise an error; what cannot be read is a reply that stopped by error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from msgspec.structs import asdict, replace

from holdfast.codecs.anthropic.blocks import OWNER, parts
from holdfast.codecs.anthropic.raw import Garbled, fields, items, value, words
from holdfast.codecs.anthropic.walk import objects
from holdfast.model import wire
from holdfast.model.message import Message, Opaque, Part, SummaryText
from holdfast.model.reply import Edit, Iteration, Reply, Stop, Usage

STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "paused",
    "refusal": "refused",
    "compaction": "compaction",
}

USUAL = ("", "standard")
"""The words for the usual way of serving, which the prices are for."""

OWN = ("", "message", "fallback_message")
"""The iterations that `usage` at the top sums up."""


def decode(body: bytes) -> Reply:
    """The reply that a whole response body is."""
    try:
        top = fields(body)
        if words(top.get("type")) == "error" or "content" not in top:
            return failed(failure(top))
        told = {key: member for key, member in top.items() if key != "content"}
        model = words(top.get("model")) or ""
        said = [part for block in items(top["content"]) for part in parts(fields(block), model)]
        return reply(told, said, stop_of(words(top.get("stop_reason"))), "")
    except Garbled as garbled:
        return failed(str(garbled))


def failed(error: str) -> Reply:
    """A reply of which nothing could be read."""
    return Reply(message=Message("assistant", ()), stop="error", provider=OWNER, error=error)


def failure(top: dict[str, bytes]) -> str:
    """What an error body or event says, its type first."""
    try:
        error = fields(top.get("error", b"{}"))
    except Garbled:
        error = {}
    told = [words(error.get("type")), words(error.get("message"))]
    return ": ".join(word for word in told if word) or "a reply without content"


def stop_of(reason: str | None) -> Stop:
    """Why it ended; a reason nobody has told us yet is an end."""
    if reason is None:
        return "aborted"
    return STOPS.get(reason, "end")


def reply(told: dict[str, bytes], said: Iterable[Part], stop: Stop, error: str) -> Reply:
    """The reply of these parts, with what was told about it."""
    message = Message("assistant", tuple(said))
    usage, iterations = used(_object(told.get("usage")))
    return Reply(
        message=message,
        stop=stop,
        usage=usage,
        iterations=iterations,
        model=served_by(message.parts) or words(told.get("model")) or "",
        provider=OWNER,
        request=words(told.get("id")) or "",
        edits=_edits(_object(told.get("context_management"))),
        compaction=_compaction(message.parts),
        error=error,
    )


def _compaction(said: tuple[Part, ...]) -> int | None:
    """The last block that stands for what came before; one without a summary stands for nothing."""
    for place in range(len(said) - 2, -1, -1):
        part = said[place]
        if isinstance(part, Opaque) and part.type == "compaction":
            return place if isinstance(said[place + 1], SummaryText) else None
    return None


def served_by(said: Iterable[Part]) -> str:
    """The model that took over where the one asked declined; empty where none did.

    A body names it at the top, a stream only in its last `fallback` block.
    """
    model = ""
    for part in said:
        if isinstance(part, Opaque) and part.type == "fallback":
            to = _object(part.data).get("to")
            model = _text(cast(dict[str, Any], to).get("model")) if isinstance(to, dict) else model
    return model


def used(usage: dict[str, Any]) -> tuple[Usage, tuple[Iteration, ...]]:
    """The whole usage, and each iteration's where they are told; their sum is the whole.

    The top tells of the model's own iterations only: neither of compactions nor of an advisor.
    """
    top, tier = _usage(usage), tier_of(usage)
    each = [_iteration(one, tier) for one in objects(usage.get("iterations"))]
    own = [one for one in each if one.type in OWN]
    if each and sum(one.output for one in own) < top.output:  # told too early: the top is newer
        newer = Iteration(**asdict(replace(top, tier=tier)), type="message")
        each = [*(one for one in each if one.type not in OWN), newer]
    total = replace(sum(each, Usage()) if each else top, tier=tier)
    details = usage.get("output_tokens_details")
    thought = _count(cast(dict[str, Any], details), "thinking_tokens") if details else 0
    return replace(total, reasoning=min(thought, total.output)), tuple(each)


def tier_of(usage: dict[str, Any]) -> str:
    """How a call was served; empty for the usual way, and where nothing was used."""
    if not any(_count(usage, name) for name in usage):
        return ""
    told = (_text(usage.get("speed")), _text(usage.get("service_tier")))
    return next((word for word in told if word not in USUAL), "")


def _iteration(told: dict[str, Any], tier: str) -> Iteration:
    """One sampling; the model's own were served as the whole call was."""
    type, model = _text(told.get("type")), _text(told.get("model"))
    own = replace(_usage(told), tier=tier if type in OWN and not model else "")
    return Iteration(**asdict(own), type=type, model=model)


def _usage(usage: dict[str, Any]) -> Usage:
    split = usage.get("cache_creation")
    lasting = cast(dict[str, Any], split) if isinstance(split, dict) else {}
    short = _count(lasting, "ephemeral_5m_input_tokens")
    long = _count(lasting, "ephemeral_1h_input_tokens")
    write = max(_count(usage, "cache_creation_input_tokens"), short + long)
    return Usage(
        input=_count(usage, "input_tokens"),
        cache_read=_count(usage, "cache_read_input_tokens"),
        cache_write=write,
        output=_count(usage, "output_tokens"),
        cache_write_long=long,
    )


def _edits(management: dict[str, Any]) -> tuple[Edit, ...]:
    return tuple(
        Edit(
            type=_text(edit.get("type")),
            cleared_tokens=_count(edit, "cleared_input_tokens"),
            cleared_tool_uses=_count(edit, "cleared_tool_uses"),
            cleared_thinking_turns=_count(edit, "cleared_thinking_turns"),
        )
        for edit in objects(management.get("applied_edits"))
    )


def _object(data: bytes | None) -> dict[str, Any]:
    found = value(data) if data is not None else None
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def _text(found: Any) -> str:
    return found if isinstance(found, str) else ""


def _count(told: Any, name: str) -> int:
    """A number of tokens; 0 for anything that cannot be one."""
    found = cast(dict[str, Any], told).get(name) if isinstance(told, dict) else None
    return found if type(found) is int and 0 <= found < wire.LARGEST else 0
