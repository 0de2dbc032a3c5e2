"""The calls port over SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.errors import Corrupt, NotFound
from holdfast.failpoints import failpoint
from holdfast.model import wire
from holdfast.model.reply import MINUTE, QUARTER, By, Call, Spent, Usage
from holdfast.model.span import OPEN
from holdfast.stores.sql.database import Database, Row
from holdfast.stores.sql.keys import MOST_ENTRIES, SEQ_BITS, number_of, place
from holdfast.stores.sql.lineage import number_of_session, unknown
from holdfast.stores.sql.rows import GARBLED, pack, unpack

_INSERT = (
    "INSERT INTO calls SELECT coalesce(max(place), ?) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? "
    "FROM calls WHERE place BETWEEN ? AND ?"
)
_UPDATE = (
    "UPDATE calls SET ended = ?, input = ?, cache_read = ?, cache_write = ?, output = ?, cost = ?, "
    "request = ?, data = ? WHERE place = ?"
)
_OF_SESSION = "FROM calls WHERE place BETWEEN ? AND ?"


def _sum(what: str) -> str:
    """A sum that no number breaks: exact up to 2**53, then as near as a float is."""
    return f"CAST(total({what}) AS INTEGER)"


_SUMS = (
    "count(*), count(*) - count(cost), "
    f"{_sum('cost')}, {_sum('input')}, {_sum('cache_read')}, {_sum('cache_write')}, "
    f"{_sum('output')}, {_sum('CASE WHEN ended > started THEN ended - started ELSE 0 END')}"
)


def _member(name: str, absent: str) -> str:
    """A member of a call's row; bytes, since it may be any text."""
    text = "CAST(calls.data AS TEXT)"
    found = f"CASE WHEN json_valid({text}) THEN json_extract({text}, '$.{name}') END"
    return f"CAST(coalesce({found}, '{absent}') AS BLOB)"


_APART: dict[By, str] = {
    "session": "sessions.id",
    "model": _member("model", ""),
    "cause": _member("cause", "turn"),
    "outcome": _member("outcome", "running"),
    "quarter": f"calls.started / {QUARTER} * {QUARTER}",
    "minute": f"calls.started / {MINUTE} * {MINUTE}",
}
"""What each word that calls are told apart by is in SQL."""


_WITH_SUBTASKS = (
    "calls.session IN (SELECT n FROM sessions WHERE id = ? "
    "OR (parent = (SELECT n FROM sessions WHERE id = ?) AND fork = 0))"
)


