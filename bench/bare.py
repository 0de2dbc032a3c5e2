"""The floor of importing: the rows that an import has left, written again and nothing else."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec

from holdfast.model import wire
from holdfast.model.message import Part
from holdfast.stores.search import indexing
from holdfast.stores.sql import rows
from holdfast.stores.sql.keys import ORDINAL_BITS, SEQ_BITS
from holdfast.stores.sqlite.connection import Sqlite
from holdfast.stores.sqlite.store import SqliteStore

TABLES = ("sessions", "entries", "parts", "markers", "keys", "calls", "origins", "sources")
BLOBS, SEARCH = "blobs", "search_docsize"

_SESSION = {
    "sessions": "n", "keys": "session", "calls": "session", "origins": "session",
    "sources": "session", "entries": f"place >> {SEQ_BITS}", "markers": f"place >> {SEQ_BITS}",
    "parts": f"place >> {SEQ_BITS + ORDINAL_BITS}",
}  # fmt: skip
AT_ONCE = 1000
"""How many rows of the index are written in one transaction."""

Row = tuple[Any, ...]


class Floor(msgspec.Struct):
    """Everything that is written, in order."""

    sessions: list[dict[str, list[Row]]]
    """For each session its rows by table; parts end with the part itself, not with its bytes."""
    words: list[indexing.Row]
    counts: dict[str, int]

    @classmethod
    def of(cls, path: Path) -> Floor:
        """What an import has left in a store."""
        counts = counted(path)
        store = SqliteStore.open(path)
        try:
            found = {table: _by_session(store.db, table) for table in TABLES}
            numbers = sorted(found["sessions"])
            sessions = [{table: found[table][n] for table in TABLES} for n in numbers]
            store.db.run("UPDATE sessions SET indexed = fork")
            words = list(_words(store.db))
        finally:
            store.close()
        return cls(sessions, words, counts | {SEARCH: len(words)})

    @property
    def text(self) -> int:
        """Bytes of text in the index."""
        return sum(len(text.encode()) for _, text, *_ in self.words)

    def run(self, files: Path, path: Path) -> tuple[float, float]:
        """Decode the lines, write the rows, write the index; how long the first two and it took."""
        store = SqliteStore.open(path)
        begun = time.perf_counter()
        _decode(files)
        for session in self.sessions:
            _write(store.db, session)
        brought = time.perf_counter()
        for at in range(0, len(self.words), AT_ONCE):
            with store.db.writing():
                store.db.run_many(indexing.INSERT, self.words[at : at + AT_ONCE])
        ended = time.perf_counter()
        store.close()
        return brought - begun, ended - brought


def counted(path: Path) -> dict[str, int]:
    """How many rows each table of a store has."""
    connection = apsw.Connection(str(path))
    try:
        return {
            table: int(str(connection.execute(f"SELECT count(*) FROM {table}").get))
            for table in (*TABLES, BLOBS, SEARCH)
        }
    finally:
        connection.close()


def _by_session(db: Sqlite, table: str) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for number, *row in db.stream(f"SELECT {_SESSION[table]}, * FROM {table}"):
        if table == "parts":
            *row, blob, data = row
            ((packed,),) = (
                db.rows("SELECT data FROM blobs WHERE hash = ?", (blob,)) if blob else ((b"",),)
            )
            row.append(wire.decode(rows.unpack(packed) if blob else data, Part))  # type: ignore[arg-type]
        found[number].append(tuple(row))
    return found


def _words(db: Sqlite) -> Iterator[indexing.Row]:
    """What the index is given, in its order."""
    while steps := list(indexing.ready(db, AT_ONCE)):
        for step in steps:
            yield from step.found
            db.run("UPDATE sessions SET indexed = ? WHERE n = ?", (step.upto, step.whose.number))


def _decode(files: Path) -> None:
    decode = msgspec.json.Decoder().decode
    for path in sorted(files.rglob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                try:
                    decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue  # recorded files have damaged lines


def _write(db: Sqlite, session: dict[str, list[Row]]) -> None:
    """The rows of one session, in one transaction."""
    made, blobs = [], []
    for *columns, part in session["parts"]:
        content = wire.encode(part)
        if len(content) > rows.INLINE:
            blobs.append(blob := rows.blob_row(content))
            made.append((*columns, blob[0], None))
        else:
            made.append((*columns, None, content))
    with db.writing():
        db.run_many(rows.INSERT_BLOB, blobs)
        for table, found in (session | {"parts": made}).items():
            if found:
                db.run_many(f"INSERT INTO {table} VALUES ({_places(found[0])})", found)


def _places(row: Row) -> str:
    return ", ".join("?" * len(row))
