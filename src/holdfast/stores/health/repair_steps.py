"""Keeping what cannot be read: bytes go inside values that can, rows without owners get one.

Each function is one mend of mend.py, inside its transaction; it says whether there was anything to
do.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator

from msgspec.structs import replace

from holdfast.errors import Corrupt
from holdfast.model import wire
from holdfast.model.log import Damaged, Draft, Marker, SessionInfo, Summary, kind_of
from holdfast.model.message import Opaque, opaque
from holdfast.model.reply import Call, Usage
from holdfast.stores.health import raw_rows
from holdfast.stores.health.raw_rows import Found
from holdfast.stores.health.replay import standing
from holdfast.stores.sql import calls, rows
from holdfast.stores.sql.blobs import drop_unused
from holdfast.stores.sql.database import Database, Row
from holdfast.stores.sql.keys import (
    MOST_ENTRIES,
    ORDINAL_BITS,
    entry_of,
    ordinal_of,
    part_place,
    parts_of,
    place,
    seq_of,
)  # fmt: skip
from holdfast.stores.sqlite.migrate_calls import home_of

OWNER = "holdfast"
"""Whose parts the wrapped bytes are: no provider is ever sent them."""

_CALL = "SELECT data FROM calls WHERE session = ? AND id = ?"
_PARTS = "SELECT place, kind, size, blob, data FROM parts WHERE place BETWEEN ? AND ?"


def wrap(db: Database, where: str) -> bool:
    """Put what cannot be read of an entry inside a part or marker that can."""
    session, at = _entry(db, where)
    ((kind, role, hash),) = db.rows("SELECT kind, role, hash FROM entries WHERE place = ?", (at,))
    if kind == "message":
        return _wrap_parts(db, at, role or "", hash)
    changed = _wrap_marker(db, at)
    if changed:  # a Summary may be one no longer
        recompute(db, session.id)
    return changed


def _wrap_parts(db: Database, at: int, role: str, hash: bytes) -> bool:
    stored = {ordinal_of(row[0]): row for row in db.rows(_PARTS, parts_of(at, at))}
    if not stored and not rows.intact(hash, role, []):
        content = wire.encode(opaque(OWNER, "missing", hash))
        _put(db, part_place(at, 0), content)
        _sign(db, at, role, [content])
        return True
    changed = unread = False
    contents: list[bytes] = []
    for ordinal in range(max(stored, default=-1) + 1):
        content, told, read = _mended(db, stored.get(ordinal))
        contents.append(content)
        if not told:
            _put(db, part_place(at, ordinal), content)
        changed, unread = changed or not told, unread or not read
    if unread:  # otherwise the fingerprint was not of something else
        _sign(db, at, role, contents)
    return changed


def _mended(db: Database, row: Row | None) -> tuple[bytes, bool, bool]:
    """A part's content as it can be read; whether its row says so, and whether it was readable."""
    if row is None:
        return wire.encode(opaque(OWNER, "missing", b"")), False, False
    at, kind, size, blob, data = row
    try:
        content = raw_rows.content(db, data, blob)
        part = rows.part(at, content)
        return content, (kind_of(part), len(content)) == (kind, size), True
    except Corrupt:
        return wire.encode(_opaque(db, blob, data)), False, False


def _opaque(db: Database, blob: bytes | None, data: bytes | None) -> Opaque:
    """A part around whatever is left of one."""
    if data is not None:
        return opaque(OWNER, "unreadable", _raw(data))
    packed = db.rows("SELECT data FROM blobs WHERE hash = ?", (blob,))
    if not packed:
        return opaque(OWNER, "missing", blob or b"")
    try:
        return opaque(OWNER, "unreadable", rows.unpack(packed[0][0]))
    except Corrupt:
        return opaque(OWNER, "unreadable-zstd", packed[0][0])


def _raw(data: object) -> bytes:
    return data if isinstance(data, bytes) else str(data).encode("utf-8", "surrogatepass")


