"""What is shown of a tool's long output: its head and its tail, and how to get the rest.

Rule 1: the log keeps the whole; only what is shown is cut, the same way every time.
Rule 2: what was cut says how much left, and its handle brings the whole back.
Rule 3: the cost of cutting is that of what stays, not of what was there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.tokens.count import CALL, weigh
from holdfast.core.tokens.estimate import estimate
from holdfast.model.log import Entry, Handle, Head
from holdfast.model.message import Message, Part, ToolResult
from holdfast.model.policy import Policy, Truncate
from holdfast.model.profile import Profile

NOTE = 60
"""What the note in place of the rest takes at most, in tokens."""

SHORTEST = 64
"""No output is cut below this, in tokens: the note alone would take most of it."""


class Cap(Struct, frozen=True, kw_only=True):
    """How much of one output is shown, for one model; 0 is no bound."""

    tokens: int = 0
    together: int = 0
    """All outputs that one reply called for together, in tokens."""
    characters: int = 0
    size: int = 0
    lines: int = 0
    keep: str = "middle"

    @property
    def by_tokens(self) -> bool:
        """Whether tokens are the only bound."""
        return not (self.characters or self.size or self.lines)

    def __bool__(self) -> bool:
        return bool(self.tokens or self.together or self.characters or self.size or self.lines)


def cap(policy: Policy, profile: Profile) -> Cap:
    """The bounds a policy sets for this model."""
    rule = policy.truncate or Truncate()
    tokens = int(rule.tokens * rule.slack)
    size = int(rule.size * rule.slack)
    if policy.counts_with == "bytes/4" and tokens:
        tokens, size = 0, tokens * 4  # its tokens are bytes
    if rule.share:
        share = max(int(profile.window * rule.share), min(rule.least, profile.window // 8))
        tokens = min(tokens or share, share)
    return Cap(
        tokens=tokens,
        together=int(profile.window * rule.together),
        characters=int(rule.characters * rule.slack),
        size=size,
        lines=int(rule.lines * rule.slack),
        keep=rule.keep,
    )


def shown(entry: Entry, bounds: Cap) -> Entry:
    """An entry as it is shown: itself, or with its long outputs cut."""
    body = entry.body
    if not isinstance(body, Message) or body.role == "assistant":
        return entry
    if bounds.by_tokens and sum(entry.counts) <= bounds.tokens:
        return entry  # no part of it can be longer
    bounds = narrowed(_results((entry,)), bounds)
    parts = [
        _part(part, Handle(entry.id, place), _count(entry, place), bounds)
        for place, part in enumerate(body.parts)
    ]
    if all(new is old for new, old in zip(parts, body.parts, strict=True)):
        return entry
    counts = tuple(
        _count(entry, place) if part is body.parts[place] else weigh(part)
        for place, part in enumerate(parts)
    )
    return replace(entry, body=Message(body.role, tuple(parts)), counts=counts)


def all_shown(entries: Iterable[Entry], bounds: Cap) -> list[Entry]:
    """Entries as they are shown; what one reply called for shares a bound, be it in one message or
    in several."""
    if not bounds.together:
        return [shown(entry, bounds) for entry in entries] if bounds else [*entries]
    found: list[Entry] = []
    for results, run in groupby(entries, key=answers):
        several = [*run]
        together = narrowed(_results(several), bounds) if results else bounds
        found += [shown(entry, together) for entry in several]
    return found


def answers(entry: Entry) -> bool:
    """Whether an entry is what tools said."""
    return isinstance(entry.body, Message) and entry.body.role == "tool"


def _results(entries: Sequence[Entry]) -> list[int]:
    """What each result of these takes."""
    return [
        _count(entry, place)
        for entry in entries
        if isinstance(entry.body, Message)
        for place, part in enumerate(entry.body.parts)
        if type(part) is ToolResult
    ]


def narrowed(counts: Sequence[int], bounds: Cap) -> Cap:
    """The bounds of each of several outputs that share a message: the long ones give way."""
    most = bounds.tokens or sum(counts)
    if not bounds.together or sum(min(count, most) for count in counts) <= bounds.together:
        return bounds
    left = bounds.together
    for several, count in zip(range(len(counts), 0, -1), sorted(counts), strict=True):
        if count > left // several:
            most = min(most, max(left // several, SHORTEST))
            break
        left -= count
    return replace(bounds, tokens=most)


def weight_shown(head: Head, place: int, bounds: Cap) -> int:
    """About what a part takes as it is shown, by its columns alone."""
    count = head.counts[place]
    if head.kinds[place : place + 1] != ("tool_result",):
        return count
    if bounds.tokens:
        count = min(count, bounds.tokens + CALL)
    size = head.sizes[place] if place < len(head.sizes) else 0
    most = min((n for n in (bounds.characters, bounds.size) if n), default=0)
    return count if not most or size <= most else min(count, count * most // size + NOTE)


def _count(entry: Entry, place: int) -> int:
    return entry.counts[place] if place < len(entry.counts) else 0


def _part(part: Part, handle: Handle, count: int, bounds: Cap) -> Part:
    if not isinstance(part, ToolResult) or (part.seal and part.seal.sent):
        return part
    output = cut(part.output, count - CALL, bounds, str(handle))
    return part if output is part.output else replace(part, output=output, seal=None)


def cut(
    text: str, count: int, bounds: Cap, handle: str, weigh: Callable[[str], int] = estimate
) -> str:
    """A text within its bounds; itself where it is. `count` is what it takes, as `weigh` has it."""
    keep = min(
        _by_lines(text, bounds),
        bounds.characters or len(text),
        _by_size(text, bounds.size),
        _by_tokens(text, count, bounds, weigh),
    )
    if keep >= len(text):
        return text
    head, tail = _ends(text, keep, bounds.keep)
    left = f"{len(text) - len(head) - len(tail):,} of {len(text):,} characters"
    return "\n".join(filter(None, (head, f"[… {left} left out here · recall {handle} …]", tail)))


def shorten(text: str, tokens: int, handle: str, weigh: Callable[[str], int] = estimate) -> str:
    """A text of at most so many tokens, its middle left out."""
    return cut(text, weigh(text), Cap(tokens=tokens), handle, weigh)


def _ends(text: str, keep: int, what: str) -> tuple[str, str]:
    if what == "head":
        return text[:keep], ""
    if what == "tail":
        return "", text[len(text) - keep :]
    return text[: keep - keep // 2], text[len(text) - keep // 2 :] if keep > 1 else ""


def _by_lines(text: str, bounds: Cap) -> int:
    """How many characters so many lines have, from the end or ends that stay."""
    if not bounds.lines or text.count("\n") < bounds.lines:
        return len(text)
    lines = text.splitlines(keepends=True)
    if len(lines) <= bounds.lines:
        return len(text)
    half = bounds.lines // 2
    chosen: dict[str, Callable[[], list[str]]] = {
        "head": lambda: lines[: bounds.lines],
        "tail": lambda: lines[-bounds.lines :],
        "middle": lambda: lines[: bounds.lines - half] + lines[len(lines) - half :],
    }
    return sum(map(len, chosen[bounds.keep]()))


def _by_size(text: str, size: int) -> int:
    """How many characters so many bytes have; by the share of the whole, and never more."""
    if not size or len(text) * 4 <= size:
        return len(text)
    whole = len(text.encode("utf-8", "surrogatepass"))
    return len(text) if whole <= size else len(text) * size // whole


def _by_tokens(text: str, count: int, bounds: Cap, weigh: Callable[[str], int]) -> int:
    if not bounds.tokens or count <= bounds.tokens:
        return len(text)
    most = max(bounds.tokens - NOTE, SHORTEST)
    keep = min(len(text) * most // max(count, 1), len(text))
    while keep > SHORTEST and (taken := _taken(text, keep, bounds.keep, weigh)) > most:
        nearer = keep * most // taken  # where it is as dense inside as at its ends
        keep = min(max(nearer, keep * 9 // 10), keep * 99 // 100)
    return keep


def _taken(text: str, keep: int, what: str, weigh: Callable[[str], int]) -> int:
    return sum(map(weigh, _ends(text, keep, what)))
