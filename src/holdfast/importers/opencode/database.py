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

from holdfast.files import write_atomic
from holdfast.importers.jsonl import Found, read
from holdfast.importers.opencode.parts import AGENT, Held
from holdfast.model import wire
from holdfast.model.told import Kept, Problem
from holdfast.ports import Material

TRIES = 4

TABLES = ("session", "message", "part")

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
    slack: int = 1 << 20
    """How much more than its own size it may give: pages that are used twice give more."""


class TooMuch(Exception):
    """A database that gives more than it can hold."""


def copied(material: Material) -> str | None:
    """A private copy of the database and its log; None where there is none to be had."""
    log = f"{material.name}-wal"
    for _ in range(TRIES):
        before = material.whole(log) or b""
        place = material.copy()
        after = material.whole(log) or b""
        if place is None:
            return None
        if not before or before[16:24] == after[16:24]:  # the salts change when it starts anew
            if after:
                write_atomic(f"{place}-wal", after)
            return place
    return None


class Database:
    """One copy, opened."""

    def __init__(self, place: str, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._steps = 0
        log = f"{place}-wal"
        size = os.path.getsize(place) + (os.path.getsize(log) if os.path.exists(log) else 0)
        self._left = size + self._limits.slack
        self._connection = apsw.Connection(place, flags=apsw.SQLITE_OPEN_READWRITE)
        for setting, value in _SHUT:
            self._connection.config(setting, value)
        self._connection.limit(apsw.SQLITE_LIMIT_LENGTH, self._limits.value)
        self._connection.set_progress_handler(self._step, 10_000)

    def close(self) -> None:
        """Let go of the copy."""
        self._connection.close()

    def open(self) -> Iterator[Problem]:
        """Look what there is; what is missing, or is not read."""
        for pragma in ("query_only=1", "cell_size_check=1", "mmap_size=0", "temp_store=memory"):
            self._connection.execute(f"PRAGMA {pragma}")
        found = self._connection.execute(
            "SELECT CAST(name AS BLOB) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
        )
        names = {_words(name) for (name,) in found}
        self._columns = {name: self._of(name) for name in TABLES if name in names}
        self._connection.set_authorizer(_allow)
        for name in TABLES:
            if name not in names:
                yield Problem(f"has no table {name!r}")
        others = sorted(name for name in names - {*TABLES} if not name.startswith(("sqlite_", "_")))
        if others:
            yield Problem(f"these tables are not imported: {', '.join(others)}", 0, "notice")

    def _of(self, table: str) -> tuple[str, ...]:
        rows = self._connection.execute(f"PRAGMA table_info({table})")
        return tuple(row[1] for row in rows if row[1].isidentifier())

    def sessions(self) -> Iterator[Found]:
        """Every session, the oldest first."""
        columns = self._columns.get("session", ())
        if "id" not in columns:
            return
        wanted = ", ".join(f'CAST("{name}" AS BLOB)' for name in columns)
        order = "time_created, id" if "time_created" in columns else "id"
        for row in self._rows(f"SELECT {wanted} FROM session ORDER BY {order}"):
            yield _session(dict(zip(columns, map(_words, row), strict=True)))

    def messages(self, session: str) -> Iterator[Held | Problem | Kept]:
        """The messages of a session, in their order."""
        if not {"message", "part"} <= self._columns.keys():
            return
        rows = self._rows(
            "SELECT CAST(id AS BLOB), CAST(data AS BLOB) FROM message "
            "WHERE session_id = ? ORDER BY time_created, id",
            session,
        )
        for id, data in list(rows):
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
        rows = self._rows(
            "SELECT CAST(id AS BLOB), CAST(data AS BLOB) FROM part WHERE message_id = ? "
            "ORDER BY id",
            message,
        )
        for id, data in rows:
            for part in read(AGENT, 0, data or b""):
                yield _named(part, _words(id)) if isinstance(part, Found) else part

    def _rows(self, query: str, *values: str) -> Iterator[tuple[bytes | None, ...]]:
        for row in self._connection.execute(query, values):
            self._left -= sum(len(value) for value in row if value)
            if self._left < 0:
                raise TooMuch("gives more than it can hold, and is damaged")
            yield row

    def _step(self) -> bool:
        self._steps += 10_000
        return self._steps > self._limits.steps


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
