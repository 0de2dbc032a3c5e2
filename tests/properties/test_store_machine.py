"""Whatever is done to a store, in whatever order, it holds what a few plain lists hold."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from holdfast.engine.client import drive
from holdfast.errors import Conflict, InvalidRequest, NotFound
from holdfast.model.log import Body, Draft, Entry, Pin, Rewind, SessionInfo, Summary
from holdfast.model.message import Message, assistant, user
from holdfast.model.span import OPEN, Span, normal, within
from holdfast.model.store import Changes, Expect, Page
from holdfast.ports import Store
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, draft, new_id, read_all
from holdfast.testing.strategies import texts

BODIES = (user("hi"), user("ho"), assistant("a", "b"), Pin(fact="x"), Rewind(to=0))
SUMMARY = Summary(covers=(Span(1, 1),), text="…")
SAID = st.sampled_from((*BODIES, SUMMARY))
DRAFTS = st.lists(st.builds(draft, SAID, created=st.integers(0, 9)), min_size=1, max_size=4)
KEYS = st.sampled_from(("", "", "k", "\ud800"))
SPANS = st.lists(st.builds(Span, st.integers(1, 12), st.integers(1, 12)), max_size=3).map(normal)


class Line:
    """What one session should hold: a whole list, copied when it is forked."""

    def __init__(self, updated: int, entries: list[tuple[str, Body, int]]) -> None:
        self.updated = updated
        self.entries = entries
        self.title = ""
        self.keys: dict[str, tuple[int, list[Body]]] = {}

    def last(self, message: bool) -> int:
        """The seq of the last message, or of the last marker."""
        seqs = [
            seq
            for seq, (_, body, _) in enumerate(self.entries, 1)
            if isinstance(body, Message) == message
        ]
        return seqs[-1] if seqs else 0

    @property
    def compacted(self) -> int:
        made = [created for _, body, created in self.entries if isinstance(body, Summary)]
        return made[-1] if made else 0


class StoreMachine(RuleBasedStateMachine):
    """Sessions are created, forked, written, read, changed and erased."""

    open: Callable[[Path], Store]
    share: float  # of the usual number of examples: what is quick is tried more often
    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "store.db"
        self.store = type(self).open(self.path)
        self.lines: dict[str, Line] = {}

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @rule(target=sessions, created=st.integers(0, 9), project=texts(5))
    def create(self, created: int, project: str) -> str:
        told = SessionInfo(id=new_id(), created=created, project=project)
        drive(self.store.sessions.create(told))
        self.lines[told.id] = Line(created, [])
        return told.id

    @initialize(target=sessions)
    def begin(self) -> Any:
        id = self.create(1, "")
        self.append(id, [draft(body, created=1) for body in BODIES], "k")
        return id

    @rule(target=sessions, parent=sessions, place=st.integers(0, 9))
    def fork(self, parent: str, place: int) -> Any:
        line = self.lines[parent].entries
        told = SessionInfo(id=new_id(), created=5, parent=parent, fork=place)
        if place > len(line):
            with pytest.raises(InvalidRequest):
                drive(self.store.sessions.create(told))
            return multiple()
        drive(self.store.sessions.create(told))
        child = self.lines[told.id] = Line(5, line[:place])
        for key, (first, said) in self.lines[parent].keys.items():
            if first + len(said) - 1 <= place:  # a key whose entries it shares is its own as well
                child.keys[key] = (first, said)
        return told.id

    @rule(id=sessions, drafts=DRAFTS, key=KEYS)
    def append(self, id: str, drafts: list[Draft], key: str) -> None:
        line = self.lines[id]
        drafts = [draft(d.body, created=d.created) for d in drafts]  # an id is used once
        said = [d.body for d in drafts]
        if key in line.keys and line.keys[key][1] != said:
            with pytest.raises(InvalidRequest):
                drive(self.store.log.append(id, drafts, key=key))
            return
        made = drive(self.store.log.append(id, drafts, key=key))
        if key in line.keys:
            assert made[0].seq == line.keys[key][0]
            return
        if key:
            line.keys[key] = (len(line.entries) + 1, said)
        line.entries += [(d.id, d.body, d.created) for d in drafts]
        line.updated = max(line.updated, *(d.created for d in drafts))
        assert [e.id for e in made] == [d.id for d in drafts]

    @rule(id=sessions, pick=st.integers(0, 99))
    def retry(self, id: str, pick: int) -> None:
        line = self.lines[id]
        if line.keys:
            key = sorted(line.keys)[pick % len(line.keys)]
            first, said = line.keys[key]
            made = append(self.store, id, *said, key=key, expect=Expect(message=999))
            assert [e.seq for e in made] == list(range(first, first + len(said)))
            assert [e.body for e in made] == said

    @rule(id=sessions, message=st.none() | st.integers(0, 6), marker=st.none() | st.integers(0, 6))
    def expect(self, id: str, message: int | None, marker: int | None) -> None:
        line = self.lines[id]
        holds = message in (None, line.last(True)) and marker in (None, line.last(False))
        said = draft("expected", created=1)
        try:
            drive(self.store.log.append(id, [said], expect=Expect(message=message, marker=marker)))
        except Conflict:
            assert not holds
            return
        assert holds
        line.entries.append((said.id, said.body, said.created))
        line.updated = max(line.updated, 1)

    @rule(id=sessions, title=texts(5))
    def rename(self, id: str, title: str) -> None:
        drive(self.store.sessions.set(id, Changes(title=title)))
        self.lines[id].title = title

    @rule(id=consumes(sessions))
    def erase(self, id: str) -> None:
        drive(self.store.sessions.erase(id))
        del self.lines[id]
        with pytest.raises(NotFound):
            drive(self.store.sessions.session(id))

    @rule()
    def open_again(self) -> None:
        if not isinstance(self.store, MemoryStore):
            self.store.close()
            self.store = type(self).open(self.path)

    @rule(id=sessions, spans=SPANS, limit=st.integers(1, 5))
    def read_some(self, id: str, spans: tuple[Span, ...], limit: int) -> None:
        inside = [
            (seq, name)
            for seq, (name, _, _) in enumerate(self.lines[id].entries, 1)
            if within(seq, spans)
        ]
        found = drive(self.store.log.read(id, spans, limit=limit))
        assert [(e.seq, e.id) for e in found] == inside[:limit]
        heads = drive(self.store.log.heads(id, spans, limit=limit))
        assert [(h.seq, h.id) for h in heads] == inside[-limit:]

    @rule(id=sessions, before=st.integers(1, 12) | st.just(OPEN), limit=st.integers(1, 5))
    def read_markers(self, id: str, before: int, limit: int) -> None:
        entries = enumerate(self.lines[id].entries, 1)
        marks = [s for s, (_, body, _) in entries if not isinstance(body, Message) and s < before]
        found = drive(self.store.log.markers(id, before=before, limit=limit))
        assert [e.seq for e in found] == marks[-limit:]

    @rule(id=sessions, other=sessions, pick=st.integers(0, 99))
    def locate(self, id: str, other: str, pick: int) -> None:
        if entries := self.lines[other].entries:
            name = entries[pick % len(entries)][0]
            names = [entry[0] for entry in self.lines[id].entries]
            seq = names.index(name) + 1 if name in names else None
            assert drive(self.store.log.locate(id, name)) == seq

    @invariant()
    def every_session_holds_its_line(self) -> None:
        for id, line in self.lines.items():
            found = read_all(self.store, id, limit=3)
            assert [(e.id, e.body, e.created) for e in found] == line.entries
            assert [(e.session, e.seq) for e in found] == [(id, n + 1) for n in range(len(found))]
            self.check_session(drive(self.store.sessions.session(id)), line, found)

    def check_session(self, now: SessionInfo, line: Line, found: tuple[Entry, ...]) -> None:
        assert now.head == len(found)
        assert (now.last_message, now.last_marker) == (line.last(True), line.last(False))
        assert (now.title, now.updated, now.compacted) == (line.title, line.updated, line.compacted)
        assert not now.parent or now.parent in self.lines

    @invariant()
    def sessions_are_listed_by_last_change(self) -> None:
        order = sorted(((line.updated, id) for id, line in self.lines.items()), reverse=True)
        listed, after = list[tuple[int, str]](), None
        while page := drive(self.store.sessions.list(Page(limit=2, after=after))):
            listed += [(session.updated, session.id) for session in page]
            after = listed[-1]
        assert listed == order


class MemoryMachine(StoreMachine):
    share = 2.0
    open = staticmethod(lambda path: MemoryStore())


class SqliteMachine(StoreMachine):
    share = 0.3
    open = staticmethod(SqliteStore.open)


@pytest.mark.parametrize("machine", [MemoryMachine, SqliteMachine], ids=lambda m: m.__name__)
def test_a_store_holds_what_plain_lists_hold(machine: type[StoreMachine]) -> None:
    many = int(settings().max_examples * machine.share)
    tried = settings(max_examples=many, stateful_step_count=20)
    run_state_machine_as_test(machine, settings=tried)
