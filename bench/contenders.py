"""What is compared: ways to keep a conversation on disk, each used as its own documentation says.

Every contender lives in a folder of its own. It is opened, seeded with a conversation, closed (that
is when its size is taken), opened again, and then appends turns: a question and an answer, each
durable when its call returns. Afterwards it says how many messages it holds, so that nobody is fast
by dropping some. What is heavy to import is imported where it is used.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from bench.corpus import Said

T = TypeVar("T")

BATCH = 1000
"""How many messages are seeded at once."""

HOLDFAST = "Holdfast"
RAW = "raw apsw, same rows"


class Contender(Protocol):
    """One way to keep a conversation."""

    folder: Path

    def open(self) -> None: ...

    def seed(self, messages: Iterable[Said]) -> None: ...

    def ready(self, turns: Sequence[tuple[str, str]]) -> None:
        """Told beforehand what will be appended, for whoever measures without preparation."""
        ...

    def turn(self, question: str, answer: str) -> None: ...

    def count(self) -> int: ...

    def close(self) -> None: ...


class Folder:
    """What contenders share: a place, and no preparation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def ready(self, turns: Sequence[tuple[str, str]]) -> None:
        """Nothing to prepare."""


class Door(Folder):
    """Holdfast through its blocking door, as a program would use it."""

    id = ""

    @property
    def path(self) -> Path:
        return self.folder / "store.db"

    def open(self) -> None:
        import holdfast

        self.hf = holdfast.open(self.path)
        self.session = self.hf.session(id=self.id)
        self.id = self.session.id
        self.assistant = holdfast.assistant

    def seed(self, messages: Iterable[Said]) -> None:
        for batch in batches(messages, BATCH):
            self.session.append_all([body(said) for said in batch])

    def turn(self, question: str, answer: str) -> None:
        self.session.user(question)
        self.session.append(self.assistant(answer))

    def count(self) -> int:
        return self.session.refresh().head

    def close(self) -> None:
        self.hf.engine.store.close()  # the door itself would let the search index catch up


class RawRows(Folder):
    """The floor: a copy of Holdfast's file, and its very rows written to it with nothing else.

    Ids, JSON, hashes and estimates are made beforehand, the place of each row is known, nothing is
    read or checked. What is left is, for each message, one transaction with the insert of an entry
    and of a part and the update of the session's row, through the same connection settings.
    """

    def __init__(self, folder: Path, door: Door) -> None:
        super().__init__(folder)
        self.door = door
        self.path = folder / "store.db"
        self.made: Iterator[Any] = iter(())

    def open(self) -> None:
        from holdfast.stores.sqlite.connection import Sqlite

        self.connection = Sqlite(self.path).connection

    def seed(self, messages: Iterable[Said]) -> None:
        self.connection.close()
        shutil.copy(self.door.path, self.path)
        self.open()

    def ready(self, turns: Sequence[tuple[str, str]]) -> None:
        bodies = [body(Said(*said)) for turn in turns for said in zip(ROLES, turn, strict=True)]
        self.made = iter(prepared(self.connection, self.door.id, bodies))

    def turn(self, question: str, answer: str) -> None:
        execute = self.connection.execute
        for entry, part, head in islice(self.made, 2):
            execute("BEGIN IMMEDIATE")
            execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", entry)
            execute("INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?)", part)
            execute("UPDATE sessions SET head = ?, last_message = ?, updated = ? WHERE n = ?", head)
            execute("COMMIT")

    def count(self) -> int:
        return int(str(self.connection.execute("SELECT count(*) FROM entries").get))

    def close(self) -> None:
        self.connection.close()


ROLES = ("user", "assistant")


def prepared(
    connection: Any, session: str, bodies: Sequence[Any]
) -> Iterator[tuple[Any, Any, Any]]:
    """The rows that Holdfast would write for these messages, in its own layout."""
    from holdfast.core.tokens.count import weigh_body
    from holdfast.engine.ids import SystemClock, Ulids
    from holdfast.model.log import Draft
    from holdfast.stores.sql.keys import place
    from holdfast.stores.sql.rows import lay_out

    find = "SELECT n, head FROM sessions WHERE id = ?"
    ((number, head),) = connection.execute(find, (session,)).fetchall()
    clock = SystemClock()
    ids = Ulids(clock)
    rows = []
    for seq, said in enumerate(bodies, head + 1):
        now = clock.now() + seq - head  # a later time for each, as when they are really said
        draft = Draft(id=ids.new(), body=said, created=now, completed=now, counts=weigh_body(said))
        laid = lay_out([draft], place(number, seq), "")
        rows.append((laid.entries[0], laid.parts[0], (seq, seq, now, number)))
    return iter(rows)


class Lines(Folder):
    """One JSON object per line, synced after each: what command-line agents do, made durable."""

    @property
    def path(self) -> Path:
        return self.folder / "session.jsonl"

    def open(self) -> None:
        self.file = self.path.open("ab", buffering=0)

    def seed(self, messages: Iterable[Said]) -> None:
        for batch in batches(messages, BATCH):
            self.file.write(b"".join(self.line(said.role, said.text) for said in batch))
        os.fsync(self.file.fileno())

    def line(self, role: str, text: str) -> bytes:
        return json.dumps({"role": role, "content": text}).encode() + b"\n"

    def turn(self, question: str, answer: str) -> None:
        for role, text in zip(ROLES, (question, answer), strict=True):
            self.file.write(self.line(role, text))
            os.fsync(self.file.fileno())

    def count(self) -> int:
        with self.path.open("rb") as lines:
            return sum(1 for _ in lines)

    def close(self) -> None:
        self.file.close()


def body(said: Said) -> Any:
    """A message as Holdfast keeps it."""
    from holdfast.model.message import Message, Text, ToolResult

    if said.role == "tool":
        return Message("tool", (ToolResult("call", said.text),))
    return Message(said.role, (Text(said.text),))  # type: ignore[arg-type]


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items, so many at a time."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def size_of(folder: Path) -> int:
    """The bytes of every file beneath a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