class SqlCalls:
    """One row for each call, completed in place."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def record(self, call: Call, *others: Call) -> Call:
        with self._db.writing():
            sessions = {one.session for one in (call, *others)}
            numbers = {id: number_of_session(self._db, id) for id in sessions}
            made = record(self._db, numbers[call.session], call)
            for other in others:
                record(self._db, numbers[other.session], other)
        return made

    async def calls(self, session: str, *, after: str = "", limit: int = 256) -> tuple[Call, ...]:
        with self._db.reading():
            first, last = whole(number_of_session(self._db, session))
            known = "SELECT place FROM calls WHERE session = ? AND id = ?"
            before = self._db.rows(known, (number_of(last), after)) if after else ()
            rows = self._db.rows(
                f"SELECT data {_OF_SESSION} ORDER BY place LIMIT ?",
                (before[0][0] + 1 if before else first, last, limit),
            )
        return tuple(read_call(data) for (data,) in rows)

    async def newest(self, session: str, limit: int = 8) -> tuple[Call, ...]:
        found = self._of(
            session,
            "SELECT c.data FROM sessions s LEFT JOIN calls c "
            f"ON c.place BETWEEN s.n << {SEQ_BITS} AND ((s.n + 1) << {SEQ_BITS}) - 1 "
            "WHERE s.id = ? ORDER BY c.place DESC LIMIT ?",
            session,
            limit,
        )
        return tuple(read_call(data) for (data,) in found if data is not None)

    async def spent(
        self, session: str = "", *, since: int = 0, until: int = OPEN, by: Sequence[By] = ()
    ) -> tuple[Spent, ...]:
        names = tuple(dict.fromkeys(by))
        own, of = (f"{_WITH_SUBTASKS} AND ", (session, session)) if session else ("", ())
        rows = self._db.rows(
            f"SELECT {_SUMS}{''.join(f', {_APART[name]}' for name in names)} FROM calls "
            f"{'JOIN sessions ON sessions.n = calls.session ' if 'session' in names else ''}"
            f"WHERE {own}started >= ? AND started < ?{_grouped(len(names))}",
            (*of, since, until),
        )
        if session and not any(row[0] for row in rows):
            number_of_session(self._db, session)  # nothing was spent, if it is there
        return tuple(_spent(row, names) for row in rows)

    async def keep(self, session: str, given: bytes) -> str:
        hash = wire.digest(given)
        known = "(SELECT 1 FROM givens WHERE session = sessions.n AND hash = ?)"
        if self._of(session, f"SELECT {known} FROM sessions WHERE id = ?", hash, session)[0][0]:
            return hash.hex()
        with self._db.writing():
            self._db.run(
                "INSERT INTO givens VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (number_of_session(self._db, session), hash, pack(given)),
            )
        return hash.hex()

    def _of(self, session: str, sql: str, *values: object) -> list[Row]:
        """What is known of a session that is there, in a row at least, by a single statement."""
        if found := self._db.rows(sql, values):
            return found
        raise unknown(session)

    async def kept(self, session: str, hash: str) -> bytes:
        with self._db.reading():
            number = number_of_session(self._db, session)
            found = self._db.rows(
                "SELECT data FROM givens WHERE session = ? AND hash = ?",
                (number, bytes.fromhex(hash)),
            )
        if not found:
            raise NotFound("kept text", hash)
        return unpack(found[0][0])


def record(db: Database, number: int, call: Call) -> Call:
    """Write a call's row inside the caller's transaction, where its session has none of it yet.

    It is known by its id, or as a reply that is told again; never by its provider's id alone.
    """
    known = _known(db, number, call)
    if not known:
        insert(db, number, (call.id, number, *_row(call)))
    for _, row in reversed(known):  # several, where rows turn out to be one reply
        call = row.completed(call)
    for at, _ in known[1:]:
        db.run("DELETE FROM calls WHERE place = ?", (at,))
    for at, _ in known[:1]:
        db.run(_UPDATE, (*_row(call)[1:], at))
    failpoint("call.after_record")
    return call


def _known(db: Database, number: int, call: Call) -> list[tuple[int, Call]]:
    """The rows of a session that are of this call, the oldest first."""
    known = db.rows("SELECT place, data FROM calls WHERE session = ? AND id = ?", (number, call.id))
    if call.request and call.content:
        named = "SELECT place, data FROM calls WHERE session = ? AND request = ? AND id <> ?"
        again = db.rows(named, (number, request_of(call), call.id))
        known += [row for row in again if read_call(row[1]).is_retold(call)]
    return [(at, read_call(data)) for at, data in sorted(known)]


def insert(db: Database, number: int, row: Row) -> None:
    """Write a row behind all others of a session: they are in the order they were recorded."""
    first, last = whole(number)
    db.run(_INSERT, (first, *row, first, last))


def whole(number: int) -> tuple[int, int]:
    """From where to where the calls of a session are, in the order they were recorded."""
    return place(number, 0), place(number, MOST_ENTRIES)


def _row(call: Call) -> Row:
    used = call.usage
    return (
        call.started, call.ended, used.input, used.cache_read, used.cache_write, used.output,
        call.cost, request_of(call), wire.encode(call),
    )  # fmt: skip


def _grouped(many: int) -> str:
    """The end of a query of sums: the first column that tells apart stands behind eight sums."""
    return f" GROUP BY {', '.join(str(9 + n) for n in range(many))}" if many else ""


def _spent(row: Row, names: Sequence[By]) -> Spent:
    calls, unpriced, cost, *used, took = row[:8]
    usage = dict(zip(("input", "cache_read", "cache_write", "output"), used, strict=True))
    apart: dict[str, Any] = {
        name: value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
        for name, value in zip(names, row[8:], strict=True)
    }
    return Spent(
        calls=calls,
        unpriced=unpriced,
        cost=cost,
        usage=Usage(**usage),
        milliseconds=took,
        **apart,
    )


def request_of(call: Call) -> bytes | None:
    """What the replies of one provider are found by; not unique."""
    return wire.encode([call.provider, call.request]) if call.request else None


def read_call(data: bytes) -> Call:
    """The call of a row; Corrupt where it is none."""
    try:
        return wire.decode(data, Call)
    except GARBLED as garbled:
        raise Corrupt(
            f"a call's row cannot be read ({garbled}); run `holdfast doctor`"
        ) from garbled
