"""OpenCode's database, read from a private copy that cannot act.

Rule 1: the original is never opened: it is copied with its log, until both are of one moment.
Rule 2: only tables are read; views, triggers and virtual tables are shut off, and every step, every
        value and all that is read together is bounded.
Rule 3: a row that cannot be read hides no other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import apsw
from msgspec import Struct

from holdfast.importers.jsonl import Found, read
from holdfast.importers.opencode.parts import AGENT, Held
from holdfast.importers.opencode.rows import Rows
from holdfast.model import wire
from holdfast.model.transcript_events import Kept, Problem
from holdfast.ports import TranscriptFile

TRIES = 4

TABLES = {
    "session": ("id",),
    "message": ("id", "session_id", "time_created", "data"),
    "part": ("id", "message_id", "data"),
}
"""What is read, and the columns that it cannot be read without."""

LONGEST = 100_000
"""The bytes of one statement: also of those that a schema is made of, with their defaults."""

_SHUT = (
    (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
    (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
)
_READING = (apsw.SQLITE_SELECT, apsw.SQLITE_READ)


class Limits(Struct, frozen=True, kw_only=True):
    """How much of one database is read at most."""

    value: int = 64 << 20
    """The bytes of one value."""
    steps: int = 1_000_000_000
    """The instructions of SQLite's machine."""
    seconds: float = 600.0
    slack: int = 1 << 20
    """How much more than its own size it may give: pages that are used twice give more."""


def copied(material: TranscriptFile) -> str | None:
    """A private copy of the database and its log; None where there is none to be had."""
    log = f"{material.name}-wal"
    for _ in range(TRIES):
        before = _salts(material.copy(log))
        place, after = material.copy(), material.copy(log)
        if place is None:
            return None
        if not before or before == _salts(after):  # they change when it starts anew
            if after:
                os.replace(after, f"{place}-wal")
            return place
    return None


def _salts(place: str | None) -> bytes:
    if place is None:
        return b""
    with open(place, "rb") as file:
        return file.read(24)[16:]


