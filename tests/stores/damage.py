"""A store with something of everything in it, and ways to hurt it."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.core.log.fold import fold
from holdfast.engine.client import drive
from holdfast.model.log import (
    Checkpoint,
    Clear,
    Context,
    PartRef,
    Pin,
    Redo,
    Repair,
    Rewind,
    Summary,
    Switch,
    Undo,
)  # fmt: skip
from holdfast.model.message import ToolCall, ToolResult, assistant, tool
from holdfast.model.span import Span
from holdfast.stores.sql.keys import place
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, call, job, read_all, start

LONG = "\n".join(f"line {n} of a long tool output {n * 7919}" for n in range(4000))
"""More than a part may have and stay in its row."""


GIVEN = b"You are careful. " * 40
"""What its model call was given."""


def furnish(store: SqliteStore, id: str = "main") -> str:
    """A session with messages, calls, a blob and every kind of marker; its id."""
    start(store, id, title="A title", project="/a/project")
    append(store, id, "do this", key="first")
    append(store, id, assistant("I will", ToolCall("c1", "run", '{"cmd": "make"}')))
    append(store, id, tool(ToolResult("c1", LONG)))
    append(store, id, assistant("done"), Pin(seq=1), Checkpoint(prompt=1), Context(sections={}))
    summarise(store, id, 3)
    append(store, id, "and that", assistant("yes"), Clear(parts=(PartRef(4, 0),)))
    append(store, id, Undo(marker=8), Redo(marker=8), Switch(model="m"), Repair(rule="A1"))
    append(store, id, "wrong", Rewind(to=10), "better")
    summarise(store, id, 9)
    append(store, id, "on we go")
    drive(store.calls.record(call(id, provider="p", request=f"of {id}")))
    drive(store.jobs.offer(job(id, key="k", payload=b"work")))
    drive(store.calls.keep(id, GIVEN))
    drive(store.counts.tally(id, "o200k", {PartRef(1, 0): 3, PartRef(3, 0): 9000}))
    while drive(store.search.catch_up()):
        pass
    return id


def summarise(store: SqliteStore, id: str, last: int) -> None:
    """Append a Summary that carries what stands."""
    before = fold(read_all(store, id))
    append(store, id, Summary(covers=(Span(1, last),), text="so far", folded=before))


def at(store: SqliteStore, session: str, seq: int) -> int:
    """The place of an entry."""
    ((number,),) = store.db.rows("SELECT n FROM sessions WHERE id = ?", (session,))
    return place(number, seq)


def overwrite(path: Path, offset: int, data: bytes) -> None:
    """Put bytes into the middle of a file."""
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def bytes_of(path: Path) -> bytes:
    """Everything that a store's files hold, its journals and copies too."""
    names = [path, *(Path(f"{path}{suffix}") for suffix in ("-wal", "-shm"))]
    shelf = Path(f"{path}.backups")
    names += [shelf / name for name in os.listdir(shelf)] if shelf.exists() else []
    return b"".join(name.read_bytes() for name in names if name.exists())
