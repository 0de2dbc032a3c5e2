"""The sessions port over SQL."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.errors import Corrupt, InvalidRequest
from holdfast.failpoints import failpoint
from holdfast.model import wire
from holdfast.model.log import SessionInfo
from holdfast.model.span import Span, clip
from holdfast.model.store import Changes, Erased, OfBackups, Page
from holdfast.stores.sql import orphans, rows
from holdfast.stores.sql.database import Database, Row
from holdfast.stores.sql.erase import erase
from holdfast.stores.sql.keys import MOST_SESSIONS, seq_of
from holdfast.stores.sql.lineage import Lineage, lineage, number_of_session, ranges, unknown

_COLUMNS = ", ".join(f"s.{column.strip()}" for column in rows.SESSION_COLUMNS.split(","))
_SELECT = (
    f"SELECT coalesce(p.id, a.parent), {_COLUMNS}, s.data, s.id FROM sessions s "
    "LEFT JOIN sessions p ON p.n = s.parent "
    "LEFT JOIN awaited a ON a.session = s.n AND a.fork = 0"
)
UNREADABLE = "[this session's row cannot be read: run `holdfast doctor`]"
_BELONGING = ("calls", "givens", "jobs", "origins", "sources", "awaited")
"""Tables whose rows belong to a session by its number."""

_EMPTY = " AND ".join((
    "SELECT n FROM sessions s WHERE id = ? AND head = 0",
    "NOT EXISTS (SELECT 1 FROM sessions o WHERE o.parent = s.n)",
    *(f"NOT EXISTS (SELECT 1 FROM {table} o WHERE o.session = s.n)" for table in _BELONGING),
))  # fmt: skip
_INSERT = (
    "INSERT INTO sessions (id, parent, fork, updated, compacted, archived, head, last_message, "
    "last_marker, indexed, project, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class SqlSessions:
    """Sessions as rows of `sessions`; what came from outside is JSON in `data`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def create(self, session: SessionInfo) -> SessionInfo:
        if not (session.id and session.id.isascii() and session.id.isprintable()):
            raise InvalidRequest(
                f"{session.id!r} cannot be the id of a session; use printable ASCII"
            )
        with self._db.writing():
            if self._find(session.id):
                raise InvalidRequest(
                    f"session {session.id!r} exists already; resume it, or use a new id"
                )
            if session.fork and not session.parent:
                raise InvalidRequest(f"a fork at {session.fork} of no session; name its parent")
            parent = orphans.parent(self._db, session)
            made = _fresh(session) if parent is None else self._forked(session)
            self._db.run(_INSERT, (made.id, parent, *_columns(made)))
            failpoint("session.after_insert")
            number = number_of_session(self._db, made.id)
            if number > MOST_SESSIONS:
                raise InvalidRequest(
                    "this store holds as many sessions as it can; open another store"
                )
            orphans.meet(self._db, number, made, belongs=parent is not None)
        return made

    async def find(self, id: str) -> SessionInfo | None:
        found = self._find(id)
        return _session(found) if found else None

    async def session(self, id: str) -> SessionInfo:
        found = self._find(id)
        if not found:
            raise unknown(id)
        return _session(found)

    async def beginning(self, prefix: str) -> tuple[str, ...]:
        if not prefix.isascii():
            return ()
        begun = "SELECT id FROM sessions WHERE id >= ? AND id < ?"
        found = [self._db.rows(begun, (one, f"{one}~~")) for one in {prefix, prefix.upper()}]
        return tuple(sorted({id for rows_ in found for (id,) in rows_}))

    async def set(self, id: str, changes: Changes) -> SessionInfo:
        with self._db.writing():
            found = self._find(id)
            if not found:
                raise unknown(id)
            changed = {
                k: v for k in changes.__struct_fields__ if (v := getattr(changes, k)) is not None
            }
            made = replace(_session(found), **changed)
            self._db.run(
                # What is found by its project is indexed again where that changes.
                "UPDATE sessions SET indexed = CASE WHEN project = ? THEN indexed ELSE fork END, "
                "archived = ?, project = ?, data = ? WHERE id = ?",
                (project := wire.encode(made.project), made.archived, project, _data(made), id),
            )
        return made

    async def list(self, page: Page) -> tuple[SessionInfo, ...]:
        where, values = ["(s.archived <> 0) = ?"], [page.archived]
        if page.project is not None:
            where.append("s.project = ?")
            values.append(wire.encode(page.project))  # type: ignore[arg-type]
        if page.after is not None:
            where.append("(s.updated < ? OR (s.updated = ? AND s.id < ?))")
            values += [page.after[0], *page.after]  # type: ignore[list-item]
        found = self._db.rows(
            f"{_SELECT} WHERE {' AND '.join(where)} ORDER BY s.updated DESC, s.id DESC LIMIT ?",
            (*values, page.limit),
        )
        return tuple(_listed(row) for row in found)

    async def await_parent(self, id: str, parent: str, fork: int) -> None:
        with self._db.writing():
            orphans.wait(self._db, id, parent, fork)

    async def adopt_children(self, id: str) -> tuple[str, ...]:
        with self._db.writing():
            return orphans.adopt(self._db, id)

    async def discard(self, id: str) -> bool:
        with self._db.writing():
            found = self._db.rows(_EMPTY, (id,))
            for (number,) in found:
                self._db.run("DELETE FROM sessions WHERE n = ?", (number,))
        return bool(found)

    async def erase(self, id: str, *, backups: OfBackups = "rewrite") -> Erased:
        return erase(self._db, id, backups)

    def _find(self, id: str) -> Row | None:
        found = self._db.rows(f"{_SELECT} WHERE s.id = ?", (id,))
        return found[0] if found else None

    def _forked(self, session: SessionInfo) -> SessionInfo:
        """The session with what it shares of its parent's line."""
        parent = self._find(session.parent)
        if not parent:
            raise unknown(session.parent)
        whole = _session(parent)
        if not 0 <= session.fork <= whole.head:
            raise InvalidRequest(
                f"session {session.parent} has no entry {session.fork} to fork at; "
                f"name one up to {whole.head}"
            )
        line = lineage(self._db, *parent[1:4])
        shared = clip((Span(1),), 1, session.fork)
        last = {"message": 0, "marker": 0}
        for first, end in ranges(line, shared):
            for kind in last:
                last[kind] = self._last(first, end, kind) or last[kind]
        return replace(
            _fresh(session),
            fork=session.fork,
            head=session.fork,
            last_message=last["message"],
            last_marker=last["marker"],
            compacted=self._compacted(line, session.fork),
        )

    def _compacted(self, line: Lineage, last: int) -> int:
        """When the newest Summary up to `last` was made."""
        for first, end in reversed(list(ranges(line, clip((Span(1),), 1, last)))):
            found = self._db.rows(
                "SELECT e.created FROM markers m JOIN entries e ON e.place = m.place WHERE "
                "m.place BETWEEN ? AND ? AND m.kind = 'summary' ORDER BY m.place DESC LIMIT 1",
                (first, end),
            )
            if found:
                return found[0][0]
        return 0

    def _last(self, first: int, last: int, kind: str) -> int:
        table = "markers" if kind == "marker" else "entries"
        only = "" if kind == "marker" else " AND kind = 'message'"
        found = self._db.rows(
            f"SELECT place FROM {table} WHERE place BETWEEN ? AND ?{only} "
            "ORDER BY place DESC LIMIT 1",
            (first, last),
        )
        return seq_of(found[0][0]) if found else 0


def _fresh(session: SessionInfo) -> SessionInfo:
    return replace(
        session, updated=max(session.updated, session.created), compacted=0, head=0,
        last_message=0, last_marker=0,
    )  # fmt: skip


def _data(session: SessionInfo) -> bytes:
    """What `data` holds: everything that is no column."""
    return wire.encode(
        replace(
            session, parent="", fork=0, updated=0, compacted=0, archived=0, head=0, last_message=0,
            last_marker=0,
        )
    )  # fmt: skip


def _columns(session: SessionInfo) -> Row:
    s = session
    return (
        s.fork, s.updated, s.compacted, s.archived, s.head, s.last_message, s.last_marker, s.head,
        wire.encode(s.project), _data(s),
    )  # fmt: skip


def _session(row: Row) -> SessionInfo:
    return rows.session(row[1:-1], row[0] or "")


def _listed(row: Row) -> SessionInfo:
    """A session for a list; one whose row cannot be read says so, and hides no other."""
    try:
        return _session(row)
    except Corrupt:
        updated, head = row[4], row[7]
        return SessionInfo(
            id=row[-1], created=updated, updated=updated, head=head, title=UNREADABLE
        )
