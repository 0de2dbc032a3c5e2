"""The list of messages that a session is, and how it changes: what that tells.

Rule 1: the last message may be written again; it is told when another comes.
Rule 2: a list that becomes another is told as the shortest way there: answers that were masked are
        cleared, a summary of what was said before is a compaction, anything else is a rewind.
Rule 3: messages that a compaction left as they were stay where they are.
Rule 4: of what was told, only its words are held, and of what is gone, only its fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from holdfast.importers.budget import Allowance
from holdfast.importers.gemini_cli.turns import AGENT, Turn, turn
from holdfast.importers.jsonl import Found
from holdfast.model.message import Record
from holdfast.model.transcript_events import Cleared, Compacted, Kept, Rewound, TranscriptEvent

MOST_AGAIN = 100_000
"""How many messages are told once more, because one before them was written again."""
MOST_BACK = 5_000_000
"""How many messages are looked through for those that are gone back to, or written again."""


GONE = Found(0, b"", {})
"""In the place of a record that nobody needs any more."""


class Thread:
    """The messages of one session."""

    def __init__(self) -> None:
        self._told: list[Turn] = []
        self._last: Turn | None = None
        self._known: dict[str, Turn] = {}
        self._owners: dict[str, str] = {}
        """The messages that hold the answers to calls."""
        self._ids: set[str] = set()
        self._end = self._base = ""
        """The native ids of what was said last, and of what was before the last compaction."""
        self._tokens = 0
        self._again = Allowance(MOST_AGAIN, "messages are written again more often than is told")
        self._back_to = Allowance(MOST_BACK, "it goes back more often than is told")

    def add(self, found: Found) -> Iterator[TranscriptEvent]:
        """A message, or another state of one that is there."""
        id = found.text("id")
        made = turn(found, lambda call: self._owners.get(call, id) != id)
        if self._last and self._last.id == made.id:
            yield Kept(_old(self._last, made))
        elif made.id in self._ids and not self._may_tell_again(made.id):
            kind = found.text("type") or "untyped"
            yield Kept(Record(AGENT, kind, found.data, found.line, whole=True))
            return
        elif made.id in self._ids:
            yield Kept(replace(made.record, whole=True))
            yield from self.become([made if one.id == made.id else one for one in self._now])
            return
        else:
            yield from self._settle()
        self._last = made
        self._ids.add(made.id)
        self._owners |= dict.fromkeys(made.answers, made.id)

    def _may_tell_again(self, id: str) -> bool:
        """Whether a message and all behind it may be told once more."""
        behind = next((n for n, one in enumerate(reversed(self._told), 1) if one.id == id), 0)
        return self._back_to.take(len(self._told)) and self._again.take(behind)

    def rewind(self, id: str, created: int) -> Iterator[TranscriptEvent]:
        """A message and all behind it are gone; everything, where nobody knows the message."""
        if not self._back_to.take(len(self._told)):
            return
        now = self._now
        at = next((number for number, one in enumerate(now) if one.id == id), 0)
        yield from self.become(now[:at], created)

    def replace(self, founds: Sequence[Found], created: int) -> Iterator[TranscriptEvent]:
        """All messages are others from here on."""
        wanted: dict[str, Turn] = {}
        answered: set[str] = set()
        for found in founds:
            made = turn(found, answered.__contains__)
            answered |= made.answers.keys()
            wanted[made.id] = made
        yield from self.become(list(wanted.values()), created, masks=True)

    def close(self) -> Iterator[TranscriptEvent]:
        """What is left when the file ends here."""
        yield from self._settle(open=True)
        yield from self._again.told()
        yield from self._back_to.told()

    @property
    def _now(self) -> list[Turn]:
        return [*self._told, self._last] if self._last else [*self._told]

    def _settle(self, *, open: bool = False) -> Iterator[TranscriptEvent]:
        last, self._last = self._last, None
        if last:
            yield from self._tell(last, open=open)

    def _tell(self, made: Turn, *, open: bool = False) -> Iterator[TranscriptEvent]:
        if made.summary:
            yield self._compacted(made, ())
            self._told = []
        for number, said in enumerate(made.said if not made.summary else (), 1):
            yield replace(said, open=True) if open and number == len(made.said) else said
        if not made.said:
            yield Kept(replace(made.record, whole=True))
        if made.called:
            self._tokens = made.called.usage.prompt
            yield made.called
        self._told.append(replace(made, late=True, found=GONE))
        self._known[made.id] = _prints(made)
        self._end = made.end or self._end

    def become(
        self, wanted: list[Turn], created: int = 0, *, masks: bool = False
    ) -> Iterator[TranscriptEvent]:
        """The list is another one from here on."""
        if self._last and self._last.summary and any(one.id == self._last.id for one in wanted):
            self._last = None  # it is told with what it keeps
        self._ids = {one.id for one in wanted}
        self._owners = {call: one.id for one in wanted for call in one.answers}
        yield from self._settle()
        at = _common(self._told, wanted, masks=masks)
        yield from self._masked(self._told[:at], wanted, created)
        summaries = [number for number, one in enumerate(wanted) if one.summary]
        gone = self._told[at:]
        again = any(map(self._is_known, wanted[at:])) or not all(one.late for one in gone)
        if summaries and (summaries[-1] >= at or again):
            yield from self._compact(wanted, summaries[-1], created)
            return
        if gone:
            yield from self._back(_end(self._told[:at]), created)
            del self._told[at:]
        for made in wanted[at:]:
            yield from self._tell(made)

    def _masked(
        self, told: list[Turn], wanted: list[Turn], created: int
    ) -> Iterator[TranscriptEvent]:
        """Answers that are others now left the model's view."""
        now = {call: print for one in wanted for call, print in one.answers.items()}
        calls = [call for one in told for call, print in one.answers.items()
                 if now.get(call, print) != print]  # fmt: skip
        if calls:
            yield Cleared(calls=tuple(calls), created=created, step="mask", reason="masked")

    def _compact(self, wanted: list[Turn], at: int, created: int) -> Iterator[TranscriptEvent]:
        """Tell a summary and what stays beside it."""
        summary = wanted[at]
        if any(one.id == summary.id for one in self._told):
            yield from self._back(self._base, created)
            for one in self._told:
                if one.late:
                    self._known.pop(one.id, None)
        kept = [one for one in wanted if one is not summary and self._is_known(one)]
        stay = {one.id for one in (*kept, summary)}
        yield self._compacted(summary, tuple(said.native for one in kept for said in one.said))
        yield from self._masked([self._known[one.id] for one in kept], wanted, created)
        self._told = []
        for made in wanted:
            if made.id in stay:
                self._told.append(replace(made, late=made is summary, found=GONE))
            else:
                yield from self._tell(made)

    def _is_known(self, made: Turn) -> bool:
        known = self._known.get(made.id)
        return known is not None and known.core == made.core

    def _compacted(self, summary: Turn, kept: tuple[str, ...]) -> Compacted:
        self._base, self._end = self._end, summary.id
        self._known[summary.id] = _prints(summary)
        created = summary.said[0].created if summary.said else 0
        return Compacted(
            text=summary.summary, created=created, native=summary.id, trigger="auto",
            before=self._tokens, kept=kept, records=(summary.record,),
        )  # fmt: skip

    def _back(self, to: str, created: int) -> Iterator[TranscriptEvent]:
        if self._end != to:
            yield Rewound(to=to, created=created)
            self._end = to


def _prints(made: Turn) -> Turn:
    """What is remembered of a message after it is gone."""
    record = Record(AGENT, "", b"")
    return Turn(made.id, GONE, (), record, core=made.core, answers=made.answers)


def _common(told: list[Turn], wanted: list[Turn], *, masks: bool) -> int:
    """How many messages are the same in both, from the beginning."""
    for number, (one, other) in enumerate(zip(told, wanted, strict=False)):
        if one.id != other.id or one.core != other.core:
            return number
        if not masks and one.answers != other.answers:
            return number
    return min(len(told), len(wanted))


def _end(told: list[Turn]) -> str:
    """The native id of what was said last in some messages."""
    return next((one.end for one in reversed(told) if one.late and one.end), "")


def _old(old: Turn, new: Turn) -> Record:
    """What is kept of a message that was written again: all of it, unless that is still there."""
    there = [part for said in new.said for part in said.message.parts]
    same = all(part in there for said in old.said for part in said.message.parts)
    data = old.record.data if same else old.found.data
    return replace(old.record, data=data, whole=True)
