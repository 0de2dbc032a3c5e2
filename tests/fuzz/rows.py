"""Changes to a database: its pages by their bytes, and its rows by SQL, as a hostile hand would."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from random import Random

PAGE = 512

SCHEMES = (
    "DROP INDEX part_message_idx",
    "DROP INDEX message_session_idx",
    "DROP TABLE part",
    "ALTER TABLE message RENAME TO old",
    "ALTER TABLE part RENAME COLUMN data TO dat",
    "ALTER TABLE session DROP COLUMN time_created",
    "ALTER TABLE part ADD COLUMN more DEFAULT 'x'",
    "ALTER TABLE part ADD COLUMN g AS (hex(zeroblob(1000)))",
    "CREATE TABLE other (a, b)",
    "CREATE VIEW spy AS SELECT * FROM session",
    "CREATE TRIGGER t AFTER INSERT ON part BEGIN DELETE FROM session; END",
    "DELETE FROM message WHERE rowid % 2",
    "DELETE FROM session",
    "UPDATE message SET session_id = (SELECT id FROM session LIMIT 1)",
    "UPDATE part SET message_id = (SELECT id FROM message LIMIT 1)",
    "UPDATE session SET parent_id = id",
    "INSERT INTO part SELECT id || 'x', message_id, session_id, 0, 0, data FROM part",
    "UPDATE part SET data = zeroblob(3000) WHERE rowid % 3 = 0",
    "UPDATE message SET time_created = -time_created",
    "UPDATE message SET id = CAST(id AS BLOB)",
    "UPDATE session SET id = NULL",
    "VACUUM",
)
TEXTS = (("part", "data"), ("message", "data"), ("session", "revert"), ("session", "title"))
STRANGE = (None, "", 7, -1.5, b"\xff\x00", b"", "x" * 2_000, "\0", "{", "[]", "null")


def disordered(data: bytes, rng: Random, change: Callable[[bytes], bytes]) -> bytes:
    """Another database; `change` changes the JSON in one of its rows."""
    turn = rng.randrange(8)
    if turn < 3:
        return _pages(data, rng)
    if turn < 4:
        return _bytes(data, rng)
    try:
        return _rows(data, rng, change)
    except (sqlite3.Error, MemoryError, UnicodeError):
        return _bytes(data, rng)


def _rows(data: bytes, rng: Random, change: Callable[[bytes], bytes]) -> bytes:
    with closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(data)
        if rng.randrange(4) == 0:
            db.execute(rng.choice(SCHEMES))
        else:
            table, column = rng.choice(TEXTS)
            many = db.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] or 0
            row = 1 + rng.randrange(max(min(many, 1_000), 1))
            found = db.execute(f"SELECT {column} FROM {table} WHERE rowid=?", (row,)).fetchone()
            held = found[0] if found else None
            text = change(held.encode()).decode("utf-8", "replace") if type(held) is str else held
            made = rng.choice((*STRANGE, text, text, text, text, text, text))
            db.execute(f"UPDATE {table} SET {column}=? WHERE rowid=?", (made, row))
        db.commit()
        return db.serialize()


def _pages(data: bytes, rng: Random) -> bytes:
    """A page that is another one, that is empty, or that is gone with all behind it."""
    pages = [data[at : at + PAGE] for at in range(0, len(data), PAGE)] or [b""]
    at, other = rng.randrange(len(pages)), rng.randrange(len(pages))
    match rng.randrange(5):
        case 0:
            pages[at] = pages[other]
        case 1:
            pages[at], pages[other] = pages[other], pages[at]
        case 2:
            pages[at] = bytes(PAGE)
        case 3:
            del pages[at:]
        case _:
            pages[at] = _bytes(pages[at], rng)
    return b"".join(pages)


def _bytes(data: bytes, rng: Random) -> bytes:
    """Some bytes are others: mostly small ones, as numbers and lengths are."""
    made = bytearray(data)
    for _ in range(1 + rng.randrange(6) if made else 0):
        made[rng.randrange(len(made))] = rng.choice((0, 1, 2, 5, 13, 0x7F, 0x80, 0xFF,
                                                     rng.randrange(256)))  # fmt: skip
    return bytes(made)
