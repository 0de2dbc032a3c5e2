"""What sessions show when they are looked at as numbers: what filled their windows, and how full
they were when they were compacted; what was read, and what was read again.

Rule 1: entries are fed in order, and weigh what they were estimated at when they were said.
Rule 2: what fills a window is looked at when it is compacted; of a session that never was, at its
        end. A tool fills it with what it is asked and what it answers.
Rule 3: a file is read again where the same part of it was read before in the same session.
Rule 4: a window is as large as its program said; where it said nothing, as the model's is, or as
        much of that as the program is known to use.
Rule 5: what a fork shares with its parent fills its window, and is counted with the parent alone.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable

from msgspec import Struct, field

from holdfast.core.ledger.facts.tool_dialects import TOOLS
from holdfast.core.log.fold import fold
from holdfast.core.log.tool_input import arguments, first, text_of
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.occupancy import held
from holdfast.model.log import Entry, Folded, PartRef, SessionInfo, Summary
from holdfast.model.message import (
    Media,
    Message,
    Part,
    Reasoning,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.reply import Spent, Usage
from holdfast.model.span import Span, normal

MOST_FILES = 20
"""Of so many files it is told how often they were read again."""


_KINDS: dict[type[Part], str] = {
    Reasoning: "thinking",
    SummaryText: "summary",
    Media: "pictures",
}


class Compaction(Struct, frozen=True, kw_only=True):
    """One compaction, and how full the window was."""

    session: str
    seq: int
    created: int
    model: str
    trigger: str
    tokens: int
    """How much was in it: as it was told, or else as it is estimated."""
    window: int
    """How much fits in it; 0 where nobody knows."""

    @property
    def share(self) -> float | None:
        """How much of it was full; None where nobody knows how large it is."""
        return self.tokens / self.window if self.window else None


class Stats(Struct, frozen=True, kw_only=True):
    """What some sessions show together."""

    name: str
    sessions: int = 0
    calls: int = 0
    usage: Usage = Usage()
    cost: int = 0
    """In billionths of a US dollar, of the calls whose price is known."""
    unpriced: int = 0
    compactions: tuple[Compaction, ...] = ()
    filled: dict[str, int] = {}
    """The tokens in their windows by what they came from, the most first."""
    reads: int = 0
    """How often a file was read,"""
    again: int = 0
    """of which so often it had been read before,"""
    after: int = 0
    """and of these so often there was a compaction between."""
    files: dict[str, int] = {}
    """The files that were read again most often."""
    begun: int = 0
    """When the first of what was said was said, in ms; 0 where nobody told,"""
    ended: int = 0
    """and when the last was."""

    @property
    def hit_rate(self) -> float | None:
        """How much of what was sent came from a cache; None where nothing was sent."""
        return self.usage.cache_read / self.usage.prompt if self.usage.prompt else None


class Seen(Struct):
    """What was found of one session with one model."""

    compactions: list[Compaction] = field(default_factory=list[Compaction])
    filled: Counter[str] = field(default_factory=Counter[str])
    reads: int = 0
    again: int = 0
    after: int = 0
    files: Counter[str] = field(default_factory=Counter[str])
    begun: int = 0
    ended: int = 0

    def lasts(self, first: int, last: int) -> None:
        """It lasted from then to then, too; 0 is no time."""
        self.begun = min(filter(None, (self.begun, first)), default=0)
        self.ended = max(self.ended, last)


class Looking:
    """One session, entry by entry; `seen` is what was found of it by model."""

    def __init__(
        self, session: SessionInfo, window: Callable[[str], int], since: int = 0, largest: int = 0
    ) -> None:
        """`largest` is how much the largest call of the session took."""
        self.seen: dict[str, Seen] = {}
        self._session, self._window, self._since = session, window, since
        self._largest = largest
        self._model = session.model
        self._seqs, self._ordinals, self._tokens, self._sources = (array("q") for _ in range(4))
        self._names: dict[str, int] = {}
        self._calls: dict[str, tuple[str, str, str]] = {}
        self._read: dict[tuple[str, str], int] = {}
        self._summaries: dict[int, int] = {}
        self._markers: list[Entry] = []
        self._first = self._last = 0

    def feed(self, entry: Entry) -> None:
        """Take one more entry."""
        body = entry.body
        if self._counts(entry.seq, entry.created):
            self._first = self._first or entry.created
            self._last = max(self._last, entry.created)
        if isinstance(body, Message):
            self._model = entry.model or self._model
            for ordinal, part in enumerate(body.parts):
                weight = entry.counts[ordinal] if ordinal < len(entry.counts) else 0
                self._hold(entry.seq, ordinal, self._source(entry, body, part), weight)
        elif isinstance(body, Summary):
            self._compacted(entry, body)
        elif not self._summaries:
            self._markers.append(entry)

    def finish(self) -> None:
        """The session ends here."""
        if not self._summaries and self._counts(self._session.head, self._session.updated):
            self._own.filled += self._filling(fold(self._markers), self._session.head + 1)
        for one in self.seen.values():
            one.lasts(self._first, self._last)

    @property
    def _own(self) -> Seen:
        return self.seen.setdefault(self._model, Seen())

    def _counts(self, seq: int, created: int) -> bool:
        return seq > self._session.fork and created >= self._since

    def _hold(self, seq: int, ordinal: int, source: str, weight: int) -> None:
        if weight:
            self._seqs.append(seq)
            self._ordinals.append(ordinal)
            self._tokens.append(weight)
            self._sources.append(self._names.setdefault(source, len(self._names)))

    def _source(self, entry: Entry, body: Message, part: Part) -> str:
        """What a part comes from."""
        if isinstance(part, ToolCall):
            self._calls[part.id] = (part.name, *_reads(part))
            return part.name
        if isinstance(part, ToolResult):
            name, path, piece = self._calls.pop(part.call, (part.name, "", ""))
            if path and not part.error:
                self._looked(entry, path, piece)
            return name or "unknown tool"
        if isinstance(part, Text):
            said = "model" if body.role == "assistant" else body.role
            return "context" if part.scaffold else said
        return _KINDS.get(type(part), "other")

    def _looked(self, entry: Entry, path: str, piece: str) -> None:
        """A file was read."""
        before = self._read.get((path, piece))
        self._read[path, piece] = len(self._summaries)
        if self._counts(entry.seq, entry.created):
            self._own.reads += 1
            if before is not None:
                self._own.again += 1
                self._own.after += before < len(self._summaries)
                self._own.files[path] += 1

    def _compacted(self, entry: Entry, body: Summary) -> None:
        if self._counts(entry.seq, entry.created):
            filled = self._filling(body.folded, entry.seq)
            self._own.filled += filled
            tokens = body.prompt_before or (body.step.startswith("import") and body.tokens_before)
            tokens = tokens or filled.total()
            self._own.compactions.append(
                Compaction(
                    session=self._session.id, seq=entry.seq, created=entry.created,
                    model=self._model, trigger=body.trigger,
                    tokens=tokens, window=body.window or self._room(tokens),
                )
            )  # fmt: skip
        self._summaries[entry.seq] = estimate(body.text)
        self._markers.clear()

    def _room(self, tokens: int) -> int:
        """How much fits in a window that held so many tokens; 0 where nobody knows."""
        known = self._window(self._model) if self._model else 0
        largest = max(self._largest, tokens)
        return held(known, self._session.agent, self._model, largest).window

    def _filling(self, folded: Folded, end: int) -> Counter[str]:
        """What fills the window that some markers leave, by where it comes from."""
        names = list(self._names)
        gone = set(folded.cleared)
        found: Counter[str] = Counter()
        for span in normal((*folded.visible, *(Span(seq, seq) for seq in folded.kept))):
            last = bisect_left(self._seqs, min(span.last, end - 1) + 1)
            for at in range(bisect_left(self._seqs, span.first), last):
                if PartRef(self._seqs[at], self._ordinals[at]) not in gone:
                    found[names[self._sources[at]]] += self._tokens[at]
        for seq in folded.summaries:
            found["summary"] += self._summaries.get(seq, 0)
        return found


class Tally:
    """The sums of one group of sessions."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._sessions: set[str] = set()
        self._calls = self._cost = self._unpriced = 0
        self._usage = Usage()
        self._seen = Seen()

    def spent(self, session: str, one: Spent) -> None:
        """Some calls of a session."""
        self._sessions.add(session)
        self._calls += one.calls
        self._cost += one.cost
        self._unpriced += one.unpriced
        self._usage += one.usage

    def saw(self, session: str, one: Seen) -> None:
        """What was found of a session."""
        self._sessions.add(session)
        seen = self._seen
        seen.compactions += one.compactions
        seen.filled += one.filled
        seen.files += one.files
        seen.reads += one.reads
        seen.again += one.again
        seen.after += one.after
        seen.lasts(one.begun, one.ended)

    def stats(self) -> Stats:
        """All of it."""
        seen = self._seen
        return Stats(
            name=self._name,
            sessions=len(self._sessions),
            calls=self._calls,
            usage=self._usage,
            cost=self._cost,
            unpriced=self._unpriced,
            compactions=tuple(sorted(seen.compactions, key=lambda one: (one.created, one.seq))),
            filled=dict(seen.filled.most_common()),
            reads=seen.reads,
            again=seen.again,
            after=seen.after,
            files=dict(seen.files.most_common(MOST_FILES)),
            begun=seen.begun,
            ended=seen.ended,
        )


def _reads(call: ToolCall) -> tuple[str, str]:
    """The file that a call reads, and which part of it; empty where it reads none."""
    reading = TOOLS.get(call.name)
    if reading is None or reading.deed != "read":
        return "", ""
    fields = arguments(call.input)
    parts = [f"{name}={first(fields, (name,))}" for name in reading.part if name in fields]
    return text_of(fields, reading.subject), " ".join(parts)
