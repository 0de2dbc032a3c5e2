"""How much one file may ask for in all, where a few bytes of it can ask for much.

Rule 1: what a compaction leaves visible is told message by message, so a file of many compactions
        that keep many messages would tell far more than it holds: beyond the allowance it is told
        without them. They are in the log all the same, and it is said that they are not told.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.model.transcript_events import Problem

MOST_KEPT = 1_000_000
"""How many messages the compactions of one file keep beside their summaries, all together."""

TOO_MANY = "its compactions keep more messages than are told of one file: some keep none here"


class Allowance:
    """So many of something, until they are used up."""

    def __init__(self, left: int = MOST_KEPT, complaint: str = TOO_MANY) -> None:
        self._left, self._complaint = left, complaint

    def take(self, many: int) -> bool:
        """Whether so many more are allowed; once they are not, none are."""
        self._left -= many
        return self._left >= 0

    def told(self) -> Iterator[Problem]:
        """That it was not enough, if it was not."""
        if self._left < 0:
            yield Problem(self._complaint)