def _put(db: Database, at: int, content: bytes) -> None:
    """Write a part's row anew; its estimate stays."""
    kept = db.rows("SELECT estimate, blob FROM parts WHERE place = ?", (at,))
    blob, inline = None, content
    if len(content) > rows.INLINE:
        packed = rows.blob_row(content)
        blob, inline = packed[0], None
        db.run(rows.INSERT_BLOB, packed)
    kind = kind_of(rows.part(at, content))
    db.run("DELETE FROM parts WHERE place = ?", (at,))
    db.run(
        "INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?)",
        (at, kind, len(content), kept[0][0] if kept else 0, blob, inline),
    )
    if kept and kept[0][1] is not None:  # what it held is in the part now
        drop_unused(db, kept[0][1])


def _wrap_marker(db: Database, at: int) -> bool:
    stored = db.rows("SELECT kind, data FROM markers WHERE place = ?", (at,))
    kind, data = stored[0] if stored else ("", b"")
    try:
        marker = rows.marker(at, raw_rows.stored_bytes(data))
    except Corrupt as why:
        reason = str(why) if stored else "its marker was missing"
        _put_marker(db, at, Damaged(data=_raw(data), reason=reason))
        return True
    if kind_of(marker) == kind:
        return False
    _put_marker(db, at, marker)
    return True


def _put_marker(db: Database, at: int, marker: Marker) -> None:
    kind, content = kind_of(marker), wire.encode(marker)
    db.run("DELETE FROM markers WHERE place = ?", (at,))
    db.run("INSERT INTO markers VALUES (?, ?, ?)", (at, kind, content))
    db.run("UPDATE entries SET kind = ? WHERE place = ?", (kind, at))
    _sign(db, at, kind, [content])


def _sign(db: Database, at: int, kind: str, contents: list[bytes]) -> None:
    hash = rows.fingerprint(kind, contents)
    db.run("UPDATE entries SET hash = ? WHERE place = ?", (hash, at))


def refold(db: Database, where: str) -> bool:
    """Let a Summary carry what the markers before it give."""
    session, at = _entry(db, where)
    line = raw_rows.line_of(db, session) or ()
    for stood in standing(db, session, line):
        body = stood.entry.body
        if stood.at == at and isinstance(body, Summary) and body.folded != stood.before:
            _put_marker(db, at, replace(body, folded=stood.before))
            return True
    return False


def relabel(db: Database, where: str) -> bool:
    """Begin anew with the labels of a session or an entry; the bytes go to the session's end."""
    if "#" in where and not db.rows("SELECT 1 FROM sessions WHERE id = ?", (where,)):
        session, at = _entry(db, where)
        ((data,),) = db.rows("SELECT data FROM entries WHERE place = ?", (at,))
        if data is None or raw_rows.readable(data, rows.Extra):
            return False
        db.run("UPDATE entries SET data = NULL WHERE place = ?", (at,))
        _lay_by(db, session, _raw(data), f"the labels of entry {seq_of(at)}")
        return True
    session = raw_rows.find(db, where)
    if raw_rows.readable(session.data, SessionInfo):
        return False
    ((updated, project),) = db.rows(
        "SELECT updated, project FROM sessions WHERE n = ?", (session.number,)
    )
    known = wire.decode(project, str) if raw_rows.readable(project, str) else ""
    fresh = wire.encode(SessionInfo(id=session.id, created=updated, project=known))
    db.run("UPDATE sessions SET data = ? WHERE n = ?", (fresh, session.number))
    _lay_by(db, session, _raw(session.data), "the session's title and settings")
    return True


