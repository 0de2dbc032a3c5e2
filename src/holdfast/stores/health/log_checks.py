"""The laws of one session's log, checked against its stored bytes: entry by entry, page by page."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from holdfast.core.log.marker_rules import Name, faults
from holdfast.errors import Corrupt
from holdfast.model.log import SessionInfo, Summary, kind_of
from holdfast.model.store import Finding
from holdfast.stores.health import raw_rows, repair
from holdfast.stores.health.raw_rows import Found, spot
from holdfast.stores.health.replay import standing
from holdfast.stores.sql import rows
from holdfast.stores.sql.database import Database, Row
from holdfast.stores.sql.keys import MOST_ENTRIES, ordinal_of, parts_of, place, seq_of
from holdfast.stores.sql.lineage import Lineage
from holdfast.stores.sqlite.migrate_calls import home_of

_ENTRIES = (
    "SELECT place, id, kind, role, created, hash, data FROM entries "
    "WHERE place BETWEEN ? AND ? ORDER BY place"
)
_PARTS = (
    "SELECT place, kind, size, blob, data FROM parts WHERE place BETWEEN ? AND ? ORDER BY place"
)


def session_findings(db: Database, id: str) -> Iterator[Finding]:
    """Everything about a session that breaks a law; one snapshot, and memory for one entry."""
    session = raw_rows.find(db, id)
    yield from _row(db, session)
    line = raw_rows.line_of(db, session)
    if line is None:
        yield _finding(session.id, "cannot reach the session it was forked from", repair.DETACH)
        line = raw_rows.line_of(db, replace(session, parent=None)) or ()
    elif session.parent is None and session.fork:
        yield _finding(session.id, f"entries 1 to {session.fork} are lost with their session")
    yield from _entries(db, session)
    yield from _columns(db, session, line)
    yield from _markers(db, session, line)


def _finding(where: str, what: str, how: str = "") -> Finding:
    return Finding(area="log", what=what, where=where, mend=how)


def _row(db: Database, session: Found) -> Iterator[Finding]:
    if not raw_rows.readable(session.data, SessionInfo):
        yield _finding(session.id, "its title and settings cannot be read", repair.RELABEL)
    yield from _calls(db, session)
    jobs = db.stream("SELECT id, key, outcome FROM jobs WHERE session = ?", (session.number,))
    for job, key, outcome in jobs:
        if not raw_rows.job_sound(key, outcome):
            yield _finding(spot(session.id, f"job {job}"), "a job cannot be read", repair.LAY_BY)
    givens = db.stream("SELECT hash, data FROM givens WHERE session = ?", (session.number,))
    for hash, data in givens:
        if not raw_rows.given_sound(hash, data):
            what = "what a model call was given cannot be read"
            yield _finding(spot(session.id, f"given {hash.hex()}"), what, repair.LAY_BY)


def _calls(db: Database, session: Found) -> Iterator[Finding]:
    """The calls that cannot be read, are another session's, or have lost what they used."""
    lost = 0
    rows_of = db.stream("SELECT id, data FROM calls WHERE session = ?", (session.number,))
    for id, data in rows_of:
        call, where = raw_rows.call_of(data), f"{session.id}#{id}"
        if call is None:
            yield _finding(where, "a model call cannot be read", repair.RECORD)
        elif home_of(db, session.number, call)[0] != session.number:
            yield _finding(where, "the reply of this call is in another session", repair.MOVE)
        elif call.given and not _is_kept(db, session, call.given):
            yield _finding(where, "what this call was given is not there")
        lost += call is not None and call.outcome == "lost"
    if lost:
        what = f"{lost} model calls were overwritten by others; what they used is lost"
        yield _finding(session.id, what, repair.ACCEPT)


def _is_kept(db: Database, session: Found, given: str) -> bool:
    try:
        one = (session.number, bytes.fromhex(given))
    except ValueError:
        return False
    return bool(db.rows("SELECT 1 FROM givens WHERE session = ? AND hash = ?", one))


