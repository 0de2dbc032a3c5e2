"""One file of Gemini CLI: a whole JSON document, or lines that are added to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from holdfast.importers.document import LARGEST, TOO_LARGE, Document, document
from holdfast.importers.gemini_cli.thread import Thread
from holdfast.importers.gemini_cli.turns import AGENT, SPOKEN
from holdfast.importers.jsonl import UNREADABLE, Found, decode, milliseconds, records, whole
from holdfast.importers.values import rows, text
from holdfast.model import wire
from holdfast.model.message import Record
from holdfast.model.transcript_events import Kept, Problem, SessionStarted, Titled, TranscriptEvent
from holdfast.ports import TranscriptFile

SHOWN = ("info", "error", "warning")
"""Messages of the program itself: the user sees them, the model does not."""

MESSAGE = re.compile(rb'\{\s*"id"\s*:\s*"[^"]{1,100}"\s*,\s*"timestamp"\s*:')
CONTENT = re.compile(rb'\{\s*"(?:role"\s*:\s*"|parts"\s*:\s*\[)')
"""How a message of a document begins, and how one of its history does in an older one."""

ROOT = ".project_root"
"""The file that says which directory a project is."""

_MORE = re.compile(rb"\n\s*\S")


class Reading:
    """The reading of one file."""

    def __init__(self, material: TranscriptFile) -> None:
        self._material = material
        self._path = PurePosixPath(material.name)
        self._thread = Thread()
        self._begun = False
        self._waiting: list[TranscriptEvent] = []
        self._title = ""
        self._time = 0
        self._strange: set[str] = set()
        self._nameless: dict[int, int] = {}

    def told(self) -> Iterator[TranscriptEvent]:
        """Everything that stands in it."""
        yield from self._all(self._lines() if self._path.suffix == ".jsonl" else self._document())
        if self._begun:
            yield from self._thread.close()
            yield from (Titled(self._title),) if self._title else ()
        else:
            yield from (item for item in self._waiting if isinstance(item, Problem))

    def _all(self, told: Iterable[TranscriptEvent]) -> Iterator[TranscriptEvent]:
        """Tell items once it has been said whose they are."""
        for item in told:
            if isinstance(item, SessionStarted):
                yield item
                yield from self._waiting
                self._begun, self._waiting = True, []
            elif self._begun:
                yield item
            else:
                self._waiting.append(item)

    def _lines(self) -> Iterator[TranscriptEvent]:
        for found in records(self._material, AGENT):
            yield from self._feed(found) if isinstance(found, Found) else (found,)

    def _document(self) -> Iterator[TranscriptEvent]:
        data = self._material.whole(most=LARGEST)
        if data is None:
            yield Problem(TOO_LARGE)
            return
        if self._is_lines(data):
            yield from self._lines()
            return
        old = b'"messages"' not in data and not MESSAGE.search(data)
        held = document(data, *(("history", CONTENT) if old else ("messages", MESSAGE)))
        if held is None:
            yield Problem("is no JSON document")
            return
        yield from self._begin(held.head)
        yield from self._header(held)
        for found in held.records(AGENT):
            yield from self._message(found) if isinstance(found, Found) else (found,)

    def _is_lines(self, data: bytes) -> bool:
        """Whether it is lines after all, whatever it is called."""
        more = _MORE.search(data)
        try:
            first = decode(data[: more.start()]) if more else None
        except UNREADABLE:
            return False
        return type(first) is dict and "messages" not in first

    def _header(self, held: Document) -> Iterator[TranscriptEvent]:
        self._metadata(held.head)
        if held.rest:
            yield Kept(Record(AGENT, "session", held.rest, 1, whole=True))

    def _feed(self, found: Found) -> Iterator[TranscriptEvent]:
        """A line: what the session is, a message, or a change to either."""
        if "$rewindTo" in found.fields:
            yield whole(AGENT, "$rewindTo", found)
            yield from self._thread.rewind(found.text("$rewindTo"), self._time)
        elif type(found.fields.get("$set")) is dict:
            yield whole(AGENT, "$set", found)
            yield from self._set(found.table("$set"), found.line)
        elif found.text("id") or _kind(found) in SPOKEN:
            yield from self._message(found)
        elif found.text("sessionId"):
            yield from self._begin(found.fields)
            yield whole(AGENT, "session", found)
            yield from self._set(found.fields, found.line)
        else:
            yield from self._unknown(found, "record without a name")

    def _set(self, fields: dict[str, Any], line: int) -> Iterator[TranscriptEvent]:
        self._metadata(fields)
        messages = rows(fields.get("messages"))
        if messages:
            yield from self._begin({})
            founds = [
                Found(line, wire.encode(one), one) for one in messages if type(one) is dict
            ]  # fmt: skip
            spoken = [self._named(one) for one in founds if _kind(one) in SPOKEN]
            yield from self._thread.replace(spoken, self._time)

    def _metadata(self, fields: dict[str, Any]) -> None:
        self._title = text(fields.get("summary")) or self._title
        self._time = milliseconds(fields.get("lastUpdated")) or self._time

    def _message(self, found: Found) -> Iterator[TranscriptEvent]:
        kind = _kind(found)
        yield from self._begin({})
        self._time = milliseconds(found.fields.get("timestamp")) or self._time
        if kind in SPOKEN:
            yield from self._thread.add(self._named(found))
        elif kind in SHOWN:
            yield whole(AGENT, kind, found)
        else:
            yield from self._unknown(found, kind)

    def _named(self, found: Found) -> Found:
        """A message with a name: where it has none, by its line and its place among those there."""
        if found.text("id"):
            return found
        self._nameless[found.line] = number = self._nameless.get(found.line, 0) + 1
        name = f"line {found.line}#{number}" if number > 1 else f"line {found.line}"
        return Found(found.line, found.data, {**found.fields, "id": name})

    def _unknown(self, found: Found, kind: str) -> Iterator[TranscriptEvent]:
        if kind not in self._strange:
            self._strange.add(kind)
            what = (
                f"records of kind {kind or 'untyped'!r} are kept, but nobody knows what they mean"
            )
            yield Problem(what, found.line, "unknown")
        yield whole(AGENT, kind or "untyped", found)

    def _begin(self, fields: dict[str, Any]) -> Iterator[TranscriptEvent]:
        if self._begun:
            return
        above = self._path.parent
        nested = above.parent.name == "chats" and text(fields.get("kind")) == "subagent"
        directories = [one for one in rows(fields.get("directories")) if type(one) is str]
        yield SessionStarted(
            native=text(fields.get("sessionId")) or self._path.stem,
            created=milliseconds(fields.get("startTime", fields.get("start_time"))),
            directory=self._root() or next(iter(directories), ""),
            title="subtask: a part of the work" if nested else "",
            parent=above.name if nested else "",
        )

    def _root(self) -> str:
        """The project's directory, as the file beside its chats says."""
        above = self._path.parents
        chats = next((place for place in above if place.name == "chats"), None)
        data = self._material.whole(str(chats.parent / ROOT)) if chats else None
        return data.decode("utf-8", "replace").strip() if data else ""


def _kind(found: Found) -> str:
    return found.text("type") or found.text("role")
