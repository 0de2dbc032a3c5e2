"""Real transcripts lived through again under a policy, in a window of some size, and looked at.

What the tools touched is read straight off the raw records, apart from anything the package does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bench.replay import READERS
from holdfast.core.log.boundary import is_request
from holdfast.engine.client import Session
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.errors import HoldfastError, OverBudget, Refused
from holdfast.model.log import Entry, Summary
from holdfast.model.message import Message
from holdfast.model.policy import Policy
from holdfast.model.span import within
from holdfast.policies import policy as policy_of
from tests.conftest import SHARED_DATA
from tests.ledger.reading import claude_facts, codex_facts
from tests.ledger.test_transcripts import changes, shown
from tests.properties.histories import FORMATS
from tests.properties.ladders import Voice, engine, exactly
from tests.replay import fresh

WINDOWS = (8_192, 32_768, 131_072, 200_000, 1_000_000)
FACTS = {"claude": claude_facts, "codex": codex_facts}
MODELS = {"claude": "claude-sonnet-4-6", "other-pi": "gemini-3.1-pro"}
"""Whom a transcript is sent to; the others to a model that is counted exactly."""
LOOKS = 12
"""So many windows are made of one replay at most."""


class Trial(NamedTuple):
    """One transcript under one policy, in one window, with or without a summariser."""

    kind: str
    file: Path
    policy: str
    window: int
    temper: str = ""


@dataclass
class Outcome:
    """What came of it."""

    windows: int = 0
    compactions: int = 0
    refused: int = 0
    """Windows that could not be made, since what was just asked is too long."""
    requests: int = 0
    """Messages of the user's that a summary covers"""
    retained: int = 0
    """of which so many stand in the window, and the rest can be recalled."""
    files: int = 0
    hidden: int = 0
    """What arrived since the last reply, and a request did not show."""
    own: int = 0
    """Lines of names with a handle of ours in them."""
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        for name in (
            "windows",
            "compactions",
            "refused",
            "requests",
            "retained",
            "files",
            "hidden",
            "own",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.wrong += other.wrong


def sessions() -> list[tuple[str, Path]]:
    """Every transcript that can be read, by its kind."""
    home = SHARED_DATA / "transcripts"
    return [
        (kind, file)
        for kind, (_, pattern) in READERS.items()
        for file in sorted((home / kind).rglob(pattern))
        if file.name not in ("history.jsonl", "journal.jsonl") and "expected" not in file.name
    ]


def play(trial: Trial) -> Outcome:
    """Live through one transcript."""
    entries = READERS[trial.kind][0](trial.file)
    model = MODELS.get(trial.kind, "gpt-5.5")
    with engine(trial.window) as hf:
        voice = Voice(trial.temper, hf.counter) if trial.temper else None
        s = hf.session(model=model, policy=trial.policy, summariser=voice)
        replay = Replay(s, policy_of(trial.policy), voice)
        replay.live(entries)
        if trial.kind in FACTS:
            replay.check_files(trial.kind, trial.file)
    where = f"{trial.kind}/{trial.file.name}, {trial.policy}, {trial.window:,} {trial.temper}"
    replay.outcome.wrong = [f"{where}: {what}" for what in replay.outcome.wrong]
    return replay.outcome


class Replay:
    """One transcript in one session."""

    def __init__(self, s: Session, policy: Policy, voice: Voice | None) -> None:
        self.s, self.policy, self.voice = s, policy, voice
        self.outcome = Outcome()
        self.said: list[Message] = []

    def live(self, entries: list[Entry]) -> None:
        """Append what was said, and make a window where a reply was asked for."""
        asked = set(_places(entries))
        for place, entry in enumerate(entries):
            if place in asked:
                self.window()
            assert isinstance(entry.body, Message)
            self.said.append(entry.body)
            self.s.append(
                entry.body, provider="some" if entry.model else "", model=entry.model,
                completed=entry.completed is not None,
            )  # fmt: skip
        self.check_requests()

    def window(self) -> None:
        try:
            made = self.s.window(system="You are careful.")
        except OverBudget:
            self.outcome.refused += 1
            return
        except HoldfastError as error:
            self.outcome.wrong.append(f"{type(error).__name__}: {error}")
            return
        self.outcome.windows += 1
        self.check_window(made)
        if self.policy.keeps_unread:
            self.check_unread(made)

    def check_window(self, made: PreparedWindow) -> None:
        """Valid in every format, and within the room."""
        told = self.policy.asks_before_overlong or not self.policy.makes_room
        if made.over and not told:
            self.outcome.wrong.append(f"{made.over:,} tokens over")
        if made.profile.tokenizer and not made.over:
            exact = exactly(made.window, self.s.counter(made.profile.tokenizer))
            if exact > made.window.budget.room:
                self.outcome.wrong.append(f"{exact:,} tokens in {made.window.budget.room:,}")
        for format in FORMATS:
            try:
                made.request(format)
            except Refused as refused:
                self.outcome.wrong.append(f"{format}: {refused}"[:300])
        if self.voice and self.voice.broken:
            self.outcome.wrong += self.voice.broken
            self.voice.broken = []

    def check_unread(self, made: PreparedWindow) -> None:
        """Law 2: what has arrived since the last reply is in every request, up to its cap."""
        whole = fresh.whole(self.said, made.profile.window)
        for format in FORMATS:
            try:
                request = made.request(format)
            except Refused:
                continue  # told of already
            missing = fresh.hidden(self.said, [*fresh.strings(request)], whole)
            missing += filter(None, [fresh.cleared(request, self.said)])
            self.outcome.hidden += len(missing)
            where = f"{format}, behind message {len(self.said)}"
            self.outcome.wrong += [f"{where}, {what} is hidden" for what in missing]

    def check_names(self, log: list[Entry]) -> None:
        """None of our own handles is listed among the names of a session."""
        bodies = [one.body for one in log if isinstance(one.body, Summary)]
        own = [line for b in bodies for line in fresh.own_names(f"{b.text}\n{b.expand}")]
        self.outcome.own += len(own)
        self.outcome.wrong += [f"a handle among the names: {line[:80]}" for line in own]

    def check_requests(self) -> None:
        """What the user said and a summary covers stands in the window, or can be recalled."""
        standing = self.s.view().folded
        log = list(self.s.entries())
        summaries = [e for e in log if isinstance(e.body, Summary) and e.seq in standing.summaries]
        self.check_names(log)
        self.outcome.compactions += sum(isinstance(e.body, Summary) for e in log)
        beside = "\n".join(
            text
            for e in summaries
            if isinstance(e.body, Summary)
            for text in (e.body.text, e.body.ledger, e.body.expand)
        )
        for entry in log:
            body = entry.body
            if not isinstance(body, Message) or not is_request(body) or not body.text.strip():
                continue
            if within(entry.seq, standing.visible):
                continue
            self.outcome.requests += 1
            if entry.seq in standing.kept or " ".join(body.text.split())[:60] in beside:
                self.outcome.retained += 1
            elif why := self._out_of_reach(entry, body):
                self.outcome.wrong.append(why)

    def _out_of_reach(self, entry: Entry, body: Message) -> str:
        """Why an entry cannot be brought back; empty where it can."""
        if not self.s.why_absent(entry.id).marker:
            return f"no marker says why #{entry.seq} is absent"
        found = self.s.recall(f"#{entry.seq}", tokens=10**9).text
        return "" if body.text in found else f"#{entry.seq} does not come back word for word"

    def check_files(self, kind: str, file: Path) -> None:
        """The ledger, carried on from summary to summary, has the files of the raw records."""
        known, facts = self.s.ledger(), FACTS[kind](file)
        self.outcome.files += len(known.files)
        if (shown(known), changes(known)) != (facts.read, facts.changes):
            off = (shown(known) ^ facts.read) | (changes(known).keys() ^ facts.changes.keys())
            self.outcome.wrong.append(f"the ledger is off by {len(off)} files: {sorted(off)[:3]}")


def _places(entries: list[Entry]) -> Iterator[int]:
    """Where a window is made: before replies, spread over the transcript, the last one included."""
    replies = [
        place
        for place, entry in enumerate(entries)
        if place and isinstance(entry.body, Message) and entry.body.role == "assistant"
    ]
    many = min(len(replies), LOOKS)
    for number in range(1, many + 1):
        yield replies[number * len(replies) // many - 1]
