"""Why something is in the window, what it costs, why something is not, and what changed.

Rule 1: a call's own usage is the truth, before it the window's count; estimates of single blocks
        are scaled to add up to it.
Rule 2: what a provider had cached is a prefix, so the blocks it covers are the first ones.
Rule 3: whatever is absent was removed by a marker in force, and that marker is named.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.count import weigh_tools
from holdfast.core.price import MILLION
from holdfast.model.log import Clear, Entry, Rewind, Summary
from holdfast.model.profile import Price, Profile
from holdfast.model.reply import Usage
from holdfast.model.span import within
from holdfast.model.window import Window


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
    tools = weigh_tools(window.tools)
    estimated = tools + sum(block.tokens for block in window.blocks)
    prompt = usage.prompt if usage else window.tokens.tokens
    scale = prompt / estimated if prompt and estimated else 1.0
    price = profile.price(prompt)
    read, written = (usage.cache_read, usage.cache_write) if usage else (0, 0)
    lines: list[Line] = []
    sofar = 0.0
    if window.tools:
        head = Line(section="tools", role="", source="tools", rule="given", tokens=tools)
        lines.append(_priced(head, sofar, scale, read, written, price))
        sofar += tools * scale
    for block in window.blocks:
        line = Line(
            section=block.section,
            role=block.role,
            source=block.source,
            rule=block.rule,
            tokens=block.tokens,
            entry=block.entry,
            seq=block.seq,
        )
        lines.append(_priced(line, sofar, scale, read, written, price))
        sofar += block.tokens * scale
    return tuple(lines)


def _priced(
    line: Line, start: float, scale: float, read: int, written: int, price: Price | None
) -> Line:
    tokens = round(line.tokens * scale)
    middle = start + tokens / 2
    cached = middle < read
    rate = None
    if price:
        rate = price.cache_read if cached else price.input
        if not cached and middle < read + written:
            rate = price.cache_write
    return Line(
        section=line.section,
        role=line.role,
        source=line.source,
        rule=line.rule,
        tokens=tokens,
        cached=cached,
        cost=None if rate is None else tokens * rate // MILLION,
        entry=line.entry,
        seq=line.seq,
    )


def absent(seq: int, ordinal: int | None, in_force: Sequence[Entry]) -> Absence:
    """Which marker in force keeps an entry, or a part of it, out of the window."""
    for entry in reversed(in_force):
        body = entry.body
        if isinstance(body, Summary) and within(seq, body.covers) and seq not in body.kept:
            why = f"covered by the {body.step} of entry {entry.seq}: {body.reason or body.trigger}"
            return Absence(seq=seq, marker=entry.seq, why=why)
        if isinstance(body, Rewind) and body.to < seq < entry.seq:
            why = f"left on a branch by the rewind of entry {entry.seq}"
            return Absence(seq=seq, marker=entry.seq, why=why)
        if isinstance(body, Clear) and any(
            ref.seq == seq and ordinal in (None, ref.ordinal) for ref in body.parts
        ):
            why = f"content cleared by entry {entry.seq}: {body.reason or body.step}"
            return Absence(seq=seq, marker=entry.seq, why=why)
    return Absence(seq=seq, marker=0, why="nothing removed it")


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
