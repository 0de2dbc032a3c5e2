"""One rollout: which session it is, its turns, its usage, and everything that is only kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from holdfast.importers.codex.messages import Talk
from holdfast.importers.codex.records import AGENT, Item, item
from holdfast.importers.codex.usage import Meter
from holdfast.importers.handed_over import copied
from holdfast.importers.jsonl import Found, milliseconds, records
from holdfast.importers.values import count, table, text
from holdfast.model.log import Trigger
from holdfast.model.transcript_events import (
    HANDED,
    Kept,
    Problem,
    SessionStarted,
    Titled,
    TranscriptEvent,
)
from holdfast.ports import TranscriptFile

_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)

ENDS = frozenset({"task_started", "turn_started", "task_complete", "turn_complete", "turn_aborted"})
"""Events that end whatever was being said."""

STARTS = ("task_started", "turn_started")

FULL = 0.85
"""A window as full as this is compacted by itself, before anybody is heard."""


class Reading:
    """The reading of one rollout."""

    def __init__(self, material: TranscriptFile) -> None:
        self._material = material
        self._talk, self._meter = Talk(), Meter()
        self._begun = False
        self._copied = 0
        self._time = 0
        self._before: list[TranscriptEvent] = []
        self._strange: set[str] = set()
        self._task = False

    def told(self) -> Iterator[TranscriptEvent]:
        """Everything that stands in it."""
        for found in records(self._material, AGENT):
            if not isinstance(found, Found):
                yield from self._damaged(found)
                continue
            one = item(found, self._time)
            self._time = one.time
            if not self._begun:
                yield from self._begin(one)
            yield from self._unknown(one)
            yield from self._feed(one)
        if self._begun:
            yield from self._talk.close(open=True)
            yield from self._talk.past.allowance.told()
        else:
            yield from (one for one in self._before if isinstance(one, Problem))

    def _damaged(self, found: Kept | Problem) -> Iterator[TranscriptEvent]:
        if self._begun:
            yield found
        else:
            self._before.append(found)

    def _begin(self, first: Item) -> Iterator[TranscriptEvent]:
        """The session that a file is of: by its first record, or by its name."""
        meta = first.payload if first.kind == "session_meta" else {}
        named = _ID.findall(PurePosixPath(self._material.name).stem)
        native = text(meta.get("id")) or (named[0] if named else self._material.name)
        source = table(table(meta.get("source")).get("subagent"))
        spawn = table(source.get("thread_spawn"))
        parent = text(meta.get("parent_thread_id")) or text(spawn.get("parent_thread_id"))
        parent = parent if parent != native else ""
        self._begun = True
        self._talk.provider = text(meta.get("model_provider")) or "openai"
        created = milliseconds(meta.get("timestamp")) or first.time
        self._time = self._time or created
        self._copied = self._time if parent or meta.get("forked_from_id") else 0
        role = text(meta.get("agent_nickname")) or text(meta.get("agent_role"))
        copy = copied(self._material) if meta.get("originator") == "holdfast" else None
        own = copy.title if copy else ""
        yield SessionStarted(
            native=native,
            created=created,
            directory=text(meta.get("cwd")),
            title=f"subtask: {role or 'a part of the work'}" if parent else own,
            parent=parent,
            copy_of=copy.session if copy else "",
            grown=copy is None or copy.grown,
            copied=copy.head if copy else 0,
            forked="" if parent or copy else text(meta.get("forked_from_id")),
        )
        yield from self._before
        if meta.get("history_base"):
            what = "begins in another session's file; what was said there is not told here"
            yield Problem(what, first.found.line, "notice")

    def _unknown(self, one: Item) -> Iterator[TranscriptEvent]:
        if not one.known and one.name not in self._strange:
            self._strange.add(one.name)
            what = f"records of kind {one.name!r} are kept, but nobody knows what they mean"
            yield Problem(what, one.found.line, "unknown")

    def _feed(self, one: Item) -> Iterator[TranscriptEvent]:
        if one.kind == "event_msg":
            yield from self._event(one)
            return
        yield from self._talk.settle()
        if one.kind == "response_item":
            yield from self._talk.respond(one.payload, one.time, one)
        elif one.kind == "compacted":
            meter = self._meter
            yield from self._talk.compact(one, self._trigger(), meter.last, meter.window)
        elif one.kind == "inter_agent_communication" and one.text("content"):
            payload = {"type": "agent_message", "content": one.text("content")}
            yield Kept(one.whole)
            yield from self._talk.respond(payload, one.time, None)
        elif one.kind == "token_usage_record":
            yield from self._recorded(one)
        else:
            if one.kind == "turn_context":
                self._talk.model = one.text("model") or self._talk.model
            if one.kind in HANDED:
                yield from self._talk.close()
            yield Kept(one.whole)

    def _event(self, one: Item) -> Iterator[TranscriptEvent]:
        """An event: most repeat what an item says, and are only kept."""
        kind = one.sub
        if words := _human(one):
            self._talk.confirm(words)
        yield from self._talk.settle()
        if kind in ENDS:
            yield from self._talk.close()
            if kind in STARTS:
                self._task, self._talk.spoke = True, False
        elif kind == "token_count":
            yield from self._used(one)
        elif kind == "thread_settings_applied":
            self._meter.settled(table(one.payload.get("thread_settings")))
        elif kind == "thread_rolled_back":
            yield from self._talk.roll_back(count(one.payload.get("num_turns")), one.time)
        elif kind == "thread_name_updated" and one.text("thread_name"):
            yield Titled(one.text("thread_name"))
        yield Kept(one.whole)

    def _used(self, one: Item) -> Iterator[TranscriptEvent]:
        talk = self._talk
        called = self._meter.told(
            one.payload, one.time, self._copied, provider=talk.provider, model=talk.model
        )
        if called is None:
            talk.weighed(self._meter.last)
        elif not self._meter.recorded:
            yield called

    def _recorded(self, one: Item) -> Iterator[TranscriptEvent]:
        talk = self._talk
        called = self._meter.record(
            one.payload, one.time, self._copied, provider=talk.provider, model=talk.model
        )
        if called:
            yield called
        yield Kept(one.whole)

    def _trigger(self) -> Trigger:
        """Why a compaction came: on somebody's word, where nobody said anything else."""
        if not self._task:
            return "import"
        full = self._meter.last >= self._meter.window * FULL > 0
        return "auto" if self._talk.spoke or full else "manual"


def _human(one: Item) -> str:
    """What a human has written, as an event tells it; empty for any other event."""
    if one.sub == "user_message" and one.payload.get("kind", "plain") == "plain":
        return one.text("message")
    said = table(one.payload.get("item"))
    if one.sub != "item_completed" or said.get("type") != "UserMessage":
        return ""
    content = said.get("content")
    texts = [text(table(part).get("text")) for part in content] if type(content) is list else []
    return "\n".join(filter(None, texts))
