"""What stands in a log that grows: going on costs what is new, however long the past is.

Rule 1: it is what folding all the markers would give.
Rule 2: a rewind goes on from the marker it goes back to, be that one left long ago: each marker
        knows the one in force before it.
Rule 3: settings and undos, which reach across rewinds, are folded with all the rest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from holdfast.core.log.fold import START, fold
from holdfast.model.log import (
    Clear,
    Context,
    Entry,
    Folded,
    Notes,
    PartRef,
    Records,
    Rewind,
    Summary,
)

FAR = 64
"""So many markers are folded again at most where a rewind goes back among them."""

_SIMPLE = (Summary, Clear, Notes, Context, Rewind, Records)
"""What stays or goes with the stretch of the conversation it is in."""


class Standing:
    """The markers of one log, taken in order."""

    def __init__(self) -> None:
        self._markers: Sequence[Entry] = ()
        self._seqs: list[int] = []
        self._before: list[int] = []
        self._states: dict[int, Folded] = {-1: START}
        self._simple = True
        self.cleared: set[PartRef] = set()
        """Whatever was ever cleared."""

    def follow(self, markers: Sequence[Entry]) -> None:
        """Take what is new of a log's markers; another list is another log's."""
        if markers is not self._markers:
            self.__init__()
            self._markers = markers
        for entry in markers[len(self._seqs) :]:
            self._take(entry)

    def _take(self, entry: Entry) -> None:
        body, before = entry.body, len(self._seqs) - 1
        if isinstance(body, Rewind):
            before = bisect_right(self._seqs, min(body.to, entry.seq - 1)) - 1
        if isinstance(body, Clear):
            self.cleared.update(body.parts)
        self._simple = self._simple and isinstance(body, _SIMPLE)
        self._seqs.append(entry.seq)
        self._before.append(before)

    @property
    def state(self) -> Folded:
        """What stands after all of them."""
        if not self._simple:
            return fold(self._markers)
        path, at = list[int](), len(self._seqs) - 1
        while at not in self._states:
            path.append(at)
            at = self._before[at]
        state = self._states[at]
        for start in range(len(path), 0, -FAR):
            some = path[max(start - FAR, 0) : start]
            state = fold([self._markers[one] for one in reversed(some)], state)
            self._states[some[0]] = state
        return state

    def of(self, seqs: Sequence[int]) -> list[Entry]:
        """The markers at some places of the log."""
        return [self._markers[bisect_right(self._seqs, seq) - 1] for seq in seqs]