class Database:
    """One copy, opened."""

    def __init__(self, place: str, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._steps = 0
        self._lone: list[str] = []
        """Sessions of which there are only messages."""
        log = f"{place}-wal"
        size = os.path.getsize(place) + (os.path.getsize(log) if os.path.exists(log) else 0)
        self._missing = _mended(place)
        self._connection = apsw.Connection(place, flags=apsw.SQLITE_OPEN_READWRITE)
        for setting, value in _SHUT:
            self._connection.config(setting, value)
        self._connection.limit(apsw.SQLITE_LIMIT_LENGTH, self._limits.value)
        self._connection.limit(apsw.SQLITE_LIMIT_SQL_LENGTH, LONGEST)
        self._connection.set_progress_handler(self._step, 10_000)
        self._rows = Rows(self._connection, size + self._limits.slack, self._limits.seconds)

    def close(self) -> None:
        """Let go of the copy."""
        self._connection.close()

    def open(self) -> Iterator[Problem]:
        """Look what there is; what is missing, or is not read."""
        if self._missing:
            yield Problem(f"ends too early: {self._missing:,} of its pages are missing")
        for pragma in ("query_only=1", "cell_size_check=1", "mmap_size=0", "temp_store=memory"):
            self._connection.execute(f"PRAGMA {pragma}")
        found = self._connection.execute(
            "SELECT CAST(name AS BLOB) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
        )
        names = {_words(name) for (name,) in found}
        self._columns = {name: self._of(name) for name in TABLES if name in names}
        self._connection.set_authorizer(_allow)
        for name, needed in TABLES.items():
            if name not in names:
                yield Problem(f"has no table {name!r}")
            elif not self._has(name, *needed):
                yield Problem(f"its table {name!r} lacks one of {', '.join(needed)}")
        others = sorted(name for name in names - {*TABLES} if not name.startswith(("sqlite_", "_")))
        if others:
            yield Problem(f"these tables are not imported: {', '.join(others)}", 0, "notice")

    def _of(self, table: str) -> tuple[str, ...]:
        """The columns of a table that it holds: what is only computed is none."""
        rows = self._connection.execute(f"PRAGMA table_info({table})")
        return tuple(row[1] for row in rows if row[1].isidentifier())

    def sessions(self) -> Iterator[Found]:
        """Every session, the oldest first."""
        columns = self._columns.get("session", ())
        if "id" not in columns:
            return
        found = [
            dict(zip(columns, map(_words, row), strict=True))
            for row in self._rows.of("session", columns)
        ]
        for row in sorted(found, key=lambda row: (_number(row.get("time_created", "")), row["id"])):
            yield _session(row)
        if self._has("message", "session_id"):
            known = {row["id"] for row in found}
            self._lone = sorted({*self._rows.owners("message", "session_id")} - known)
            yield from (_session({"id": id}) for id in self._lone)

    def damage(self) -> Iterator[Problem]:
        """What has turned out to be damaged."""
        yield from self._rows.told()
        for id in self._lone:
            yield Problem(f"there are messages of session {id[:100]!r}, but it has no row")

    def messages(self, session: str) -> Iterator[Held | Problem | Kept]:
        """The messages of a session, in their order."""
        wanted = ("id", "data", "time_created")
        if not self._has("message", *wanted, "session_id") or "part" not in self._columns:
            return
        found = self._rows.of("message", wanted, "session_id", session)
        found.sort(key=lambda row: (_number(_words(row[2])), row[0] or b""))
        yield from self._rows.told()
        for id, data, _ in found:
            for info in read(AGENT, 0, data or b""):
                if not isinstance(info, Found):
                    yield info
                    continue
                parts: list[Found] = []
                for part in self._parts(_words(id)):
                    if isinstance(part, Found):
                        parts.append(part)
                    else:
                        yield part
                yield Held(_named(info, _words(id), sessionID=session), parts)

    def _parts(self, message: str) -> Iterator[Found | Problem | Kept]:
        if not self._has("part", "id", "data", "message_id"):
            return
        found = self._rows.of("part", ("id", "data"), "message_id", message)
        yield from self._rows.told()
        for id, data in sorted(found, key=lambda row: row[0] or b""):
            for part in read(AGENT, 0, data or b""):
                yield _named(part, _words(id)) if isinstance(part, Found) else part

    def _has(self, table: str, *columns: str) -> bool:
        return {*columns} <= {*self._columns.get(table, ())}

    def _step(self) -> bool:
        self._steps += 10_000
        return self._steps > self._limits.steps


def _mended(place: str) -> int:
    """How many pages a copy lacks; it says no longer that it has them, so that it can be read."""
    with open(place, "r+b") as file:
        head, size = file.read(100), os.path.getsize(place)
        page = int.from_bytes(head[16:18], "big")
        page = 65_536 if page == 1 else page
        told, there = int.from_bytes(head[28:32], "big"), size // page if page >= 512 else 0
        if not 0 < there < told:
            return 0
        file.seek(28)
        file.write(there.to_bytes(4, "big"))
        return told - there


def _allow(action: int, *_: Any) -> int:
    return apsw.SQLITE_OK if action in _READING else apsw.SQLITE_DENY


def _words(value: bytes | None) -> str:
    return value.decode("utf-8", "replace") if value is not None else ""


def _named(found: Found, id: str, **fields: str) -> Found:
    """What a row holds, with the names that stand in its other columns."""
    return Found(found.line, found.data, {**found.fields, "id": id, **fields})


def _session(row: dict[str, str]) -> Found:
    """A session's row, as its file or an export would say it."""
    fields = {
        "id": row["id"],
        "parentID": row.get("parent_id", ""),
        "title": row.get("title", ""),
        "directory": row.get("directory", ""),
        "time": {name: _number(row.get(f"time_{name}", "")) for name in ("created", "updated")},
        "revert": _object(row.get("revert", "")),
        "model": _object(row.get("model", "")),
    }
    return Found(0, wire.encode(row), fields)


def _number(words: str) -> int:
    return int(words) if words.isascii() and words.isdigit() and len(words) < 16 else 0


def _object(words: str) -> Any:
    if not words:
        return {}
    found = next(iter(read(AGENT, 0, words.encode())), None)
    return found.fields if isinstance(found, Found) else {}
