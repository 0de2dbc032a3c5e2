"""One session of OpenCode: its messages in order, as what was said, compacted and pruned.

Rule 1: a compaction is a request and the summary that answers it; without a summary that was
        finished it does not count.
Rule 2: input leaves out what was cached, and output what was thought.
Rule 3: what a revert has hidden is left by a rewind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from holdfast.importers.budget import Allowance
from holdfast.importers.jsonl import Found
from holdfast.importers.opencode.parts import AGENT, KNOWN, Held, Step, asked, flag, pruned, replied
from holdfast.importers.values import count, table, text
from holdfast.model.message import Message, Part, Record, Role
from holdfast.model.reply import Stop, Usage
from holdfast.model.transcript_events import (
    CallRead,
    Cleared,
    Compacted,
    Kept,
    MessageRead,
    Problem,
    Rewound,
    SessionStarted,
    TranscriptEvent,
)

_UNNAMED = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z")
"""What the program calls a session until it has found a title."""

_STOPS: dict[str, Stop] = {"tool-calls": "tools", "stop": "end", "length": "length",
                           "content-filter": "refused"}  # fmt: skip
BILLION = 1_000_000_000
COSTLIEST = 1_000_000.0
"""Dollars; more than that no call has cost."""


class Telling:
    """The telling of one session."""

    def __init__(self, info: Found) -> None:
        self._info = info
        self._natives: dict[str, list[str]] = {}
        """What each message was told as."""
        self._request: Held | None = None
        self._tokens = 0
        self._allowance = Allowance()
        self._strange: set[str] = set()

    def told(self, messages: Iterable[Held | Problem | Kept]) -> Iterator[TranscriptEvent]:
        """Everything about it, from its messages in their order."""
        yield self._begun()
        yield Kept(Record(AGENT, "session", self._info.data, self._info.line, whole=True))
        last: Held | None = None
        for item in messages:
            if not isinstance(item, Held):
                yield item
                continue
            if last:
                yield from self._message(last)
            last = item
        if last:
            yield from self._message(last, open=True)
        yield from self._unanswered()
        yield from self._reverted()
        yield from self._allowance.told()

    def _begun(self) -> SessionStarted:
        info = self._info
        parent = info.text("parentID")
        title = "" if _UNNAMED.fullmatch(info.text("title")) else info.text("title")
        return SessionStarted(
            native=info.text("id"),
            created=count(info.table("time").get("created")),
            title=f"subtask: {title or 'a part of the work'}" if parent else title,
            directory=info.text("directory"),
            model=text(info.table("model").get("id")),
            parent=parent,
        )

    def _message(self, held: Held, *, open: bool = False) -> Iterator[TranscriptEvent]:
        yield from self._unknown(held)
        if held.info.text("role") == "user":
            yield from self._user(held)
        elif held.info.fields.get("summary") is True:
            yield from self._summary(held)
        else:
            yield from self._unanswered()
            yield from self._reply(held, open=open)

    def _unknown(self, held: Held) -> Iterator[TranscriptEvent]:
        kinds = [part.text("type") for part in held.parts]
        for kind in dict.fromkeys(kind for kind in kinds if kind not in KNOWN):
            if kind not in self._strange:
                self._strange.add(kind)
                what = f"parts of kind {kind!r} are kept, but nobody knows what they mean"
                yield Problem(what, held.info.line, "unknown")

    def _user(self, held: Held) -> Iterator[TranscriptEvent]:
        yield from self._unanswered()
        if any(part.text("type") == "compaction" for part in held.parts):
            self._request = held
            return
        step = asked(held.parts)
        yield from self._said(held, "user", [step])

    def _reply(self, held: Held, *, open: bool) -> Iterator[TranscriptEvent]:
        steps = replied(held.parts, held.info.text("modelID"))
        yield from self._said(held, "assistant", steps, open=open)
        if called := _called(held.info, "turn"):
            self._tokens = called.usage.total
            yield called
        if cleared := pruned(steps):
            when = max(cleared.values())
            yield Cleared(calls=tuple(cleared), created=when, step="prune")

    def _said(
        self, held: Held, role: Role, steps: list[Step], *, open: bool = False
    ) -> Iterator[TranscriptEvent]:
        """The messages that one of theirs is."""
        records = [Record(AGENT, "message", held.info.data, held.info.line)]
        made: list[MessageRead] = []
        for number, step in enumerate(steps, 1):
            native = f"{held.id}#{number}" if number > 1 else held.id
            records += step.records
            if step.said:
                made.append(_said(held.info, role, step.said, native, records))
                records = []
            if step.answers:
                answers = f"{native}#answers"
                made.append(_said(held.info, "tool", step.answers, answers, records))
                records = []
        self._natives[held.id] = [said.native for said in made]
        for number, said in enumerate(made, 1):
            yield replace(said, open=True) if open and number == len(made) else said
        yield from (Kept(replace(record, whole=True)) for record in records)

    def _summary(self, held: Held) -> Iterator[TranscriptEvent]:
        """The answer to a request to compact."""
        info, request = held.info, self._request
        steps = replied(held.parts, info.text("modelID"))
        words = Message("assistant", tuple(p for step in steps for p in step.said)).text
        if called := _called(info, "summary"):
            yield called
        if not words or info.table("error") or not info.table("time").get("completed"):
            yield from self._unanswered()
            yield from _kept(held)
            yield Problem("a compaction that was not finished", info.line, "notice")
            return
        self._request = None
        records = [item.record for one in (request, held) if one for item in _kept(one)]
        part = _compaction(request)
        yield Compacted(
            text=words,
            created=_times(info)[0],
            native=held.id,
            trigger=("auto" if flag(part, "auto") else "manual") if part else "import",
            model=info.text("modelID"),
            before=self._tokens,
            kept=self._tail(part.text("tail_start_id")) if part else (),
            records=tuple(records),
        )
        self._natives[held.id] = [held.id]

    def _tail(self, first: str) -> tuple[str, ...]:
        """What stays beside a summary, from a message on."""
        if first not in self._natives:
            return ()
        tail: list[list[str]] = []
        for id in reversed(self._natives):
            if not self._allowance.take(1):
                return ()
            tail.append(self._natives[id])
            if id == first:
                break
        return tuple(name for names in reversed(tail) for name in names)

    def _unanswered(self) -> Iterator[TranscriptEvent]:
        """A request to compact that nothing came of."""
        request, self._request = self._request, None
        if request:
            yield Problem("a compaction without its summary", request.info.line, "notice")
            yield from _kept(request)

    def _reverted(self) -> Iterator[TranscriptEvent]:
        revert = self._info.table("revert")
        ids, first = list(self._natives), text(revert.get("messageID"))
        if first not in self._natives:
            return
        stay = ids[: ids.index(first) + bool(text(revert.get("partID")))]
        to = next((self._natives[id][-1] for id in reversed(stay) if self._natives[id]), "")
        created = count(self._info.table("time").get("updated"))
        yield Rewound(to=to, created=created, reason="reverted")


def _said(
    info: Found, role: Role, parts: list[Part], native: str, records: list[Record]
) -> MessageRead:
    created, completed = _times(info)
    model = role == "assistant"
    return MessageRead(
        message=Message(role, tuple(parts)), created=created, completed=completed, native=native,
        parent=info.text("parentID") if model else "", records=tuple(records),
        provider=_owner(info.text("providerID")) if model else "",
        model=info.text("modelID") if model else "",
    )  # fmt: skip


def _kept(held: Held) -> Iterator[Kept]:
    """A message that is no message here, part by part."""
    yield Kept(Record(AGENT, "message", held.info.data, held.info.line, whole=True))
    for part in held.parts:
        kind = f"part/{part.text('type') or 'untyped'}"
        yield Kept(Record(AGENT, kind, part.data, part.line, whole=True))


def _compaction(request: Held | None) -> Found | None:
    parts = request.parts if request else ()
    return next((part for part in parts if part.text("type") == "compaction"), None)


def _times(info: Found) -> tuple[int, int | None]:
    """When it was begun and completed; the latter is None for a reply that was cut short."""
    time = info.table("time")
    created = count(time.get("created"))
    if info.text("role") == "user":
        return created, created
    if text(info.table("error").get("name")) == "MessageAbortedError":
        return created, None
    return created, count(time.get("completed")) or None


def _owner(provider: str) -> str:
    return {"opencode": "", "google-vertex": "google"}.get(provider, provider)


def _called(info: Found, cause: str) -> CallRead | None:
    tokens = info.table("tokens")
    cache = table(tokens.get("cache"))
    thought = count(tokens.get("reasoning"))
    usage = Usage(
        input=count(tokens.get("input")), cache_read=count(cache.get("read")),
        cache_write=count(cache.get("write")), output=count(tokens.get("output")) + thought,
        reasoning=thought,
    )  # fmt: skip
    if usage == Usage():
        return None
    created, completed = _times(info)
    error = text(info.table("error").get("name"))
    failed: Stop | None = ("aborted" if "Abort" in error else "error") if error else None
    return CallRead(
        usage=usage, request=info.text("id"), started=created, ended=completed,
        provider=_owner(info.text("providerID")), model=info.text("modelID"),
        stop=failed or _STOPS.get(info.text("finish")), cause=cause, cost=_cost(info),
    )  # fmt: skip


def _cost(info: Found) -> int | None:
    """What it cost, as the program worked it out."""
    cost = info.fields.get("cost")
    if not isinstance(cost, (int, float)) or not 0 <= cost < COSTLIEST:
        return None
    return round(cost * BILLION)