def _entries(db: Database, session: Found) -> Iterator[Finding]:
    """What is wrong with each entry, and where numbers are missing."""
    before = session.fork
    whole = place(session.number, 0), place(session.number, MOST_ENTRIES)
    for row in db.stream(_ENTRIES, whole):
        seq = seq_of(row[0])
        where = spot(session.id, seq)
        if seq <= session.fork:
            yield _finding(where, f"hidden: the session begins after entry {session.fork}")
            continue
        if seq != before + 1:
            missing = f"entry {seq - 1}" if seq == before + 2 else f"entries {before + 1}–{seq - 1}"
            yield _finding(where, f"{missing} before it cannot be found")
        before = seq
        yield from (_finding(where, what, how) for what, how in _entry(db, row))


def _entry(db: Database, row: Row) -> Iterator[tuple[str, str]]:
    at, _, kind, role, _, hash, data = row
    if data is not None and not raw_rows.readable(data, rows.Extra):
        yield "its labels cannot be read", repair.RELABEL
    if kind == "message":
        contents, troubles = _parts(db, at)
    else:
        contents, troubles = _marker(db, at)
    for what in troubles:
        yield what, repair.WRAP
    signed = (role or "") if kind == "message" else kind
    if troubles or rows.intact(hash, signed, contents):
        return
    if contents:
        yield "it is not what was stored (its fingerprint differs)", ""
    else:
        yield "all of its parts are missing", repair.WRAP


def _parts(db: Database, at: int) -> tuple[list[bytes], list[str]]:
    contents, troubles = list[bytes](), list[str]()
    for place_, kind, size, blob, data in db.rows(_PARTS, parts_of(at, at)):
        ordinal = ordinal_of(place_)
        if ordinal != len(contents):
            troubles.append(f"part {len(contents)} is missing")
            contents += [b""] * (ordinal - len(contents))
        try:
            content = raw_rows.content(db, data, blob)
            part = rows.part(place_, content)
            if (kind_of(part), len(content)) != (kind, size):
                troubles.append(f"part {ordinal} is not of the kind and size that its row says")
        except Corrupt as why:
            content = b""
            troubles.append(f"part {ordinal} cannot be read: {why}")
        contents.append(content)
    return contents, troubles


def _marker(db: Database, at: int) -> tuple[list[bytes], list[str]]:
    stored = db.rows("SELECT kind, data FROM markers WHERE place = ?", (at,))
    if not stored:
        return [], ["its marker is missing"]
    kind, data = stored[0]
    try:
        if kind_of(rows.marker(at, raw_rows.stored_bytes(data))) != kind:
            return [], ["its marker is not of the kind that its row says"]
    except Corrupt as why:
        return [], [f"its marker cannot be read: {why}"]
    return [data], []


def _columns(db: Database, session: Found, line: Lineage) -> Iterator[Finding]:
    said, true = session.derived, raw_rows.derived(db, session, line)
    for name in said.__struct_fields__:
        one, other = getattr(said, name), getattr(true, name)
        if one != other:
            yield _finding(
                session.id, f"{name} is {one}, its entries say {other}", repair.RECOMPUTE
            )
    if not session.fork <= session.indexed <= max(said.head, session.fork):
        what = f"its search mark is {session.indexed}, outside its entries"
        yield Finding(area="search", what=what, where=session.id, mend=repair.RECOMPUTE)


def _markers(db: Database, session: Found, line: Lineage) -> Iterator[Finding]:
    """What the markers name and carry; those of the session's ancestors are read, not judged."""
    kinds: dict[Name, str] = {}
    for _, entry, before in standing(db, session, line):
        body = entry.body
        if entry.seq > session.fork:
            where = spot(session.id, entry.seq)
            if isinstance(body, Summary) and body.folded != before:
                what = "it carries another state than the markers before it give"
                yield _finding(where, what, repair.REFOLD)
            yield from (_finding(where, what) for what in faults(body, entry.seq - 1, kinds))
        kinds[entry.seq] = kinds[entry.id] = kind_of(body)
