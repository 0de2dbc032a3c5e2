"""What the markers leave visible of one session, ready to be read."""

from __future__ import annotations

from msgspec import Struct

from holdfast.model.log import Entry, Folded, SessionInfo
from holdfast.model.span import Span, Spans, clip, union


class View(Struct, frozen=True, kw_only=True):
    """A session as it is seen at one entry: what stands, and where its words are."""

    session: SessionInfo
    folded: Folded
    last: int
    """The newest entry that is taken into account."""
    read: tuple[Entry, ...] = ()
    """Standing summaries that were read already."""

    @property
    def spans(self) -> Spans:
        """The conversation: what is visible, and what stays visible inside covered stretches."""
        kept = tuple(Span(seq, seq) for seq in self.folded.kept)
        return clip(union(self.folded.visible, kept), 1, self.last)

    @property
    def newest(self) -> int:
        """The newest entry that is taken into account, a marker that only a preview has too."""
        return max(self.last, self.folded.epoch)

    @property
    def seen(self) -> Spans:
        """The same with what is pinned: where that is covered its text stands among the pins."""
        pinned = tuple(Span(pin.seq, pin.seq) for pin in self.folded.pins if pin.seq)
        return clip(union(self.spans, pinned), 1, self.last)

    @property
    def standing(self) -> Spans:
        """The summaries that stand for what is covered."""
        return tuple(Span(seq, seq) for seq in self.folded.summaries)


def place_of(entry: Entry) -> float:
    """Where an entry is read: a summary right behind what it covers, anything else at its seq."""
    covers: Spans = getattr(entry.body, "covers", ())
    return covers[-1].last + 0.5 if covers else float(entry.seq)
