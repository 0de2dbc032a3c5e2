"""Stating: what a window carries of its session, and what it does not.

Rule 1: everything is counted by what stands in the window, not by what stands in the session it
        was made of: making it fit may have summed up or cleared what the session still shows.
Rule 2: whatever is missing is told with its reason, and once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from holdfast.core.compaction.clear import is_thought
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.exporters.fidelity import many
from holdfast.model.log import Entry, PartRef
from holdfast.model.message import Message, Part, Text, ToolResult
from holdfast.model.span import within
from holdfast.model.view import View

ELSEWHERE = "what was rewound, usage, costs, and records of the program it was imported from"
TAKEN_BACK = "a provider takes back only thoughts of its own models, signed and unchanged"


class Stated(Struct, kw_only=True):
    """What was counted in a window."""

    messages: int = 0
    summaries: int = 0
    """Those that stand in the session."""
    made: int = 0
    """Those that were made for this window alone."""
    covered: int = 0
    """The messages that these stand for."""
    cleared: Counter[str]
    """What of the messages is not shown any more, by what it is."""
    unread: int = 0
    """Thoughts in the window that the request cannot carry."""

    def carried(self) -> Iterator[str]:
        """What is in it."""
        told = many(self.messages, "message")
        if self.made:
            yield f"{told}, of {self.messages + self.covered:,} that the model sees now"
            made = many(self.made, "summary", "summaries")
            stands = many(self.covered, "message")
            yield f"{made}, made for this export alone, in the place of the other {stands}"
        else:
            yield f"{told}: what the model sees now"
        if self.summaries:
            told = many(self.summaries, "summary", "summaries")
            yield f"{told}, with the facts that were computed beside the words"

    def missing(self) -> Iterator[str]:
        """What is not."""
        if self.summaries or self.made:
            yield "the messages that summaries stand for; they stay in the store"
        if self.cleared["thought"]:
            told = many(self.cleared["thought"], "thought")
            yield f"{told} of finished turns, which the model does not see any more"
        if self.unread:
            yield f"{many(self.unread, 'thought')}: {TAKEN_BACK}"
        if self.cleared["output"]:
            told = many(self.cleared["output"], "output")
            yield f"{told} of tools that the model does not see any more, but for a line each"
        if self.cleared["part"]:
            told = many(self.cleared["part"], "part")
            yield f"{told} of messages that the model does not see any more"
        yield ELSEWHERE


def stated(
    window: PreparedWindow, view: View, seen: Sequence[Entry], request: dict[str, Any]
) -> Stated:
    """What a request carries of what a session shows: `seen`, in the view it was made of."""
    folded, last = window.folded, view.last
    made = [seq for seq in folded.summaries if seq > last]
    standing = View(session=view.session, folded=folded, last=last).seen
    said = [one for one in seen if one.is_message and _says(one)]
    shown = [one for one in said if within(one.seq, standing)]
    parts = list(_parts(one for one in seen if within(one.seq, standing)))
    gone = {(ref.seq, ref.ordinal) for ref in folded.cleared}
    cleared = Counter(_what(part) for ref, part in parts if (ref.seq, ref.ordinal) in gone)
    thoughts = sum(is_thought(part) for _, part in parts)
    return Stated(
        messages=len(shown),
        summaries=len(folded.summaries) - len(made),
        made=len(made),
        covered=len(said) - len(shown),
        cleared=cleared,
        unread=max(thoughts - cleared["thought"] - _thoughts(request), 0),
    )


def _says(entry: Entry) -> bool:
    """Whether anything is left of a message when empty text is not sent."""
    parts = entry.body.parts if isinstance(entry.body, Message) else ()
    return any(not isinstance(part, Text) or part.text.strip() for part in parts)


def _parts(entries: Iterator[Entry]) -> Iterator[tuple[PartRef, Part]]:
    for entry in entries:
        if isinstance(entry.body, Message):
            for ordinal, part in enumerate(entry.body.parts):
                yield PartRef(entry.seq, ordinal), part


def _what(part: Part) -> str:
    if is_thought(part):
        return "thought"
    return "output" if isinstance(part, ToolResult) else "part"


def _thoughts(request: dict[str, Any]) -> int:
    """How many thoughts a request carries."""
    kinds = [item.get("type") for item in request.get("input", ())]
    for message in request.get("messages", ()):
        content: Any = message.get("content")
        kinds += () if isinstance(content, str) else [one.get("type") for one in content or ()]
    return sum(kind in ("thinking", "redacted_thinking", "reasoning") for kind in kinds)