def record(db: Database, where: str) -> bool:
    """Set a call to what its columns say."""
    name, _, call = where.rpartition("#")
    session = raw_rows.find(db, name)
    columns = db.rows(
        "SELECT data, started, ended, cost, input, cache_read, cache_write, output FROM calls "
        "WHERE session = ? AND id = ?",
        (session.number, call),
    )
    if not columns or raw_rows.readable(columns[0][0], Call):
        return False
    data, started, ended, cost, *used = columns[0]
    usage = Usage(**dict(zip(("input", "cache_read", "cache_write", "output"), used, strict=True)))
    fresh = Call(
        id=call, session=name, started=started, ended=ended, cost=cost, usage=usage,
        outcome="running" if ended is None else "done",
    )  # fmt: skip
    set_call = "UPDATE calls SET data = ? WHERE session = ? AND id = ?"
    db.run(set_call, (wire.encode(fresh), session.number, call))
    _lay_by(db, session, _raw(data), f"the model call {call}")
    return True


def move_call(db: Database, where: str) -> bool:
    """Give a call to the session that holds its reply."""
    name, _, id = where.rpartition("#")
    session = raw_rows.find(db, name)
    stored = db.rows(_CALL, (session.number, id))
    call = raw_rows.call_of(stored[0][0]) if stored else None
    if call is None:
        return False
    home, created = home_of(db, session.number, call)
    if home == session.number:
        return False
    ((owner,),) = db.rows("SELECT id FROM sessions WHERE n = ?", (home,))
    moved = replace(call, session=owner, started=created)
    db.run("DELETE FROM calls WHERE session = ? AND id = ?", (session.number, id))
    calls.record(db, home, moved)
    return True


def accept_call(db: Database, where: str) -> bool:
    """Let a call whose usage is lost count as one without a price; nothing more is said of it."""
    session = raw_rows.find(db, where)
    lost = [
        call
        for (data,) in db.rows("SELECT data FROM calls WHERE session = ?", (session.number,))
        if (call := raw_rows.call_of(data)) and call.outcome == "lost"
    ]
    for call in lost:
        values = (wire.encode(replace(call, outcome="done")), session.number, call.id)
        db.run("UPDATE calls SET data = ? WHERE session = ? AND id = ?", values)
    return bool(lost)


def lay_by(db: Database, where: str) -> bool:
    """Take a job, or what a call was given, out of its table; the bytes go to the session's end."""
    name, _, what = where.rpartition("#")
    kind, _, key = what.partition(" ")
    session = raw_rows.find(db, name)
    if kind == "job":
        held = db.rows("SELECT key, outcome, payload FROM jobs WHERE id = ?", (key,))
        sound = not held or raw_rows.job_sound(*held[0][:2])
        gone = ("DELETE FROM jobs WHERE id = ?", (key,))
    else:
        one = (session.number, bytes.fromhex(key))
        held = db.rows("SELECT data FROM givens WHERE session = ? AND hash = ?", one)
        sound = not held or raw_rows.given_sound(one[1], held[0][0])
        gone = ("DELETE FROM givens WHERE session = ? AND hash = ?", one)
    if sound:
        return False
    db.run(*gone)
    _lay_by(db, session, b"\n".join(map(_raw, held[0])), what)
    return True


