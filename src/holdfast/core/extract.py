"""A summary without a model: what was said, picked by what later turns are likely to need.

Rule 1: every line is taken from the log, word for word, and says where it comes from.
Rule 2: the same conversation and budget give the same text, within the budget.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.core.boundary import is_request
from holdfast.core.estimate import estimate
from holdfast.model.log import Entry
from holdfast.model.message import Message

HEADING = "What was said, in the words it was said in:"
LINE = 240
"""No more than so many characters of one message."""


def extract(entries: Sequence[Entry], earlier: Sequence[str], budget: int) -> str:
    """What was said in these messages, newest first while it fits; then the earlier summaries."""
    left = budget - estimate(HEADING)
    lines: list[tuple[int, str]] = []
    for entry in reversed(entries):
        if line := _line(entry):
            cost = estimate(line) + 1
            if cost > left * 3 // 4:
                break
            lines.append((entry.seq, line))
            left -= cost
    kept: list[str] = []
    for text in reversed(earlier):
        for line in reversed(text.splitlines()):
            cost = estimate(line) + 1
            if line.strip() and line != HEADING and cost <= left:
                kept.append(line)
                left -= cost
    told = [line for _, line in sorted(lines)]
    return "\n".join((HEADING, *reversed(kept), *told))


def _line(entry: Entry) -> str:
    body = entry.body
    if not isinstance(body, Message) or body.role not in ("user", "assistant"):
        return ""
    if body.role == "user" and not is_request(body):
        return ""
    words = " ".join(body.text.split())
    return f"- {body.role}: {words[:LINE]} #{entry.seq}" if words else ""
