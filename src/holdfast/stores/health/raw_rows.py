"""What the rows of a session say, read without trusting any of them: for examining and mending."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from holdfast.errors import Corrupt, StoreError
from holdfast.model import wire
from holdfast.model.log import Damaged, Marker
from holdfast.model.reply import Call
from holdfast.model.span import EVERYTHING
from holdfast.stores.sql import rows
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.keys import ORDINAL_BITS, seq_of
from holdfast.stores.sql.lineage import Lineage, lineage, ranges, unknown

MARKERS = "SELECT place, data FROM markers WHERE place BETWEEN ? AND ? ORDER BY place"
_NEWEST = {
    "last_message": "SELECT place FROM entries WHERE place BETWEEN ? AND ? AND kind = 'message' ",
    "last_marker": "SELECT place FROM entries WHERE place BETWEEN ? AND ? AND kind <> 'message' ",
    "compacted": "SELECT created FROM entries WHERE place BETWEEN ? AND ? AND kind = 'summary' ",
}


class Derived(Struct, frozen=True):
    """The columns of a session that follow from its entries."""

    head: int
    last_message: int
    last_marker: int
    compacted: int


class Found(Struct, frozen=True):
    """A session's row, as it is."""

    number: int
    id: str
    parent: int | None
    fork: int
    indexed: int
    derived: Derived
    data: bytes


def find(db: Database, id: str) -> Found:
    """The row of a session; Unknown where there is none."""
    found = db.rows(
        "SELECT n, id, parent, fork, indexed, head, last_message, last_marker, compacted, data "
        "FROM sessions WHERE id = ?",
        (id,),
    )
    if not found:
        raise unknown(id)
    number, id, parent, fork, indexed, *derived, data = found[0]
    return Found(number, id, parent, fork, indexed, Derived(*derived), data)


def line_of(db: Database, session: Found) -> Lineage | None:
    """The segments of a session's line; None where an ancestor is missing, or is itself."""
    try:
        return lineage(db, session.number, session.parent, session.fork)
    except Corrupt:
        return None


def derived(db: Database, session: Found, line: Lineage) -> Derived:
    """The columns as the entries of its line give them."""
    newest = {"head": session.fork, **dict.fromkeys(_NEWEST, 0)}
    for first, last in ranges(line, EVERYTHING):
        for name, sql in _NEWEST.items():
            if found := db.rows(f"{sql} ORDER BY place DESC LIMIT 1", (first, last)):
                value = found[0][0]
                newest[name] = value if name == "compacted" else seq_of(value)
    newest["head"] = max(newest["head"], newest["last_message"], newest["last_marker"])
    return Derived(**newest)


def search_trouble(db: Database) -> str:
    """What is wrong with the search index, in words; empty when nothing is."""
    try:
        db.run("INSERT INTO search (search) VALUES ('integrity-check')")
        strays = db.rows(
            "SELECT 1 FROM search WHERE NOT EXISTS "
            f"(SELECT 1 FROM entries WHERE place = search.rowid >> {ORDINAL_BITS}) LIMIT 1"
        )
    except StoreError as why:
        return f"the search index is damaged ({why.__cause__ or why})"
    return "the search index holds words of entries that are gone" if strays else ""


def content(db: Database, data: bytes | None, blob: bytes | None) -> bytes:
    """The bytes of a part, from its row or its blob; Corrupt where there are none."""
    if data is not None:
        return stored_bytes(data)
    packed = db.rows("SELECT data FROM blobs WHERE hash = ?", (blob,))
    if not packed:
        raise Corrupt("its blob is missing")
    return rows.unpack(packed[0][0])


def stored_bytes(data: object) -> bytes:
    """What a column of bytes holds; Corrupt where it holds something else, as SQLite allows."""
    if not isinstance(data, bytes):
        raise Corrupt(f"it holds {type(data).__name__}, not bytes")
    return data


def readable(data: bytes, type: Any) -> bool:
    """Whether these bytes are a value of a type."""
    try:
        wire.decode(stored_bytes(data), type)
    except (Corrupt, *rows.GARBLED):
        return False
    return True


def call_of(data: bytes) -> Call | None:
    """The call of a row; None where it cannot be read."""
    try:
        return wire.decode(stored_bytes(data), Call)
    except (Corrupt, *rows.GARBLED):
        return None


def job_sound(key: bytes, outcome: bytes) -> bool:
    """Whether the columns of a job can be read."""
    return (key == b"" or readable(key, str)) and readable(outcome, str)


def given_sound(hash: bytes, data: bytes) -> bool:
    """Whether what a call was given is what its hash says."""
    try:
        return wire.digest(rows.unpack(stored_bytes(data))) == hash
    except Corrupt:
        return False


def read_marker(at: int, data: bytes) -> Marker:
    """The marker at a place; what cannot be read is one that does nothing."""
    try:
        return rows.marker(at, stored_bytes(data))
    except Corrupt:
        return Damaged()


def spot(session: str, seq: int | str) -> str:
    """How a finding names an entry."""
    return f"{session}#{seq}"
