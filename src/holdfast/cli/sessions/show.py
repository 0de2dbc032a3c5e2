"""`holdfast show`: what a model would see of a session, or its whole log; never held whole."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import COUNTABLE, Asked, common, find, session_argument

if TYPE_CHECKING:
    from holdfast.cli.ui.entry_text import Piece
    from holdfast.core.log.tool_calls import ToolState
    from holdfast.engine.client import Session
    from holdfast.engine.inspect.explain import Explained
    from holdfast.model.log import Entry, SessionInfo
    from holdfast.model.view import View

Steps = Iterable[tuple["Entry", dict[str, "ToolState"]]]
"""Entries, each with the states of its calls."""

MOST, SCREENFUL = 200, 50
"""A terminal shows the last 50 entries where there are more than 200."""


@click.command()
@session_argument
@click.option(
    "--all", "whole", is_flag=True, help="The whole log, markers and covered entries too."
)
@click.option("--at", metavar="ENTRY", default="", help="As it was at an entry: its id or number.")
@click.option("--last", metavar="N", type=click.IntRange(0, COUNTABLE), default=None,
              help="Only the newest N entries of that; 0 shows all.")  # fmt: skip
@click.option("--around", metavar="N", type=click.IntRange(0, COUNTABLE), default=None,
              help="With --at: N entries before that one and N behind it.")  # fmt: skip
@click.option("--full", is_flag=True, help="Long texts in full, as when piped.")
@common
def show(
    asked: Asked, session: str, whole: bool, at: str, last: int | None, around: int | None,
    full: bool,
) -> None:  # fmt: skip
    """Show the window of a session: what its markers leave visible.

    A terminal shows the end of a long one, unless --last says how much.
    """
    from holdfast.cli.ui.terminal import console, emit

    screen = console().is_terminal and not asked.json
    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        view = _view(opened, at)
        if around is not None:
            from holdfast.cli.sessions.show_around import show_around

            show_around(asked, opened, view, around if at else None, full=full or not screen)
            return
        look = Look(view, imported_from(opened))
        many = _how_many(opened, view, whole=whole) if last is None and screen else last or 0
        entries, look.earlier = _chosen(opened, view, many, whole=whole)
        if at == "" and not asked.json and not whole:
            look.takes = opened.explain_now()
        steps = Callers(opened).named(stepwise(entries))
        if asked.json:
            for entry, states in steps:
                emit(look.as_value(entry, states))
            return
        drawn(opened.info, look, steps, whole=whole, full=full or not screen)


def _view(session: Session, at: str) -> View:
    """What is visible at an entry; one that is not there is told with those that are."""
    from holdfast.errors import InvalidRequest

    head = session.info.head
    if at.isascii() and at.isdigit() and not 1 <= int(at) <= head:
        there = f"it has 1 to {head:,}" if head else "it has none yet"
        raise InvalidRequest(
            f"there is no entry {at} in {session.id}: {there}; "
            f"`holdfast show {session.id} --all` lists them"
        )
    return session.view(at)


def _how_many(session: Session, view: View, *, whole: bool) -> int:
    """How many entries a screen shows where nobody said; 0: all."""
    from holdfast.engine.bridge import drive
    from holdfast.engine.loading import size

    many = drive(size(session.store.log, view, whole=whole))
    return SCREENFUL if many > MOST else 0


def _chosen(session: Session, view: View, many: int, *, whole: bool) -> tuple[Iterator[Entry], int]:
    """The entries to show, and how many were left out before them."""
    from holdfast.engine.bridge import drive, drive_all
    from holdfast.engine.loading import seen, tail, tail_pages

    log = session.store.log
    if not many:
        pages = drive_all(seen(log, view))
        return _log(session, view) if whole else chain.from_iterable(pages), 0
    end = drive(tail(log, view, many, whole=whole))
    return chain.from_iterable(drive_all(tail_pages(log, view, end))), end.earlier


def _log(session: Session, view: View) -> Iterator[Entry]:
    for entry in session.entries():
        if entry.seq > view.last:
            return
        yield entry


def stepwise(entries: Iterator[Entry]) -> Iterator[tuple[Entry, dict[str, ToolState]]]:
    """Each entry with the states of its tool calls, held back only until those are known."""
    from holdfast.core.log.tool_calls import tool_states

    held: list[Entry] = []
    for entry in entries:
        states = tool_states([*held, entry])
        goes_on = getattr(entry.body, "role", "") in ("user", "assistant")
        if goes_on:
            yield from ((one, states) for one in held)
            held = []
        held.append(entry)
        if all(states[call].state in ("completed", "error") for call in states):
            yield from ((one, states) for one in held)
            held = []
    states = tool_states(held)
    yield from ((one, states) for one in held)


class Look:
    """How a view sees the entries of its session."""

    def __init__(self, view: View, sources: tuple[str, ...] = ()) -> None:
        self.view, self.sources = view, sources
        self.tokens = self.messages = self.summaries = self.covered = 0
        self.takes: Explained | None = None
        """What would be sent now; None where something past is looked at."""
        self.earlier = 0
        """How many entries come before those that are shown."""
        self.later = self.place = 0
        """How many come behind them, and the one that was asked for; 0 where none was."""
        self._firsts = [span.first for span in view.seen]
        self._standing = frozenset(view.folded.summaries)
        self._cleared: dict[int, set[int]] = {}
        for ref in view.folded.cleared:
            self._cleared.setdefault(ref.seq, set()).add(ref.ordinal)

    def visible(self, entry: Entry) -> bool:
        """Whether it is in the window: a message in its spans, or a summary that stands."""
        if not entry.is_message:
            return entry.seq in self._standing
        at = bisect_right(self._firsts, entry.seq) - 1
        return at >= 0 and entry.seq in self.view.seen[at]

    def stands(self, entry: Entry) -> bool:
        """Whether a compaction shapes what is seen now, so that it can be undone."""
        if self.view.last < self.view.session.head:
            return False
        refs = getattr(entry.body, "parts", ())
        return entry.seq in self._standing or any(
            ref.ordinal in self._cleared.get(ref.seq, ()) for ref in refs
        )

    def cleared(self, entry: Entry) -> frozenset[int]:
        """The ordinals of its parts whose content has left the window."""
        return frozenset(self._cleared.get(entry.seq, ()))

    def tokens_of(self, entry: Entry) -> int:
        """What an entry takes of the window, by estimate."""
        from holdfast.core.tokens.estimate import estimate
        from holdfast.model.log import Summary

        if isinstance(entry.body, Summary):
            body = entry.body
            return sum(map(estimate, (body.text, body.ledger, body.expand)))
        gone = self.cleared(entry)
        return sum(count for ordinal, count in enumerate(entry.counts) if ordinal not in gone)

    def count(self, entry: Entry) -> None:
        """Add an entry to the totals."""
        if not self.visible(entry):
            self.covered += entry.is_message
            return
        self.tokens += self.tokens_of(entry)
        self.messages += entry.is_message
        self.summaries += not entry.is_message

    def as_value(self, entry: Entry, states: dict[str, ToolState]) -> dict[str, Any]:
        """An entry as JSON: every key, always."""
        import msgspec

        body = msgspec.to_builtins(entry.body)
        calls = [part.id for part in getattr(entry.body, "calls", ())]
        return {
            "seq": entry.seq,
            "id": entry.id,
            "kind": body["kind"],
            "role": body.get("role", ""),
            "created": entry.created,
            "completed": entry.completed,
            "model": entry.model,
            "tokens": self.tokens_of(entry),
            "visible": self.visible(entry),
            "cleared": sorted(self.cleared(entry)),
            "calls": {call: states[call].state for call in calls if call in states},
            "body": body,
        }


def drawn(session: SessionInfo, look: Look, steps: Steps, *, whole: bool, full: bool) -> None:
    """Entries one after the other, between what the session is and what was shown of it."""
    from holdfast.cli.ui.entry_view import Drawing

    drawing = Drawing(full=full)
    drawing.draw(heading(session, look))
    for entry, states in steps:
        look.count(entry)
        drawing.draw(told(entry, look, states, whole=whole))
    drawing.draw(ending(session, look, whole=whole, cut=drawing.cut))


def imported_from(session: Session) -> tuple[str, ...]:
    """The files that a session was imported from."""
    from holdfast.engine.bridge import drive

    return drive(session.store.imports.sources(session.id)) if session.info.agent else ()


def heading(session: SessionInfo, look: Look) -> Iterator[Piece]:
    """What a session is, in two lines, and which file it came from."""
    from holdfast.cli.ui.entry_text import Piece
    from holdfast.cli.ui.format import ago, many, path
    from holdfast.cli.ui.terminal import one_line

    yield Piece(session.title or session.id, "bold", 0)
    facts = (
        session.id if session.title else "",
        path(session.project),
        session.agent,
        session.model,
        many(session.head, "entry"),
        f"changed {ago(session.updated)}",
        _whence(session),
        "archived" if session.archived else "",
        f"as it was at {look.view.last}" if look.view.last < session.head else "",
    )
    yield Piece(one_line(" · ".join(filter(None, facts))), "dim", 0, body=True)
    if look.sources:
        first, *others = look.sources
        more = f" and {many(len(others), 'file')} more" if others else ""
        yield Piece(f"imported from {path(first)}{more}", "dim", 0, body=True)
    for pin in look.view.folded.pins:
        if pin.fact or pin.path:
            yield Piece(f"pinned · {pin.fact or pin.path}", "magenta", 0)
    if look.earlier:
        yield Piece("", indent=0)
        more = "--around N shows more" if look.place else "--last 0 shows all"
        yield Piece(f"… {many(look.earlier, 'earlier entry')}; {more}", "dim", 0)


def _whence(session: SessionInfo) -> str:
    """Where a session came from, where it came from another."""
    if not session.parent:
        return ""
    return f"{'forked' if session.fork else 'begun'} from {session.parent} at {session.fork}"


def told(entry: Entry, look: Look, states: dict[str, ToolState], *, whole: bool) -> Iterator[Piece]:
    """One entry: a message with its parts, a summary with its text, any other marker in a line."""
    from holdfast.cli.ui.entry_text import ROLES, Piece, parts_of
    from holdfast.model.message import Message

    yield Piece("", indent=0)
    body = entry.body
    if not isinstance(body, Message):
        yield from _marked(entry, look, whole=whole)
        return
    covered = whole and not look.visible(entry)
    facts = (
        f"#{entry.seq}  {body.role}",
        entry.model,
        "unfinished" if entry.completed is None and body.role == "assistant" else "",
        "not in the window" if covered else "",
    )
    here = "▶ " if entry.seq == look.place else ""
    style = "dim" if covered and not here else ROLES.get(body.role, "bold")
    yield Piece(here + " · ".join(filter(None, facts)), style, 0)
    yield from parts_of(entry, states, look.cleared(entry))


def _marked(entry: Entry, look: Look, *, whole: bool) -> Iterator[Piece]:
    """A marker in a line; of a compaction also what it was made by, and how to take it back."""
    from holdfast.cli.ui.entry_text import Piece, details, marker
    from holdfast.cli.ui.format import program
    from holdfast.cli.ui.terminal import one_line
    from holdfast.model.log import Clear, Summary
    from holdfast.model.message import Message

    body = entry.body
    assert not isinstance(body, Message)
    here = "▶ " if entry.seq == look.place else ""
    yield Piece(f"{here}#{entry.seq}  {marker(body)}", "magenta", 0)
    if isinstance(body, Summary | Clear):
        if facts := one_line(details(body)):
            yield Piece(facts, "dim", 4, body=True)
        if look.stands(entry):
            undo = f"`{program()} undo {look.view.session.id} {entry.seq}` takes it back"
            yield Piece(undo, "dim", 4)
    if isinstance(body, Summary) and not whole:
        for text in filter(None, (body.text, body.ledger, body.expand)):
            yield Piece(text, indent=4, body=True)


def ending(session: SessionInfo, look: Look, *, whole: bool, cut: bool) -> Iterator[Piece]:
    """What was shown, in numbers, and what was not."""
    from holdfast.cli.context.fullness import of_window, remarks
    from holdfast.cli.ui.entry_text import Piece
    from holdfast.cli.ui.format import many, program
    from holdfast.model.span import Span

    yield Piece("", indent=0)
    if look.later:
        yield Piece(f"… {many(look.later, 'later entry')}", "dim", 0)
        yield Piece("", indent=0)
    part = look.place or look.earlier
    shown = look.messages + (look.covered if part else 0)
    facts = (
        f"{'shown' if part else 'window'}: {many(shown, 'message')}",
        many(look.summaries, "summary") if look.summaries else "",
        f"{look.covered:,} of them not in the window" if part and look.covered else "",
        f"texts of about {many(look.tokens, 'token')}" if part or not look.takes else "",
        f"{many(look.covered, 'message')} outside it" if look.covered and not part else "",
    )
    yield Piece(" · ".join(filter(None, facts)), "dim", 0)
    if look.takes and session.head:
        yield Piece(f"would be sent: {of_window(look.takes.tokens, look.takes.window)}", "dim", 0)
        for remark in remarks(look.takes):
            yield Piece(remark, "dim", 0, body=True)
    hidden = not whole and look.view.seen != (Span(1, look.view.last),)
    hints = (
        f"{program()} show {session.id} --all shows the whole log" if hidden else "",
        "texts were cut for the screen; --full shows them whole" if cut else "",
    )
    for hint in filter(None, hints):
        yield Piece(hint, "dim", 0)


STEP, STEPS = 32, 8
"""So many entries before an answer are looked at at a time, and so many times."""

REMEMBERED = 1_000
"""How many calls that were met are remembered."""


class Callers:
    """The calls of one session, as far as they were met or looked for."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._met: dict[str, ToolState] = {}

    def named(
        self, steps: Iterable[tuple[Entry, dict[str, ToolState]]]
    ) -> Iterator[tuple[Entry, dict[str, ToolState]]]:
        """Each entry with the calls that it answers beside those that it makes."""
        for entry, states in steps:
            missing = [call for call in _answered(entry) if call not in states]
            self._remember(states)
            if missing:
                self._look(entry.seq, missing)
            yield entry, {call: self._met[call] for call in missing if call in self._met} | states

    def _look(self, before: int, calls: list[str]) -> None:
        from holdfast.core.log.tool_calls import tool_states
        from holdfast.engine.bridge import drive
        from holdfast.engine.loading import read
        from holdfast.model.span import Span

        last = before - 1
        for _ in range(STEPS):
            if last < 1 or all(call in self._met for call in calls):
                return
            near = Span(max(last - STEP + 1, 1), last)
            found = drive(read(self._session.store.log, self._session.id, (near,)))
            self._remember(tool_states(found))
            last = near.first - 1

    def _remember(self, states: dict[str, ToolState]) -> None:
        self._met |= states
        while len(self._met) > REMEMBERED:
            del self._met[next(iter(self._met))]


def _answered(entry: Entry) -> Iterator[str]:
    """The calls that an entry answers without saying which tool it was."""
    from holdfast.model.message import ToolResult

    for part in getattr(entry.body, "parts", ()):
        if isinstance(part, ToolResult) and not part.name:
            yield part.call
