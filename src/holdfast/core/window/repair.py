"""What is done to a window so that a provider accepts it, whatever was cut, aborted or imported.

Rule 1: repair depends on the blocks alone, no clock, no chance; done twice it changes nothing more.
Rule 2: only the request changes, never the log; and every change is stated.
Rule 3: a block is never repaired differently because of a later one, but for what a cut, an
        interruption or an answer really concerns: the prefix stays cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.tokens.count import MESSAGE, weigh
from holdfast.model.image_header import dimensions, media_type
from holdfast.model.message import Media, Part, Reasoning, Text, ToolCall, ToolResult
from holdfast.model.window import Block

INTERRUPTED = "[no result: the call was interrupted]"
LEFT_OUT = "[The conversation before this point is not shown.]"
CONTINUE = "[Continue.]"
TOO_LARGE = "too large to send"

MANY = 20
"""A request with more pictures than this is one of many pictures (A12)."""
AT_ONCE = 10
"""Pictures beyond the limit go by a tenth of it, so that the prefix stays cached meanwhile."""


class Fix(Struct, frozen=True, kw_only=True):
    """One thing that was repaired."""

    what: str
    source: str
    """The block it concerns, for people."""


class Limits(Struct, frozen=True, kw_only=True):
    """What the repair has to keep to, by provider."""

    image_bytes: int = 5 * 1024 * 1024
    """How long a picture may be once it is text (base64), or a document as it is."""
    most_images: int = 0
    """How many pictures a request may show; 0: any number. Documents are no pictures."""
    longest_side: int = 0
    """How many pixels a side of a picture may have; 0: any number."""
    longest_of_many: int = 0
    """The same where a request shows more than `MANY` pictures."""
    prefill: bool = False
    """Whether a conversation may end with the assistant's words."""


class Repaired(Struct, frozen=True, kw_only=True):
    """The blocks as they can be sent, and what was done to them."""

    blocks: tuple[Block, ...]
    fixes: tuple[Fix, ...] = ()


Step = Callable[[list[Block], list[Fix], Limits], list[Block]]


def repair(blocks: Sequence[Block], limits: Limits | None = None) -> Repaired:
    """The blocks with everything mended that a provider would refuse."""
    limits = limits or Limits()
    if can_be_sent(blocks, prefill=limits.prefill):
        return Repaired(blocks=tuple(blocks))
    return mended(blocks, limits)


def mended(blocks: Sequence[Block], limits: Limits) -> Repaired:
    """The blocks once every step has looked at them."""
    fixes: list[Fix] = []
    made = list(blocks)
    for step in STEPS:
        made = step(made, fixes, limits)
    return Repaired(blocks=tuple(made), fixes=tuple(fixes))


def text_is_sendable(blocks: list[Block], fixes: list[Fix], limits: Limits) -> list[Block]:
    """Lone surrogates have no place in UTF-8: each becomes U+FFFD, in the request only."""
    return [
        _each_part(block, fixes, _without_surrogates, "lone surrogates replaced")
        for block in blocks
    ]


