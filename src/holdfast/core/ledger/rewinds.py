"""Rewinds that reach behind what is settled: the words that count are read again from the log.

Rule 1: what was done to files and run stays as it is; the words are those of the entries that are
        visible now: `reach` says from which earlier ledger they are read on, and which entries.
Rule 2: after that all of it is settled: whatever reaches behind it again is read again.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.bounds import WORDS, bounded
from holdfast.core.ledger.facts import tool_effects
from holdfast.core.ledger.facts.effort import passed
from holdfast.core.ledger.visible import current, left_by
from holdfast.model.ledger import Earlier, Ledger, Turnback
from holdfast.model.log import Entry, Redo, Rewind, Undo
from holdfast.model.span import Spans, clip


class Reach(Struct, frozen=True):
    """From where the words are read again."""

    base: int
    """The entry whose ledger has the words before them as they count now."""
    spans: Spans = ()
    """The entries behind it that count."""


def turnback(entry: Entry) -> Turnback | None:
    """What an entry turns back; None where it is neither a rewind nor an undo or redo."""
    body = entry.body
    if isinstance(body, Rewind):
        return Turnback(entry.seq, "rewind", body.to)
    if isinstance(body, Undo | Redo):
        kind = "undo" if isinstance(body, Undo) else "redo"
        return Turnback(entry.seq, kind, body.marker)
    return None


def may_reach_back(known: Ledger, entry: Entry) -> bool:
    """Whether an entry reaches behind what is settled; of an undo or redo, if it names a rewind."""
    mark = turnback(entry)
    return mark is not None and max(mark.target, 0) < known.earlier.upto


def reach(marks: Sequence[Turnback]) -> Reach:
    """From where to read again, given every rewind, and undo or redo of one, up to the newest."""
    newest = marks[-1]
    if newest.kind == "rewind":
        return Reach(newest.target)
    now = left_by(marks)
    for place in range(len(marks) - 1, -1, -1):
        base = marks[place].seq - 1
        if clip(left_by(marks[:place]), 1, base) == clip(now, 1, base):
            return Reach(base, clip(now, base + 1, newest.seq - 1))
    base = now[0].last if now and now[0].first == 1 else 0
    return Reach(base, clip(now, base + 1, newest.seq - 1))


def rejoined(known: Ledger, words: Ledger, entry: Entry) -> Ledger:
    """The ledger with the words that count once an entry has turned back that far."""
    known = tool_effects.left_behind(known, entry.seq)
    seen = current(words)
    done = {name: one for name, one in known.earlier.folded.items() if name not in WORDS}
    said = {name: one for name, one in seen.earlier.folded.items() if name in WORDS}
    made = replace(
        known,
        seq=entry.seq,
        requests=seen.requests,
        constraints=seen.constraints,
        corrections=seen.corrections,
        plans=seen.plans,
        decisions=seen.decisions,
        cut=False,
        turnbacks=(),
        earlier=Earlier(upto=entry.seq, folded={**done, **said}),
        weight=0,
    )
    return passed(bounded(Ledger(), made), entry.created)
