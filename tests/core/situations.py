"""Moments of a session as a planner sees them, with sizes that a test says."""

from __future__ import annotations

from typing import Any

from holdfast.core.compaction.situation import Situation
from holdfast.model.log import Entry, Folded
from holdfast.model.message import Part, Text, ToolCall, ToolResult
from holdfast.model.policy import Place, Policy
from holdfast.model.profile import Profile
from holdfast.model.view import View
from holdfast.model.window import Budget, Count
from holdfast.testing.factories import NOON, entry, session

PLAIN = Policy(name="plain", layout=(Place("history"), Place("current")))


def situation(*entries: Entry, over: bool = False, room: int = 100_000, **named: Any) -> Situation:
    """A moment at which so many tokens fit; `over` says that more would be sent."""
    folded = named.pop("folded", Folded())
    tokens = named.pop("tokens", room + 1 if over else room // 2)
    profile = named.pop("profile", Profile(name="m", window=200_000))
    return Situation(
        view=View(session=session("s"), folded=folded, last=entries[-1].seq if entries else 0),
        entries=entries,
        policy=named.pop("policy", PLAIN),
        profile=profile,
        budget=Budget(window=profile.window, output=0, margin=0, room=room),
        count=Count(tokens=tokens),
        **named,
    )


def user(seq: int, text: str = "go on", size: int = 10) -> Entry:
    return entry(seq, text, counts=(size,))


def says(seq: int, *parts: Part | str, sizes: tuple[int, ...] = (), **named: Any) -> Entry:
    """A reply whose parts take so much, ten each unless told."""
    from holdfast.model.message import Message

    body = Message("assistant", tuple(Text(p) if isinstance(p, str) else p for p in parts))
    return entry(seq, body, counts=sizes or (10,) * len(parts), completed=NOON, **named)


def calls(seq: int, id: str, name: str = "read", input: str = '{"path": "a.py"}') -> Entry:
    return says(seq, ToolCall(id, name, input))


def result(seq: int, id: str, size: int, name: str = "read", *, error: bool = False) -> Entry:
    """What a tool answered, of so many tokens."""
    from holdfast.model.message import tool

    return entry(seq, tool(ToolResult(id, "x" * 400, error=error, name=name)), counts=(size,))


def rounds(*sizes: int, name: str = "read") -> tuple[Entry, ...]:
    """One turn for each size: a request, a call of another file, its result, and a reply."""
    made: list[Entry] = []
    for n, size in enumerate(sizes):
        first = 4 * n + 1
        made += [
            user(first),
            calls(first + 1, f"c{n}", name, f'{{"path": "{n}.py"}}'),
            result(first + 2, f"c{n}", size, name),
            says(first + 3, "done"),
        ]
    return tuple(made)
