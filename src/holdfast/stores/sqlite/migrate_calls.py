"""Migrating calls that were keyed by their provider's id of the reply to rows of their session.

Some servers repeat such ids, so that one call's row was overwritten by another's.

Rule 1: a row goes to the session that holds its reply.
Rule 2: a reply whose row was overwritten gets one of its own, with the outcome `lost`: what it used
        is not known any more.
Rule 3: sources of imported sessions that this may have befallen count as changed, so that importing
        them again records their calls.
Rule 4: the calls of a session are in the order of the replies in its log; one without a reply
        there stays behind the call that it followed. No clock is asked.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import CallsLost, Corrupt
from holdfast.model import wire
from holdfast.model.reply import Call
from holdfast.stores.sql import rows
from holdfast.stores.sql.calls import insert, read_call, whole
from holdfast.stores.sql.database import Database, Row
from holdfast.stores.sql.keys import SEQ_BITS, number_of
from holdfast.stores.sql.lineage import lineage

OLD = "calls_by_reply"
"""What the old table is called until its rows are copied."""

_OLD_ROWS = (
    f"SELECT rowid, id, session, started, ended, input, cache_read, cache_write, output, cost, "
    f"request, data FROM {OLD} WHERE rowid > ? ORDER BY rowid LIMIT 256"
)
_REPLIES = (
    "SELECT place, id, created, completed, hash, data FROM entries WHERE place > ? "
    "AND kind = 'message' AND role = 'assistant' AND data IS NOT NULL ORDER BY place LIMIT 256"
)


class _Reply(Struct, frozen=True):
    """An entry of the log that was told with its provider's id."""

    place: int
    id: str
    created: int
    completed: int | None
    hash: bytes
    extra: rows.Extra


def carry_over(db: Database) -> None:
    """Copy every call to the session that it belongs to, and make rows for those that are lost."""
    doubts = _Doubts()
    for reply in _replies(db):  # first: lost calls are not the newest of their session
        _restore(db, reply, doubts)
    for row in _paged(db, _OLD_ROWS):
        _carry(db, *row[1:])
    for number, name in doubts.calls:
        _doubt(db, number, name)
    for number in doubts.sessions:
        db.run("UPDATE sources SET look = '' WHERE session = ?", (number,))
    if doubts.lost or doubts.sessions:
        said = _said(db.where, doubts.lost, len(doubts.sessions))
        warnings.warn(said, CallsLost, stacklevel=2)


class _Doubts(Struct):
    """What was overwritten, as far as the log tells."""

    lost: int = 0
    """How many rows were made for replies that had none."""
    sessions: set[int] = set()
    """Imported sessions that may lack calls."""
    calls: set[tuple[int, bytes]] = set()
    """Their calls that hold more than one: by the number of their session and the reply's name."""


def put_in_order(db: Database) -> None:
    """Number the calls of each session in the order of the replies in its log."""
    for (number,) in db.rows("SELECT n FROM sessions ORDER BY n"):
        first, last = whole(number)
        found = db.rows(
            "SELECT place, data FROM calls WHERE place BETWEEN ? AND ? ORDER BY place",
            (first, last),
        )
        before = [at for at, _ in found]
        after = [at for _, at in sorted(zip(_replied(db, number, found), before, strict=True))]
        if after != before:
            _number_again(db, after, before)


def _replied(db: Database, number: int, calls: list[Row]) -> Iterator[int]:
    """For each call the place of its reply, or of the reply to the call that it followed."""
    behind = 0
    for _, data in calls:
        try:
            call = read_call(data)
        except Corrupt:
            yield behind
            continue
        named = "SELECT place FROM entries WHERE id = ? AND place BETWEEN ? AND ?"
        found = db.rows(named, (call.entry, *whole(number))) if call.entry else ()
        yield found[0][0] if found else behind
        if found and call.outcome != "lost":  # such a row was made later, and is followed by none
            behind = found[0][0]


def _number_again(db: Database, places: list[int], numbers: list[int]) -> None:
    for place in places:
        db.run("UPDATE calls SET place = -place WHERE place = ?", (place,))
    for place, number in zip(places, numbers, strict=True):
        db.run("UPDATE calls SET place = ? WHERE place = ?", (number, -place))


def _doubt(db: Database, number: int, name: bytes) -> None:
    """Let what an imported call has used be replaced when its transcript is imported again."""
    stored = "SELECT place, data FROM calls WHERE session = ? AND request = ?"
    for at, data in db.rows(stored, (number, name)):
        with suppress(Corrupt):
            call = replace(read_call(data), outcome="lost")
            db.run("UPDATE calls SET data = ? WHERE place = ?", (wire.encode(call), at))


