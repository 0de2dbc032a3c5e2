"""`holdfast undo` and `holdfast redo`: a compaction or rewind taken back, or done again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import Asked, common, find_with_entry, session_argument

if TYPE_CHECKING:
    from holdfast.engine.client import Holdfast, Session
    from holdfast.engine.inspect.explain import Explained
    from holdfast.model.log import Entry
    from holdfast.model.span import Spans
    from holdfast.model.view import View


@click.command()
@session_argument
@click.argument("marker", default="")
@common
def undo(asked: Asked, session: str, marker: str) -> None:
    """Take back the newest compaction or rewind, or that of MARKER.

    MARKER is an entry's number or id, as `holdfast context` gives it; a number alone is one of the
    last session.
    """
    _turn(asked, session, marker, back=True)


@click.command()
@session_argument
@click.argument("marker", default="")
@common
def redo(asked: Asked, session: str, marker: str) -> None:
    """Do again what was undone last, or MARKER: a number alone is one of the last session."""
    _turn(asked, session, marker, back=False)


def _turn(asked: Asked, session: str, marker: str, *, back: bool) -> None:
    from holdfast.cli.ui.terminal import emit

    with asked.open() as hf:
        found, marker = find_with_entry(hf, session, marker)
        opened = hf.session(found.id)
        before = opened.view(), opened.explain_now()
        done = opened.undo(marker) if back else opened.redo(marker)
        after = opened.view(), opened.explain_now()
        target = opened.entry(done.body.marker)  # type: ignore[union-attr]
        told = as_value(opened, done, target, before, after)
        if asked.json:
            emit(told)
        else:
            _tell(hf, opened, told, back=back)


Moment = tuple["View", "Explained"]
"""A session at one moment: what is visible, and what its window takes."""


def as_value(
    session: Session, done: Entry, target: Entry, before: Moment, after: Moment
) -> dict[str, Any]:
    """What was undone or done again, and what that changed, as JSON: every key, always."""
    from holdfast.cli.ui.json_values import plain
    from holdfast.model.span import clip, without

    last = before[0].last
    came = clip(without(after[0].spans, before[0].spans), 1, last)
    went = clip(without(before[0].spans, after[0].spans), 1, last)
    was, now = set(before[0].folded.cleared), set(after[0].folded.cleared)
    return {
        "session": session.id,
        "entry": done.seq,
        "marker": target.seq,
        "kind": type(target.body).__name__,
        "step": getattr(target.body, "step", ""),
        "back": plain(came),
        "left": plain(went),
        "messages": {"back": _messages(session, came), "left": _messages(session, went)},
        "parts": {"back": len(was - now), "left": len(now - was)},
        "window": {
            "before": before[1].tokens,
            "after": after[1].tokens,
            "window": after[1].window,
            "room": after[1].room,
        },
    }


def _messages(session: Session, spans: Spans) -> int:
    from holdfast.engine.bridge import drive
    from holdfast.engine.compaction.forecast import messages

    return drive(messages(session.store.log, session.id, spans))


def _tell(hf: Holdfast, session: Session, told: dict[str, Any], *, back: bool) -> None:
    from holdfast.cli.context.fullness import change
    from holdfast.cli.sessions.list import shortened
    from holdfast.cli.ui.format import number
    from holdfast.cli.ui.terminal import hint, say

    name = shortened(hf, [session.id])[session.id]
    what = " of ".join(filter(None, (told["step"] or told["kind"].lower(), f"#{told['marker']}")))
    say(f"{'Undone' if back else 'Done again'}, as entry {told['entry']}: the {what}.")
    for side, words in (("back", "Back in the window"), ("left", "Out of the window")):
        if moved := _moved(told, side):
            say(f"{words}: {moved}.")
    window = told["window"]
    say(f"What would be sent: {change(window['before'], window['after'], window['window'])}.")
    if window["window"] and window["after"] > window["room"]:
        over = number(window["after"] - window["room"])
        say(f"That is {over} tokens too many: the next window makes room again.", "yellow")
    other = "redo" if back else "undo"
    hint(f"holdfast {other} {name} {told['marker']}  turns it round again")


def _moved(told: dict[str, Any], side: str) -> str:
    """What came or went, in words."""
    from holdfast.cli.ui.entry_text import spans
    from holdfast.cli.ui.format import many
    from holdfast.model.span import Span

    messages, parts = told["messages"][side], told["parts"][side]
    where = spans(tuple(Span(first, last) for first, last in told[side]))
    facts = (
        f"{many(messages, 'message')} ({where})" if messages else "",
        f"what was cleared of {many(parts, 'part')}" if parts and not messages else "",
    )
    return ", ".join(filter(None, facts))