def images_are_small_enough(blocks: list[Block], fixes: list[Fix], limits: Limits) -> list[Block]:
    """A picture or document that no provider takes is replaced by a line that says so."""

    def refused(media: Media) -> str:
        size = len(media.data)
        if (4 * ((size + 2) // 3) if is_picture(media) else size) > limits.image_bytes:
            return TOO_LARGE
        side = limits.longest_side
        return f"a side is over {side:,} pixels" if side and _longest(media) > side else ""

    return _without_media(blocks, fixes, refused)


def images_are_few_enough(blocks: list[Block], fixes: list[Fix], limits: Limits) -> list[Block]:
    """Of more pictures than a request may show, the oldest are left out."""
    most, shown = limits.most_images, _pictures(blocks)
    if not most or shown <= most:
        return blocks
    step = max(most // AT_ONCE, 1)
    old = iter(range(shown))
    gone = -(-(shown - most) // step) * step

    def refused(media: Media) -> str:
        if not is_picture(media) or next(old) >= gone:
            return ""
        return f"a request shows {most:,} at most, and newer ones stay"

    return _without_media(blocks, fixes, refused)


def many_images_are_smaller(blocks: list[Block], fixes: list[Fix], limits: Limits) -> list[Block]:
    """Among many pictures each has to be smaller: one more can make an earlier one illegal."""
    side = limits.longest_of_many
    if not side or _pictures(blocks) <= MANY:
        return blocks
    why = f"a side is over {side:,} pixels, with more than {MANY} pictures"
    return _without_media(blocks, fixes, lambda media: why if _longest(media) > side else "")


def is_picture(media: Media) -> bool:
    """Whether a medium is a picture, by its bytes or by what it is said to be."""
    return media.type.startswith("image/") or media_type(media.data) is not None


def _longest(media: Media) -> int:
    """The longest side in pixels, as the provider will see it; 0 where it cannot be told."""
    if not is_picture(media):
        return 0
    return max(dimensions(media.data) or (media.width, media.height))


def _media(block: Block) -> Iterator[Media]:
    for part in block.parts:
        if isinstance(part, Media):
            yield part
        elif isinstance(part, ToolResult):
            yield from part.media


def _pictures(blocks: Sequence[Block]) -> int:
    return sum(is_picture(media) for block in blocks for media in _media(block))


def _without_media(
    blocks: list[Block], fixes: list[Fix], refused: Callable[[Media], str]
) -> list[Block]:
    """Notes stand for the media that are refused; each block says once why."""
    return [_noted(block, fixes, refused) for block in blocks]


def _noted(block: Block, fixes: list[Fix], refused: Callable[[Media], str]) -> Block:
    whys: dict[str, None] = {}

    def note(media: Media) -> str:
        if not (why := refused(media)):
            return ""
        kind = "a picture" if is_picture(media) else "a document"
        whys[f"{kind} left out: {why}"] = None
        return f"[{media.type} of {len(media.data):,} bytes left out: {why}]"

    def shown(part: Part) -> Part:
        if isinstance(part, Media):
            return Text(told) if (told := note(part)) else part
        if not isinstance(part, ToolResult) or not part.media:
            return part
        notes = [(media, note(media)) for media in part.media]
        stay = tuple(media for media, told in notes if not told)
        if len(stay) == len(part.media):
            return part
        lines = (part.output, *(told for _, told in notes if told))
        return replace(part, media=stay, output="\n".join(lines))

    parts = tuple(shown(part) for part in block.parts)
    fixes += [Fix(what=why, source=block.source) for why in whys]
    return _with(block, parts) if whys else block


def nothing_is_empty(blocks: list[Block], fixes: list[Fix], limits: Limits) -> list[Block]:
    """Empty text is left out, and a message with nothing left goes whole."""
    made: list[Block] = []
    for block in blocks:
        parts = tuple(p for p in block.parts if not (isinstance(p, Text) and not p.text.strip()))
        if len(parts) < len(block.parts):
            fixes.append(Fix(what="empty text left out", source=block.source))
        if parts:
            made.append(_with(block, parts))
    return made


def call_ids_are_unique(blocks: list[Block], fixes: list[Fix], limits: Limits) -> list[Block]:
    """The second call of an id gets another one, and so does the result that follows it."""
    times: dict[str, int] = {}
    current: dict[str, str] = {}
    made: list[Block] = []
    for block in blocks:
        parts: list[Part] = []
        for part in block.parts:
            if isinstance(part, ToolCall):
                id = part.id or "call"
                times[id] = times.get(id, 0) + 1
                current[part.id] = id if times[id] == 1 else f"{id}_{times[id]}"
                part = _renamed(part, current[part.id], fixes, block)
            elif isinstance(part, ToolResult) and current.get(part.call, part.call) != part.call:
                part = replace(part, call=current[part.call])
            parts.append(part)
        made.append(_with(block, tuple(parts)))
    return made


def _renamed(part: ToolCall, id: str, fixes: list[Fix], block: Block) -> ToolCall:
    if id == part.id:
        return part
    fixes.append(
        Fix(what=f"call {part.id!r} renamed to {id!r}: its id is used twice", source=block.source)
    )
    return replace(part, id=id)


def every_call_is_answered(blocks: list[Block], fixes: list[Fix], limits: Limits) -> list[Block]:
    """Results stand right behind their call, each once; a missing one is an error result."""
    results = _first_results(blocks)
    asked: set[str] = set()
    made: list[Block] = []
    for block in blocks:
        stay = tuple(p for p in block.parts if not isinstance(p, ToolResult))
        told = [p for p in block.parts if isinstance(p, ToolResult)]
        asked.update(part.id for part in stay if isinstance(part, ToolCall))
        orphans = [result for result in told if result.call not in asked]
        if any(p.call in asked and results[p.call][0] is not p for p in told):
            fixes.append(Fix(what="a second result of one call left out", source=block.source))
        if orphans:
            fixes.append(Fix(what="a result whose call is gone, told as text", source=block.source))
            stay = (*stay, *(_as_text(result) for result in orphans))
        if stay:
            role = "user" if block.role == "tool" else block.role
            made.append(_with(replace(block, role=role), stay))
        calls = [part for part in stay if isinstance(part, ToolCall)]
        if calls:
            made += _answers(block, calls, results, fixes)
    return made


def _first_results(blocks: Sequence[Block]) -> dict[str, tuple[ToolResult, Block]]:
    """The answer to each call: what was there before it was asked is none."""
    found: dict[str, tuple[ToolResult, Block]] = {}
    asked: set[str] = set()
    for block in blocks:
        asked.update(part.id for part in block.parts if isinstance(part, ToolCall))
        for part in block.parts:
            if isinstance(part, ToolResult) and part.call in asked:
                found.setdefault(part.call, (part, block))
    return found


def _answers(
    block: Block,
    calls: Sequence[ToolCall],
    results: dict[str, tuple[ToolResult, Block]],
    fixes: list[Fix],
) -> list[Block]:
    """One tool message with the results of these calls, in their order."""
    parts: list[Part] = []
    home = block
    for call in calls:
        if call.id in results:
            result, home = results[call.id]
            parts.append(result)
        else:
            fixes.append(Fix(what=f"call {call.id!r} has no result", source=block.source))
            parts.append(ToolResult(call.id, INTERRUPTED, True, call.name))
    return [_with(replace(home, role="tool", section=home.section), tuple(parts))]


def _as_text(result: ToolResult) -> Text:
    return Text(
        f"[result of a call that is not shown]\n{result.output}", scaffold="system-reminder"
    )


def the_user_speaks_first(blocks: list[Block], fixes: list[Fix], limits: Limits) -> list[Block]:
    """Where a cut left the assistant's words in front, a line of ours stands before them."""
    for index, block in enumerate(blocks):
        if block.role in ("system", "developer"):
            continue
        if block.role == "user":
            return blocks
        fixes.append(Fix(what="a line put before the first reply", source=block.source))
        return [*blocks[:index], _note(block, LEFT_OUT), *blocks[index:]]
    return blocks


def the_user_speaks_last(blocks: list[Block], fixes: list[Fix], limits: Limits) -> list[Block]:
    """Most models refuse a conversation that ends with their own words."""
    last = next((b for b in reversed(blocks) if b.role not in ("system", "developer")), None)
    if last is None or limits.prefill or last.role != "assistant":
        return blocks
    fixes.append(Fix(what="a line put behind the last reply", source=last.source))
    return [*blocks, _note(last, CONTINUE)]


def _note(beside: Block, text: str) -> Block:
    return Block(
        section=beside.section,
        role="user",
        parts=(Text(text, scaffold="system-reminder"),),
        tokens=MESSAGE + 10,
        source="repair",
        rule="so that the request is valid",
    )


STEPS: tuple[Step, ...] = (
    text_is_sendable,
    images_are_small_enough,
    images_are_few_enough,
    many_images_are_smaller,
    nothing_is_empty,
    call_ids_are_unique,
    every_call_is_answered,
    the_user_speaks_first,
    the_user_speaks_last,
)


def _with(block: Block, parts: tuple[Part, ...]) -> Block:
    if parts == block.parts:
        return block
    return replace(block, parts=parts, tokens=sum(map(weigh, parts)) + MESSAGE)


def _each_part(block: Block, fixes: list[Fix], change: Callable[[Part], Part], what: str) -> Block:
    parts = tuple(change(part) for part in block.parts)
    if all(new is old for new, old in zip(parts, block.parts, strict=True)):
        return block
    fixes.append(Fix(what=what, source=block.source))
    return _with(block, parts)


def _without_surrogates(part: Part) -> Part:
    changed: dict[str, str] = {}
    for name in ("text", "output", "input", "name", "id", "call"):
        value = getattr(part, name, "")
        if isinstance(value, str) and not has_utf8(value):
            changed[name] = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return replace(part, **changed) if changed else part


AHEAD = ("system", "developer")
"""Who speaks before the conversation begins."""


def can_be_sent(blocks: Sequence[Block], *, prefill: bool = False) -> bool:
    """Whether these blocks need no repair: words and calls, each answered right behind it."""
    asked: set[str] = set()
    waiting: list[str] = []
    for block in blocks:
        if waiting:
            if not _answers_all(block, waiting):
                return False
            waiting = []
        else:
            calls = _calls(block)
            if calls is None or not asked.isdisjoint(calls):
                return False
            asked.update(calls)
            waiting = calls
    return not waiting and _framed(blocks, prefill)


def _answers_all(block: Block, waiting: list[str]) -> bool:
    """Whether a block is the answers to these calls, in their order and nothing else."""
    if block.role != "tool" or len(block.parts) != len(waiting):
        return False
    for part, call in zip(block.parts, waiting, strict=True):
        if type(part) is not ToolResult or part.call != call or part.media:
            return False
        if not (has_utf8(part.output) and has_utf8(part.name)):
            return False
    return True


def _calls(block: Block) -> list[str] | None:
    """The calls that a block makes; None where it is anything but words and calls."""
    if block.role == "tool" or not block.parts:
        return None
    calls: list[str] = []
    for part in block.parts:
        if type(part) is ToolCall:
            if not _callable(part) or part.id in calls:
                return None
            calls.append(part.id)
        elif not _said(part):
            return None
    return calls


def _callable(part: ToolCall) -> bool:
    return bool(part.id) and has_utf8(part.id) and has_utf8(part.name) and has_utf8(part.input)


def _said(part: Part) -> bool:
    if type(part) is Text:
        return bool(part.text) and not part.text.isspace() and has_utf8(part.text)
    return type(part) is Reasoning and has_utf8(part.text)


def _framed(blocks: Sequence[Block], prefill: bool) -> bool:
    """Whether the user speaks first, and last where the model wants that."""
    first = next((block.role for block in blocks if block.role not in AHEAD), "user")
    last = next((block.role for block in reversed(blocks) if block.role not in AHEAD), "user")
    return first == "user" and (prefill or last != "assistant")


def has_utf8(text: str) -> bool:
    """Whether a text has a UTF-8 form: a lone surrogate has none."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