def _lay_by(db: Database, session: Found, data: bytes, reason: str) -> None:
    """Append a marker that holds these bytes."""
    last = db.rows(
        "SELECT place FROM entries WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1",
        (place(session.number, 0), place(session.number, MOST_ENTRIES)),
    )
    seq = max(seq_of(last[0][0]) if last else 0, session.fork) + 1
    body = Damaged(data=data, reason=reason)
    draft = Draft(id=_new_id(), body=body, created=time.time_ns() // 1_000_000)
    laid = rows.lay_out([draft], place(session.number, seq), "")
    db.run_many("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", laid.entries)
    db.run_many("INSERT INTO markers VALUES (?, ?, ?)", laid.markers)
    db.run("UPDATE sessions SET head = ?, last_marker = ? WHERE n = ?", (seq, seq, session.number))


def adopt(db: Database, where: str) -> bool:
    """Give rows whose session's row is lost one again, by their number."""
    number = int(where)
    if db.rows("SELECT 1 FROM sessions WHERE n = ?", (number,)):
        return False
    whole = place(number, 0), place(number, MOST_ENTRIES)
    ((first, last),) = db.rows(
        "SELECT min(created), max(created) FROM entries WHERE place BETWEEN ? AND ?", whole
    )
    made = SessionInfo(id=f"salvaged-{number}", created=first or 0, title="(its title was lost)")
    db.run(
        "INSERT INTO sessions VALUES (?, ?, NULL, 0, ?, 0, 0, 0, 0, 0, 0, ?, ?)",
        (number, made.id, last or 0, wire.encode(""), wire.encode(made)),
    )
    recompute(db, made.id)
    return True


def enter(db: Database, where: str) -> bool:
    """Give parts and markers of a session whose entry's row is lost one again."""
    session = raw_rows.find(db, where)
    whole = place(session.number, 0), place(session.number, MOST_ENTRIES)
    alone = list(_alone(db, *whole))
    for at in alone:
        marker = db.rows("SELECT kind FROM markers WHERE place = ?", (at,))
        kind, role = (marker[0][0], None) if marker else ("message", _role(db, at))
        db.run(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, NULL, ?, NULL)",
            (at, _new_id(), kind, role, _created(db, at), b""),
        )
        _sign(db, at, role or kind, _contents(db, at))
    if alone:
        recompute(db, session.id)
    return bool(alone)


def _alone(db: Database, first: int, last: int) -> Iterator[int]:
    """The places of entries that parts or markers belong to, and that are not there."""
    without = "NOT EXISTS (SELECT 1 FROM entries WHERE entries.place = "
    places = {
        entry_of(at)
        for (at,) in db.rows(
            f"SELECT place FROM parts WHERE place BETWEEN ? AND ? AND {without}parts.place >> "
            f"{ORDINAL_BITS})",
            parts_of(first, last),
        )
    }
    places |= {
        at
        for (at,) in db.rows(
            f"SELECT place FROM markers WHERE place BETWEEN ? AND ? AND {without}markers.place)",
            (first, last),
        )
    }
    yield from sorted(places)


def _role(db: Database, at: int) -> str:
    """Who may have said it; never the user, whose words weigh more than others'."""
    kinds = {kind for _, kind, *_ in db.rows(_PARTS, parts_of(at, at))}
    return "tool" if "tool_result" in kinds else "assistant"


def _created(db: Database, at: int) -> int:
    before = "SELECT created FROM entries WHERE place < ? ORDER BY place DESC LIMIT 1"
    known = db.rows(before, (at,))
    return known[0][0] if known else 0


def _contents(db: Database, at: int) -> list[bytes]:
    marker = db.rows("SELECT data FROM markers WHERE place = ?", (at,))
    if marker:
        return [_raw(marker[0][0])]
    parts = sorted(db.rows(_PARTS, parts_of(at, at)))
    try:
        return [raw_rows.content(db, data, blob) for *_, blob, data in parts]
    except Corrupt:
        return []  # what cannot be read is wrapped next, and signed then


def recompute(db: Database, id: str) -> None:
    """Set the columns of a session that follow from its entries."""
    session = raw_rows.find(db, id)
    true = raw_rows.derived(db, session, raw_rows.line_of(db, session) or ())
    db.run(
        "UPDATE sessions SET head = ?, last_message = ?, last_marker = ?, compacted = ? "
        "WHERE n = ?",
        (true.head, true.last_message, true.last_marker, true.compacted, session.number),
    )


def _entry(db: Database, where: str) -> tuple[Found, int]:
    name, _, seq = where.rpartition("#")
    session = raw_rows.find(db, name)
    return session, place(session.number, int(seq))


def _new_id() -> str:
    return secrets.token_hex(13).upper()
