"""What was last said in a session, shown to whoever goes on with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.ui.format import ago, many
from holdfast.cli.ui.terminal import fitted, one_line
from holdfast.core.window.scaffold import own_words
from holdfast.model.message import Message, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.cli.chat.screen import Screen
    from holdfast.engine.client import Session
    from holdfast.model.log import Entry

LOOKED_AT = 100
"""So many of the newest entries are looked at."""

QUESTION, ANSWER = 3, 16
"""Rows that are shown of what the user said, and of the reply: of a longer one the end."""


def show_last(screen: Screen, session: Session) -> None:
    """Show the user's last words and what was answered; outputs can be shown as in the chat."""
    screen.outputs.clear()
    entries = _since_asked(session)
    if not entries:
        return
    first, *others = entries
    _question(screen, first)
    said = _calls(screen, others)
    bodies = [one.body for one in others if isinstance(one.body, Message)]
    replies = [body for body in bodies if body.role == "assistant"]
    texts = [text for body in replies if (text := _text(body))]
    if texts:
        _answer(screen, texts[-1])
    elif not replies:
        screen.say("  nothing was answered", "yellow")
    elif not said:
        screen.say("  the answer has no words", "dim")
    if any(_aborted(body) for body in bodies):
        screen.say("interrupted there", "yellow")


def _since_asked(session: Session) -> list[Entry]:
    """The last entry in words of the user's own, and what came after it."""
    for whole in (False, True):  # after a summary of everything nothing that was said is visible
        entries = _newest(session, whole=whole)
        asked = [at for at, one in enumerate(entries) if _own(one)]
        if asked:
            return list(entries[asked[-1] :])
    return []


def _newest(session: Session, *, whole: bool) -> list[Entry]:
    from holdfast.engine.bridge import drive, drive_all
    from holdfast.engine.loading import tail, tail_pages

    log, view = session.store.log, session.view()
    end = drive(tail(log, view, LOOKED_AT, whole=whole))
    return [one for page in drive_all(tail_pages(log, view, end)) for one in page]


def _own(entry: Entry) -> str:
    """What somebody typed; empty for all else."""
    body = entry.body
    return _text(body) if isinstance(body, Message) and body.role == "user" else ""


def _text(body: Message) -> str:
    texts = [one.text for one in body.parts if isinstance(one, Text) and not one.scaffold]
    told = "\n\n".join(texts).strip()
    return own_words(told) if body.role == "user" else told


def _aborted(body: Message) -> bool:
    return any(isinstance(one, Text) and one.scaffold == "turn_aborted" for one in body.parts)


def _question(screen: Screen, entry: Entry) -> None:
    screen.say(f"last said, {ago(entry.created)}:", "dim")
    lines = [line for line in _own(entry).splitlines() if line.strip()]
    for line in lines[:QUESTION]:
        screen.say(f"  > {fitted(line, max(screen.console.width - 4, 8))}", "bold")
    if more := lines[QUESTION:]:
        screen.say(f"    … {many(len(more), 'line')} more", "dim")


def _calls(screen: Screen, entries: Sequence[Entry]) -> int:
    """Keep what tools have answered, and say how many did."""
    from holdfast.cli.chat.screen import about

    parts = [part for one in entries if isinstance(one.body, Message) for part in one.body.parts]
    asked = {part.id: part for part in parts if isinstance(part, ToolCall)}
    results = [part for part in parts if isinstance(part, ToolResult)]
    for result in results:
        call = asked.get(result.call)
        screen.outputs.add(about(call) if call else result.name, result)
    if results:
        names = ", ".join(dict.fromkeys(one_line(one.name) or "tool" for one in results))
        hint = f"/show 1 to /show {len(results)}" if len(results) > 1 else "/show"
        told = f"  → {many(len(results), 'call')} of {names}"
        screen.say(f"{fitted(told.strip(), 60)} · {hint}", "cyan")
    return len(results)


def _answer(screen: Screen, text: str) -> None:
    """A reply as it was drawn; of a long one the end."""
    from rich.segment import Segment, Segments

    from holdfast.cli.chat.screen import page

    rows = screen.console.render_lines(page(text), pad=False)
    left = len(rows) - ANSWER
    if left > 0:
        screen.say(f"… {many(left, 'row')} above", "dim")
    for row in rows[-ANSWER:]:
        screen.console.print(Segments([*row, Segment.line()]), end="")
    screen.say("")