def _said(where: str, lost: int, again: int) -> str:
    told = [f"{where}: an earlier version kept one call for each id that a server gave its replies"]
    if lost:
        told.append(
            f"{lost} calls under repeated ids were overwritten; they count again, without a price"
        )
    if again:
        told.append(
            f"{again} imported sessions may lack calls: import their transcripts again to have them"
        )
    return "; ".join(told)


def _paged(db: Database, sql: str) -> Iterator[Row]:
    """The rows of a query that begins behind the first column of the row before."""
    after = 0
    while page := db.rows(sql, (after,)):
        yield from page
        after = page[-1][0]


def _carry(db: Database, id: str, number: int, started: int, *columns: object) -> None:
    """Copy a row, to the session whose log holds its reply."""
    *used, data = columns
    home = number
    try:
        call = read_call(data)  # type: ignore[arg-type]
        home, created = home_of(db, number, call)
        if home != number:
            call = replace(call, session=_session(db, home), started=created)
            started, data = created, wire.encode(call)
    except Corrupt:
        pass  # `holdfast doctor` mends it where it is
    insert(db, home, (id, home, started, *used, data))


def home_of(db: Database, number: int, call: Call) -> tuple[int, int]:
    """The number of the session whose reply a call has made, and when; its own where in doubt."""
    if not call.entry:
        return number, call.started
    found = db.rows("SELECT place, created FROM entries WHERE id = ? ORDER BY place", (call.entry,))
    homes = {number_of(at): created for at, created in found}
    if not homes or homes.keys() & _line(db, number):
        return number, call.started
    return next(iter(homes.items()))


def _line(db: Database, number: int) -> set[int]:
    """The numbers of the sessions whose entries a session may hold."""
    found = db.rows("SELECT parent, fork FROM sessions WHERE n = ?", (number,))
    try:
        return {number} | {one.number for row in found for one in lineage(db, number, *row)}
    except Corrupt:
        return {number}


def _replies(db: Database) -> Iterator[_Reply]:
    for place, id, created, completed, hash, data in _paged(db, _REPLIES):
        try:
            extra = wire.decode(data, rows.Extra)
        except rows.GARBLED:
            continue
        if extra.request:
            yield _Reply(place, id, created, completed, hash, extra)


def _restore(db: Database, reply: _Reply, doubts: _Doubts) -> None:
    """Make a row for a reply whose own was overwritten."""
    extra, number = reply.extra, number_of(reply.place)
    name = wire.encode([extra.provider, extra.request])
    found = db.rows(f"SELECT session, data FROM {OLD} WHERE request = ?", (name,))
    try:
        holders = [(session, read_call(data)) for session, data in found]
    except Corrupt:
        return
    for session, call in holders:
        if call.entry and _is_other(db, reply, call.entry):
            doubts.lost += _lost(db, number, reply)
        elif call.outcome == "imported" and (session != number or _repeats(db, reply)):
            doubts.sessions |= {number, session}
            doubts.calls.add((session, name))


def _is_other(db: Database, reply: _Reply, entry: str) -> bool:
    """Whether the reply of this entry says something else."""
    said = {hash for (hash,) in db.rows("SELECT hash FROM entries WHERE id = ?", (entry,))}
    return entry != reply.id and bool(said) and reply.hash not in said


def _repeats(db: Database, reply: _Reply) -> bool:
    """Whether the imported reply before this one, in its session, has the same id."""
    before = db.rows(
        "SELECT data FROM entries WHERE place < ? AND place >= ? AND kind = 'message' AND "
        "role = 'assistant' AND data IS NOT NULL ORDER BY place DESC LIMIT 1",
        (reply.place, number_of(reply.place) << SEQ_BITS),
    )
    try:
        return any(
            wire.decode(data, rows.Extra).request == reply.extra.request for (data,) in before
        )
    except rows.GARBLED:
        return False


def _lost(db: Database, number: int, reply: _Reply) -> int:
    session = _session(db, number)
    if not session:
        return 0
    extra = reply.extra
    call = Call(
        id=f"lost-{reply.id}", session=session, started=reply.created, ended=reply.completed,
        provider=extra.provider, model=extra.model, request=extra.request, entry=reply.id,
        outcome="lost",
    )  # fmt: skip
    name = wire.encode([extra.provider, extra.request])
    used = (call.started, call.ended, 0, 0, 0, 0, None, name, wire.encode(call))
    insert(db, number, (call.id, number, *used))
    return 1


def _session(db: Database, number: int) -> str:
    found = db.rows("SELECT id FROM sessions WHERE n = ?", (number,))
    return found[0][0] if found else ""
