"""Which words count: those that no rewind has left behind."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.core.log.fold import fold
from holdfast.model.ledger import Ledger, Request, Turnback
from holdfast.model.log import Entry, Redo, Rewind, Undo
from holdfast.model.span import Spans, within


def current(known: Ledger) -> Ledger:
    """Only what counts: without the words that a rewind left behind."""
    if not known.turnbacks:
        return known
    seen = visible(known)
    return replace(
        known,
        requests=tuple(as_seen(one, seen) for one in known.requests if within(one.seq, seen)),
        constraints=tuple(one for one in known.constraints if within(one.seq, seen)),
        corrections=tuple(one for one in known.corrections if within(one.seq, seen)),
        plans=tuple(one for one in known.plans if within(one.seq, seen)),
        decisions=tuple(one for one in known.decisions if within(one.seq, seen)),
    )


def as_seen(request: Request, seen: Spans) -> Request:
    """A request whose end was left behind is open again."""
    if request.ended and not within(request.ended, seen):
        request = replace(request, status="open", ended=0)
    if request.fated and not within(request.fated, seen):
        request = replace(request, fate="", fated=0, inferred="")
    return request


def visible(known: Ledger) -> Spans:
    """The stretches of the log whose words count."""
    return left_by(known.turnbacks)


def left_by(marks: Iterable[Turnback]) -> Spans:
    """The stretches of a log that rewinds, and undos and redos of them, leave visible."""
    entries = [
        Entry(id="", session="", seq=mark.seq, created=0, body=_marker(mark)) for mark in marks
    ]
    return fold(entries).visible


def _marker(mark: Turnback) -> Rewind | Undo | Redo:
    if mark.kind == "rewind":
        return Rewind(to=mark.target)
    return Undo(marker=mark.target) if mark.kind == "undo" else Redo(marker=mark.target)
