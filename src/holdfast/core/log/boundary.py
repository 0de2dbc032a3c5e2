"""Where a log may be cut without breaking a rule.

Rule 1: messages come in order; a cut before index `i` keeps `i` and all after it.
Rule 2: each rule is a function that forbids some cuts; a cut is legal where none forbids it.
Rule 3: every strategy asks here; none invents its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from holdfast.model.message import Message, Opaque, SummaryText, ToolCall, ToolResult

Rule = Callable[[Sequence[Message]], set[int]]
"""The cuts that are forbidden, as indices of the first message kept."""


def a_call_stays_with_its_result(messages: Sequence[Message]) -> set[int]:
    """No cut between a tool call and any of its results."""
    asked: dict[str, int] = {}
    forbidden: set[int] = set()
    for index, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolCall):
                asked[part.id] = index
            elif isinstance(part, ToolResult) and part.call in asked:
                forbidden.update(range(asked[part.call] + 1, index + 1))
    return forbidden


def a_result_is_never_first(messages: Sequence[Message]) -> set[int]:
    """No cut right before a tool's answer: what asked for it would be gone."""
    return {index for index, message in enumerate(messages) if message.role == "tool"}


def calls_of_one_reply_stay_together(messages: Sequence[Message]) -> set[int]:
    """Parallel calls of one reply live or die together, and so do their results."""
    forbidden: set[int] = set()
    for index, message in enumerate(messages):
        if message.calls:
            end = index + 1
            while end < len(messages) and messages[end].role == "tool":
                forbidden.add(end)
                end += 1
    return forbidden


RULES: tuple[Rule, ...] = (
    a_call_stays_with_its_result,
    a_result_is_never_first,
    calls_of_one_reply_stay_together,
)


def boundaries(messages: Sequence[Message], rules: Sequence[Rule] = RULES) -> list[int]:
    """The legal cuts, in order; the beginning and the end always are."""
    forbidden: set[int] = set()
    for rule in rules:
        forbidden |= rule(messages)
    inside = (index for index in range(1, len(messages)) if index not in forbidden)
    return [0, *inside, len(messages)] if messages else [0]


def units(messages: Sequence[Message], rules: Sequence[Rule] = RULES) -> list[tuple[int, int]]:
    """The indivisible stretches between legal cuts: first index, and the index behind the last."""
    cuts = boundaries(messages, rules)
    return list(pairwise(cuts))


def pending_from(messages: Sequence[Message]) -> int:
    """The index where calls begin that still wait for a result; `len(messages)` where none does."""
    answered = {part.call for one in messages for part in one.parts if isinstance(part, ToolResult)}
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "tool":
            continue
        waits = any(call.id not in answered for call in messages[index].calls)
        return index if waits else len(messages)
    return len(messages)


def unread_from(messages: Sequence[Message]) -> int:
    """The index where what no reply has come to yet begins, with the calls that it answers.

    `len(messages)` where a reply without calls is the newest.
    """
    replies = (at for at in range(len(messages) - 1, -1, -1) if is_reply(messages[at]))
    return cut_before(messages, min(next(replies, -1) + 1, pending_from(messages)))


def notices_from(messages: Sequence[Message]) -> int:
    """The index where those messages begin that nobody asked or answered, at the very end."""
    at = len(messages)
    while at and messages[at - 1].role == "developer":
        at -= 1
    return cut_before(messages, at)


def cut_before(messages: Sequence[Message], wanted: int) -> int:
    """The last legal cut at or before an index."""
    return max(at for at in boundaries(messages) if at <= wanted)


def is_reply(message: Message) -> bool:
    """Whether a model said something: a compaction that it was paused behind answers nothing."""
    return message.role == "assistant" and not all(
        isinstance(part, SummaryText) or (type(part) is Opaque and part.type == "compaction")
        for part in message.parts
    )


def is_answer(message: Message) -> bool:
    """Whether a message ends a turn: a model said something, and calls nothing."""
    return message.role == "assistant" and not message.calls and bool(message.text.strip())


def answer_at(messages: Sequence[Message]) -> int | None:
    """The index of the reply that ended the newest turn; None while the turn goes on."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role in ("assistant", "tool"):
            return index if is_answer(messages[index]) else None
        if is_request(messages[index]):
            return None
    return None


def just_asked(messages: Sequence[Message]) -> int:
    """The index of the newest message of the user's own; everything from it on is the current turn.

    Text that a harness wrote in the user's role is not the user's.
    """
    for index in range(len(messages) - 1, -1, -1):
        if is_request(messages[index]):
            return index
    return len(messages)


def is_request(message: Message) -> bool:
    """Whether a message is something the user asked, rather than scaffolding or a tool's answer."""
    if message.role != "user":
        return False
    return any(not getattr(part, "scaffold", "") for part in message.parts)
