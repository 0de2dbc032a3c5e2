"""How full a session's window is: which numbers there are, how each is known, what it is called.

Rule 1: `tokens` is the next prompt, whole: system prompt, tools and every message that is visible.
        Every command, the chat, the status line and the library show this one.
Rule 2: `sent` is what the newest call was sent, as it was reported; it is shown by that name.
Rule 3: `window` is what the model holds, reply included: as the program that recorded the session
        said; else as that program is known to use it; else by the model's profile. Shares are of
        it, and `room` is the part of it that a prompt may take.
Rule 4: a transcript does not hold the system prompt and tools of its program. What its newest call
        was sent beyond the messages stands for them; where it recorded no such size they are
        unknown, and `tokens` counts the messages alone and says so.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from holdfast.core.tokens.calibrate import error
from holdfast.model.window import Count

Source = Literal["recorded", "program", "model", "assumed"]
"""How it is known what a window holds: its program said so, or is known to use no more; the
model's profile says it, or nobody does."""

HELD = {"claude-code": 200_000}
"""So much of a larger window a program uses, unless a call of the session took more."""

LONG = 1_000_000
"""What such a program can ask for where that is not what the model usually holds."""


class Held(Struct, frozen=True, kw_only=True):
    """How much a window holds, and how that is known."""

    window: int
    """0 where nobody knows."""
    source: Source


class Recorded(Struct, frozen=True, kw_only=True):
    """What the program that recorded a session said of its newest call."""

    program: str
    sent: int
    """What the call was sent; 0 where it did not say."""
    then: int = 0
    """What the messages that were visible to that call are estimated at now."""
    moved: bool = False
    """Whether a compaction, or taking one back, came since."""


def held(known: int, agent: str, model: str, largest: int, recorded: int = 0) -> Held:
    """What the window of a session holds.

    `known` is what its model holds, `largest` what its largest call took, `recorded` what its
    program said.
    """
    if recorded:
        return Held(window=recorded, source="recorded")
    usual = HELD.get(agent, 0)
    if usual and 0 < known < largest <= LONG:
        return Held(window=LONG, source="program")
    if not usual or "[1m]" in model.lower() or largest > usual or 0 < known <= usual:
        return Held(window=known, source="model")
    return Held(window=usual, source="program")


def whole_prompt(now: Count, recorded: Recorded) -> tuple[Count, int | None]:
    """The next prompt of a recorded session, and what of it are system prompt and tools.

    These are what its newest call was sent beyond its messages. Where less was sent than those are
    estimated at, they are unknown, and the estimate is corrected by what was sent.
    """
    sent, then = recorded.sent, recorded.then
    if not sent or not then:
        return now, None
    since = now.tokens if recorded.moved else abs(now.tokens - then)
    if sent >= then:
        return Count(tokens=now.tokens + sent - then, error=error(since)), sent - then
    if recorded.moved:
        tokens = round(now.tokens * sent / then)
        return Count(tokens=tokens, error=error(tokens)), None
    return Count(tokens=max(sent + now.tokens - then, 0), error=error(since)), None
