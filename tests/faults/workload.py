"""What the store is doing when a fault strikes: steps, and the states between them.

Every row of the board plays the same kind of session: it creates, appends, forks, indexes,
checkpoints and erases. The memory store says what the log should hold after each step.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from holdfast.engine.client import drive
from holdfast.errors import Corrupt, InvalidRequest, NotFound
from holdfast.model.log import Body, Clear, Draft, PartRef, Pin, SessionInfo
from holdfast.model.message import Message, Text, ToolCall, ToolResult
from holdfast.model.reply import Call, Usage
from holdfast.model.span import EVERYTHING
from holdfast.model.store import Page
from holdfast.ports import Store
from holdfast.stores.health.backups import directory
from holdfast.stores.health.salvage import salvage
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite.store import SqliteStore

NOON = 1_760_000_000_000

State = dict[str, Any]
"""Each session by its id: itself, its entries and its calls."""


@dataclass(frozen=True)
class Create:
    """A new session, or a fork."""

    session: SessionInfo

    def run(self, store: Store, *, again: bool = False) -> None:
        try:
            drive(store.sessions.create(self.session))
        except InvalidRequest:
            if not again:
                raise  # on a retry it may well be there


@dataclass(frozen=True)
class Append:
    """Some drafts under one key."""

    session: str
    key: str
    drafts: tuple[Draft, ...]
    call: Call | None = None

    def run(self, store: Store, *, again: bool = False) -> None:
        drive(store.log.append(self.session, self.drafts, key=self.key, call=self.call))


@dataclass(frozen=True)
class Say:
    """One message with no key, as most are said; who retries looks first whether it is there."""

    session: str
    draft: Draft

    def run(self, store: Store, *, again: bool = False) -> None:
        if again and drive(store.log.locate(self.session, self.draft.id)) is not None:
            return
        drive(store.log.append(self.session, (self.draft,)))


@dataclass(frozen=True)
class Index:
    """Let the search catch up."""

    def run(self, store: Store, *, again: bool = False) -> None:
        drive(store.search.catch_up())


@dataclass(frozen=True)
class Checkpoint:
    """Bring the write-ahead log into the database file."""

    mode: str

    def run(self, store: Store, *, again: bool = False) -> None:
        if isinstance(store, SqliteStore):
            store.db.rows(f"PRAGMA wal_checkpoint({self.mode})")


@dataclass(frozen=True)
class Erase:
    """A session goes, for good."""

    session: str

    def run(self, store: Store, *, again: bool = False) -> None:
        try:
            drive(store.sessions.erase(self.session))
        except NotFound:
            if not again:
                raise  # on a retry it may well be gone


@dataclass(frozen=True)
class Backup:
    """A copy is made beside the store, of what its file and its log hold."""

    def run(self, store: Store, *, again: bool = False) -> None:
        Checkpoint("PASSIVE").run(store)
        if isinstance(store, SqliteStore):
            drive(store.care.backup())


@dataclass(frozen=True)
class EraseFurther:
    """What erased sessions have left in backups goes too, whatever was cut short; then the backups.

    Its lease ends at once: whoever was killed holds none.
    """

    session: str

    def run(self, store: Store, *, again: bool = False) -> None:
        if not isinstance(store, SqliteStore):
            return
        while drive(store.care.erase_further(owner="a", now=NOON, until=NOON)):
            pass
        shelf = directory(store.db.path)
        for copy in shelf.glob("*.db") if shelf.exists() else ():
            kept = SqliteStore.open(copy)
            try:
                if drive(kept.sessions.find(self.session)):
                    raise Corrupt("a backup still holds a session that was erased")
            finally:
                kept.close()
            os.unlink(copy)


@dataclass(frozen=True)
class Mend:
    """Something nobody needs is found and swept away."""

    stray: bytes

    def run(self, store: Store, *, again: bool = False) -> None:
        if isinstance(store, SqliteStore):
            drive(store.blobs.put(self.stray))
            drive(store.care.repair(drive(store.care.examine())))


@dataclass(frozen=True)
class Rescue:
    """A copy is made and salvaged; salvaging that was cut short is begun again on the same file."""

    name: str

    def run(self, store: Store, *, again: bool = False) -> None:
        if not isinstance(store, SqliteStore):
            return
        copy = store.db.path.with_name(self.name)
        if not copy.exists():
            os.rename(drive(store.care.backup()), copy)
        salvage(copy)
        saved = SqliteStore.open(copy)
        try:
            if observe(saved) != observe(store):
                raise Corrupt("what was salvaged of a sound copy is not what was in it")
        finally:
            saved.close()
        shutil.rmtree(directory(copy))
        os.unlink(copy)


Step = Create | Append | Say | Index | Checkpoint | Backup | Erase | EraseFurther | Mend | Rescue


@cache
def steps(seed: int, rounds: int = 1) -> tuple[Step, ...]:
    """The steps of one workload; the same for the same seed."""
    random = Random(seed)
    return tuple(step for number in range(rounds) for step in _round(random, f"r{number}"))


def _round(random: Random, name: str) -> list[Step]:
    write = _Writer(random, name)
    whole, fork = f"{name}-whole", f"{name}-fork"
    return [
        Create(SessionInfo(id=whole, created=NOON, title=name, project="p")),
        write.append(whole, 1),
        write.say(whole),
        write.append(whole, 3),
        write.say(whole),
        Create(SessionInfo(id=fork, created=NOON, parent=whole, fork=2)),
        write.append(fork, 1),
        Index(),
        Checkpoint("PASSIVE"),
        write.say(fork),
        write.append(whole, 1, marker=Pin(seq=1)),
        write.append(whole, 1, size=40_000),
        write.append(fork, 2, call=True),
        Index(),
        Backup(),
        Erase(whole),
        EraseFurther(whole),
        write.append(fork, 1, marker=Clear(parts=(PartRef(1, 0),))),
        Checkpoint("TRUNCATE"),
        Mend(random.randbytes(9)),
        Rescue(f"{name}-copy.db"),
        write.append(fork, 2),
        write.say(fork),
        write.say(fork),
        write.append(fork, 1),
    ]


class _Writer:
    """Makes appends with texts of many sizes; ids and keys count up."""

    def __init__(self, random: Random, name: str) -> None:
        self._random, self._name, self._made = random, name, 0

    def append(
        self,
        session: str,
        many: int,
        *,
        size: int = 0,
        call: bool = False,
        marker: Body | None = None,
    ) -> Append:
        drafts = [self._draft(self._message(size)) for _ in range(many)]
        if marker:
            drafts.append(self._draft(marker))
        key = f"{self._name}-key-{self._made}"
        made = self._call(session, key) if call else None
        return Append(session, key, tuple(drafts), made)

    def say(self, session: str) -> Say:
        return Say(session, self._draft(self._message(0)))

    def _draft(self, body: Body) -> Draft:
        self._made += 1
        parts = body.parts if isinstance(body, Message) else ()
        counts = tuple(self._random.randrange(1, 999) for _ in parts)
        id = f"{self._name}-entry-{self._made}"
        return Draft(id=id, body=body, created=NOON + self._made, counts=counts)

    def _message(self, size: int) -> Message:
        random = self._random
        text = random.randbytes(size // 2 or random.choice((9, 90, 700, 2500))).hex()
        kind = random.randrange(3)
        if kind == 0 or size:
            return Message("user", (Text(text),))
        if kind == 1:
            return Message("assistant", (Text(text[:40]), ToolCall("c1", "read", text)))
        return Message("tool", (ToolResult("c1", text), ToolResult("c2", text[::-1])))

    def _call(self, session: str, key: str) -> Call:
        usage = Usage(input=self._random.randrange(999), output=7)
        return Call(id=f"{key}-call", session=session, started=NOON, request=key, usage=usage)


@cache
def states(seed: int, rounds: int = 1) -> tuple[State, ...]:
    """What should be stored before the first step and after each, by the memory store."""
    store = MemoryStore()
    found = [observe(store)]
    for step in steps(seed, rounds):
        step.run(store)
        found.append(observe(store))
    return tuple(found)


def observe(store: Store) -> State:
    """Everything a store holds, as values that can be compared."""
    sessions = drive(store.sessions.list(Page(limit=1000)))
    return {
        session.id: (
            session,
            drive(store.log.read(session.id, EVERYTHING, limit=10_000)),
            drive(store.calls.calls(session.id, limit=10_000)),
        )
        for session in sessions
    }
