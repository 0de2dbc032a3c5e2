"""One file of Claude Code: which session each record belongs to, its titles and its notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from holdfast.importers.claude_code.compactions import AGENT
from holdfast.importers.claude_code.messages import Strand
from holdfast.importers.handed_over import copied
from holdfast.importers.jsonl import UNREADABLE, Found, decode, milliseconds, records
from holdfast.model.transcript_events import (
    Kept,
    Noted,
    Problem,
    SessionStarted,
    Titled,
    TranscriptEvent,
)
from holdfast.ports import TranscriptFile

_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)

KNOWN = frozenset(
    """
    user assistant system summary file-history-snapshot file-history-delta queue-operation progress
    attachment last-prompt custom-title ai-title agent-name mode permission-mode pr-link
    worktree-state relocated started result frame-link bridge-session atis-latch tools-used
    cost-state api-request api-request-shape api-request-blob holdfast-export
    """.split()  # noqa: SIM905
)
"""The kinds of record that are known, whether or not they have a place in the model."""

EARLY = 1_000
"""How many records may come before the first that says where the session is."""

OURS = "8"
"""The version of the ids of sessions that we have handed over; Claude Code makes others."""

_TITLES = (("custom-title", "customTitle"), ("ai-title", "aiTitle"))


class Reading:
    """The reading of one file."""

    def __init__(self, material: TranscriptFile) -> None:
        self._material = material
        self._path = PurePosixPath(material.name)
        self._main: Strand | None = None
        self._lead = Strand("", self._sidecar)
        """Records before anybody knows which session this is."""
        self._begun: dict[str, SessionStarted] = {}
        self._strands: dict[str, Strand] = {}
        self._sides: dict[str, str] = {}
        self._current = ""
        self._before: list[TranscriptEvent] = []
        self._titles: dict[str, str] = {}
        self._summaries: list[tuple[str, str]] = []
        self._strange: set[str] = set()

    def told(self) -> Iterator[TranscriptEvent]:
        """Everything that stands in it."""
        for found in records(self._material, AGENT):
            if not isinstance(found, Found):
                yield from self._tell(self._main, [found])
                continue
            yield from self._unknown(found)
            self._entitle(found)
            strand = self._strand(found)
            yield from self._tell(strand, (strand or self._lead).feed(found))
        for strand in self._strands.values():
            yield from self._tell(strand, strand.close())
        if self._main:
            yield from self._tell(self._main, self._beside(self._main))
        else:
            yield from self._nameless()

    def _nameless(self) -> Iterator[TranscriptEvent]:
        """What stands in a file that names no session: it is called as the file is."""
        told = [*self._before, *self._lead.close()]
        if not all(isinstance(item, (Kept, Problem)) for item in told):
            yield SessionStarted(native=self._path.stem or "?")
        yield from told

    def _tell(
        self, strand: Strand | None, told: Iterable[TranscriptEvent]
    ) -> Iterator[TranscriptEvent]:
        """Tell items of a strand, once it has been said which one that is."""
        for item in told:
            if strand is None:
                self._before.append(item)
                continue
            if self._current != strand.native:
                self._current = strand.native
                yield self._begun[strand.native]
            if self._before:
                before, self._before = self._before, []
                yield from before
            yield item

    def _unknown(self, found: Found) -> Iterator[TranscriptEvent]:
        kind = found.text("type")
        if kind not in KNOWN and kind not in self._strange:
            self._strange.add(kind)
            what = (
                f"records of kind {kind or 'untyped'!r} are kept, but nobody knows what they mean"
            )
            yield from self._tell(self._main, [Problem(what, found.line, "unknown")])

    def _strand(self, found: Found) -> Strand | None:
        """The line of conversation that a record belongs to; None before there is one."""
        if self._main is None:
            if not (found.text("sessionId") and found.text("type") in KNOWN):
                return None
            if not (found.text("uuid") or found.text("cwd")) and len(self._before) < EARLY:
                return None
            self._main = self._begin(found, *self._name(found))
            return self._main
        if found.fields.get("isSidechain") is not True or self._is_agent:
            return self._main
        return self._side(found, self._main)

    @property
    def _is_agent(self) -> bool:
        return bool(self._main and self._begun[self._main.native].parent)

    def _name(self, found: Found) -> tuple[str, str]:
        """The native id of the file's own session, and of the one it works for."""
        session, stem = found.text("sessionId"), self._path.stem
        agent = found.text("agentId") if found.fields.get("isSidechain") is True else ""
        if stem.startswith("agent-"):
            agent = agent or stem.removeprefix("agent-")
        if agent:
            above = self._path.parent
            inside = above.name == "subagents" and _ID.fullmatch(above.parent.name)
            session = above.parent.name if inside else session
            return f"{session}/{agent}", session
        return (stem if _ID.fullmatch(stem) else session), ""

    def _side(self, found: Found, main: Strand) -> Strand:
        """A subagent's line inside its session's own file."""
        uuid, parent = found.text("uuid"), found.text("parentUuid")
        name = found.text("agentId") or self._sides.get(parent) or f"side-{uuid or found.line}"
        self._sides[uuid] = name
        native = f"{main.native}/{name}"
        if native in self._strands:
            return self._strands[native]
        strand = self._begin(found, native, main.native)
        if prompt := _prompt(found):
            main.subagents.setdefault(prompt, native)
        return strand

    def _begin(self, found: Found, native: str, parent: str) -> Strand:
        title = self._description() if parent else ""
        ours = not parent and found.text("sessionId")[14:15] == OURS
        copy = copied(self._material) if ours else None
        self._begun[native] = SessionStarted(
            native=native,
            created=milliseconds(found.fields.get("timestamp")),
            directory=found.text("cwd"),
            title=f"subtask: {title or 'a part of the work'}" if parent else "",
            parent=parent,
            copy_of=copy.session if copy else "",
            grown=copy is None or copy.grown,
            copied=copy.head if copy else 0,
        )
        strand = Strand(native, self._sidecar) if self._strands else self._lead
        strand.native = native
        self._strands[native] = strand
        return strand

    def _sidecar(self, name: str) -> bytes | None:
        """A result that was too long for the file itself."""
        above = self._path.parent
        home = above.parent if above.name == "subagents" else above / self._path.stem
        return self._material.whole(str(home / "tool-results" / name))

    def _description(self) -> str:
        """What a subagent was to do, as the file beside its own says."""
        data = self._material.whole(str(self._path.with_suffix(".meta.json")))
        try:
            meta: Any = decode(data) if data else None
        except UNREADABLE:
            return ""
        told = meta.get("description") if type(meta) is dict else ""
        return told if type(told) is str else ""

    def _entitle(self, found: Found) -> None:
        kind = found.text("type")
        for known, name in _TITLES:
            if kind == known and found.text(name):
                self._titles[known] = found.text(name)
        if kind == "summary" and found.text("summary"):
            self._summaries.append((found.text("leafUuid"), found.text("summary")))

    def _beside(self, main: Strand) -> Iterator[TranscriptEvent]:
        """The title and the session's notes."""
        own = [title for leaf, title in self._summaries if main.holds(leaf)]
        titles = [self._titles.get("custom-title", ""), *own[-1:], self._titles.get("ai-title", "")]
        if title := next(filter(None, titles), ""):
            yield Titled(title)
        if self._is_agent:
            return
        memory = self._path.parent / main.native / "session-memory" / "summary.md"
        notes = self._material.whole(str(memory))
        if notes and notes.strip():
            yield Noted(text=notes.decode("utf-8", "replace"))


def _prompt(found: Found) -> str:
    content = found.table("message").get("content")
    if type(content) is str:
        return content
    first = content[0] if type(content) is list and content else None
    return first["text"] if type(first) is dict and type(first.get("text")) is str else ""
