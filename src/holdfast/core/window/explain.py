"""Why something is in the window, what it costs, why something is not, and what changed.

Rule 1: a call's own usage is the truth, before it the window's count; what is said of single blocks
        and sections always adds up to it.
Rule 2: what a provider had cached is a prefix, so the blocks it covers are the first ones.
Rule 3: whatever is absent was removed by a marker in force, and that marker is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.calls.price import MILLION
from holdfast.core.tokens.count import plain, unsure, weigh_tools
from holdfast.model.log import Clear, Entry, Rewind, Summary
from holdfast.model.profile import Price, Profile
from holdfast.model.reply import Usage
from holdfast.model.span import Span, Spans, clip, normal, within, without
from holdfast.model.window import Block, Window


class Line(Struct, frozen=True, kw_only=True):
    """One block of a window, explained."""

    section: str
    role: str
    source: str
    rule: str
    tokens: int
    cached: bool = False
    cost: int | None = None
    """In billionths of a US dollar, for this call."""
    entry: str = ""
    seq: int = 0


class Absence(Struct, frozen=True, kw_only=True):
    """Why an entry is not in the window."""

    seq: int
    marker: int
    """The marker that removed it, by its seq; 0 where none did."""
    why: str
    spans: Spans = ()
    """All that this marker keeps out; what it keeps word for word is left out."""


class Difference(Struct, frozen=True, kw_only=True):
    """Two requests compared."""

    same: bool
    block: int = 0
    """The first block that differs."""
    byte: int = 0
    """The first byte that differs, counted over the blocks as they are sent."""
    lost: int = 0
    """Tokens behind that place: they have to be read afresh."""
    price: int | None = None
    """What reading them afresh costs more than reading them from the cache."""


def explain(window: Window, profile: Profile, usage: Usage | None = None) -> tuple[Line, ...]:
    """Each block of a window: where it is from, what it takes, whether it was cached, its price."""
    prompt = (usage.prompt if usage else 0) or window.tokens.tokens
    price = profile.price(prompt)
    read, written = (usage.cache_read, usage.cache_write) if usage else (0, 0)
    lines: list[Line] = []
    sofar = 0
    for line, tokens in zip(_lines(window), taken(window, profile, prompt), strict=True):
        lines.append(_priced(replace(line, tokens=tokens), sofar, read, written, price))
        sofar += tokens
    return tuple(lines)


def by_section(window: Window, profile: Profile) -> dict[str, int]:
    """What each section takes, in the order of the window; together what the window takes."""
    found: dict[str, int] = {}
    shares = taken(window, profile, window.tokens.tokens)
    for line, tokens in zip(_lines(window), shares, strict=True):
        found[line.section] = found.get(line.section, 0) + tokens
    return found


def taken(window: Window, profile: Profile, prompt: int) -> list[int]:
    """What the tools, where there are any, and then each block take of a prompt of that size."""
    weights = [weigh_tools(window.tools)] if window.tools else []
    return shared([*weights, *(_weight(block, profile) for block in window.blocks)], prompt)


def shared(weights: Sequence[int], total: int) -> list[int]:
    """A whole split by weight so that the shares add up to it; the weights where it is unknown."""
    whole = sum(weights)
    if not total or not whole:
        return list(weights)
    ends = [round(sofar * total / whole) for sofar in accumulate(weights)]
    return [end - start for start, end in pairwise((0, *ends))]


def _weight(block: Block, profile: Profile) -> int:
    """The estimate of a block, pictures as this model counts them."""
    vague = [part for part in block.parts if not plain(part)]
    return max(0, block.tokens + sum(unsure(part, profile) - unsure(part) for part in vague))


def _lines(window: Window) -> list[Line]:
    """The tools, where there are any, and the blocks: where they are from, not what they take."""
    tools = [Line(section="tools", role="", source="tools", rule="given", tokens=0)]
    return (tools if window.tools else []) + [
        Line(
            section=block.section,
            role=block.role,
            source=block.source,
            rule=block.rule,
            tokens=0,
            entry=block.entry,
            seq=block.seq,
        )
        for block in window.blocks
    ]


def _priced(line: Line, start: int, read: int, written: int, price: Price | None) -> Line:
    middle = start + line.tokens / 2
    cached = middle < read
    if price is None:
        return replace(line, cached=cached)
    rate = price.cache_read if cached else price.input
    if not cached and middle < read + written:
        rate = price.cache_write
    return replace(line, cached=cached, cost=line.tokens * rate // MILLION)


def absent(seq: int, ordinal: int | None, in_force: Sequence[Entry]) -> Absence:
    """Which marker in force keeps an entry, or a part of it, out of the window."""
    for entry in reversed(in_force):
        if why := _removed(seq, ordinal, entry):
            return Absence(seq=seq, marker=entry.seq, why=why, spans=hidden(entry))
    return Absence(seq=seq, marker=0, why="nothing removed it")


def _removed(seq: int, ordinal: int | None, entry: Entry) -> str:
    """How a marker keeps an entry out; empty where it does not."""
    match entry.body:
        case Summary() as body if within(seq, normal(body.covers)) and seq not in body.kept:
            return f"covered by the {body.step} of entry {entry.seq}: {body.reason or body.trigger}"
        case Rewind(to=to) if to < seq < entry.seq:
            return f"left on a branch by the rewind of entry {entry.seq}"
        case Clear(parts=parts) as body if any(
            ref.seq == seq and ordinal in (None, ref.ordinal) for ref in parts
        ):
            return f"content cleared by entry {entry.seq}: {body.reason or body.step}"
        case _:
            return ""


def hidden(marker: Entry) -> Spans:
    """What a marker keeps out of the window, or clears something of."""
    match marker.body:
        case Summary(covers=covers, kept=kept):
            stay = tuple(Span(seq, seq) for seq in kept)
            return without(clip(covers, 1, marker.seq - 1), stay)
        case Rewind(to=to) if to + 1 < marker.seq:
            return (Span(to + 1, marker.seq - 1),)
        case Clear(parts=parts):
            return normal(Span(part.seq, part.seq) for part in parts)
        case _:
            return ()


def difference(
    before: Sequence[bytes], after: Sequence[bytes], tokens: Sequence[int], profile: Profile
) -> Difference:
    """Where two encoded windows part, and what that costs; tokens are those of the second."""
    offset = 0
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        if old != new:
            at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
            shared = min(len(old), len(new)) if at is None else at
            return _parted(index, offset + shared, tokens, profile)
        offset += len(new)
    if len(after) < len(before):
        return _parted(len(after), offset, tokens, profile)
    return Difference(same=len(before) == len(after), block=len(before), byte=offset)


def _parted(block: int, byte: int, tokens: Sequence[int], profile: Profile) -> Difference:
    lost = sum(tokens[block:])
    price = profile.price(sum(tokens))
    more = None if price is None else lost * (price.input - price.cache_read) // MILLION
    return Difference(same=False, block=block, byte=byte, lost=lost, price=more)
