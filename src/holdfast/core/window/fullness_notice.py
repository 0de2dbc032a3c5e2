"""Telling a model how full its window is, where it is not told by its provider.

Rule 1: it is told behind a tool's answer, by a stored message: what was sent stays a prefix.
Rule 2: nothing is told twice: only once as much more is taken as the policy says.
Rule 3: a model that knows its budget natively is told nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from holdfast.core.window.scaffold import wrap
from holdfast.model.log import Entry
from holdfast.model.message import Message, Text
from holdfast.model.policy import Awareness, Policy
from holdfast.model.profile import Profile

TAG: Final = "token_budget"

SPARE: Final = 256
"""Where less is left, nothing is added."""

_USED: Final = re.compile(r">\n([\d,]+) of ")


def opening(policy: Policy, profile: Profile) -> str:
    """What a model is told of its budget at the start; empty where nothing is to be said."""
    if policy.awareness is None or profile.can("budget_awareness"):
        return ""
    return f"{profile.window:,} tokens"


def telling(
    entries: Sequence[Entry], used: int, room: int, rule: Awareness | None, profile: Profile
) -> Message | None:
    """What to say behind these messages; None where there is nothing to say."""
    if rule is None or profile.can("budget_awareness") or room - used < SPARE:
        return None
    last = entries[-1].body if entries else None
    if not isinstance(last, Message) or last.role != "tool" or used < rule.since * room:
        return None
    before = told(entries)
    if before is not None and used < before + max(int(rule.every * room), 1):
        return None
    words = f"{used:,} of {room:,} tokens of your context are taken, {room - used:,} are left."
    return Message("user", (Text(wrap(TAG, words), TAG),))


def told(entries: Sequence[Entry]) -> int | None:
    """How many tokens were taken when the model was told last; None where it was not."""
    for entry in reversed(entries):
        parts = entry.body.parts if isinstance(entry.body, Message) else ()
        for part in parts:
            if isinstance(part, Text) and part.scaffold == TAG:
                found = _USED.search(part.text)
                return int(found[1].replace(",", "")) if found else 0
    return None
