"""Sessions that were there before the one they belong to: what they become once that is there.

Rule 1: one that shares nothing belongs to its parent as soon as there is one.
Rule 2: one that shares its beginning has all of it itself until then. Once its parent holds the
        very same entries, it is a fork that reads them there.
"""

from __future__ import annotations

from holdfast.errors import InvalidRequest
from holdfast.model.log import SessionInfo
from holdfast.model.span import Span
from holdfast.stores.sql.database import Database, Row
from holdfast.stores.sql.keys import parts_of, place
from holdfast.stores.sql.lineage import number_of_session, of_session, ranges, unknown

_PARENT = "SELECT parent FROM sessions WHERE n = ?"
_WAIT = (
    "INSERT INTO awaited VALUES (?, ?, ?) ON CONFLICT (session) DO UPDATE SET "
    "parent = excluded.parent, fork = excluded.fork"
)
_WAITING = (
    "SELECT a.session, a.fork, s.id FROM awaited a JOIN sessions s ON s.n = a.session "
    "WHERE a.parent = ? AND a.fork > 0 AND s.parent IS NULL AND s.head >= a.fork"
)
_ROWS = (
    "SELECT id, kind, role, created, completed, hash, data FROM entries "
    "WHERE place BETWEEN ? AND ? ORDER BY place"
)


def parent(db: Database, session: SessionInfo) -> int | None:
    """The number of a new session's parent; None where it has none, or none yet."""
    id = session.parent
    if not id:
        return None
    if id == session.id or not (id.isascii() and id.isprintable()):
        raise InvalidRequest(f"session {session.id} cannot belong to {id!r}; name another")
    found = db.rows("SELECT n FROM sessions WHERE id = ?", (id,))
    if not found and session.fork:
        raise unknown(id)
    return found[0][0] if found else None


def meet(db: Database, number: int, session: SessionInfo, *, belongs: bool) -> None:
    """Have a new session wait for its parent, and those that waited for it belong to it."""
    if session.parent and not belongs:
        db.run(_WAIT, (number, 0, session.parent))
    waited = db.rows("SELECT session FROM awaited WHERE parent = ? AND fork = 0", (session.id,))
    above = _above(db, number) if waited else ()
    for (child,) in waited:
        if child not in above:  # of two that name each other, only one can belong to the other
            _belong(db, child, number, 0)


def wait(db: Database, id: str, parent: str, fork: int) -> None:
    """Note that the first entries of a session are its parent's, which is not there yet."""
    db.run(_WAIT, (number_of_session(db, id), fork, parent))


def adopt(db: Database, id: str) -> tuple[str, ...]:
    """Let those that waited for a session share what they have in common with it; their ids."""
    waiting = db.rows(_WAITING, (id,))
    found = db.rows("SELECT n, head FROM sessions WHERE id = ?", (id,)) if waiting else []
    adopted: list[str] = []
    for number, head in found:
        above = _above(db, number)
        for child, fork, name in waiting:
            fits = fork <= head and child not in above
            if fits and _shared(db, id, fork) == _own(db, child, fork):
                _share(db, child, fork)
                _belong(db, child, number, fork)
                adopted.append(name)
    return tuple(adopted)


def _shared(db: Database, id: str, fork: int) -> list[Row]:
    line = of_session(db, id)
    return [row for span in ranges(line, (Span(1, fork),)) for row in db.rows(_ROWS, span)]


def _own(db: Database, child: int, fork: int) -> list[Row]:
    return db.rows(_ROWS, (place(child, 1), place(child, fork)))


def _share(db: Database, child: int, fork: int) -> None:
    """Drop the rows that are its parent's too."""
    whole = place(child, 1), place(child, fork)
    within = parts_of(*whole)
    db.forget(*within)
    db.run("UPDATE search_learned SET upto = ? WHERE n = ? AND upto < ?", (fork, child, fork))
    db.run("DELETE FROM counts WHERE part BETWEEN ? AND ?", within)
    db.run("DELETE FROM parts WHERE place BETWEEN ? AND ?", within)
    db.run("DELETE FROM markers WHERE place BETWEEN ? AND ?", whole)
    db.run("DELETE FROM entries WHERE place BETWEEN ? AND ?", whole)
    db.run("DELETE FROM keys WHERE session = ? AND first + many - 1 <= ?", (child, fork))


def _belong(db: Database, child: int, parent: int, fork: int) -> None:
    db.run(
        "UPDATE sessions SET parent = ?, fork = ?, "
        "indexed = CASE WHEN indexed < ? THEN ? ELSE indexed END WHERE n = ?",
        (parent, fork, fork, fork, child),
    )
    db.run("DELETE FROM awaited WHERE session = ?", (child,))


def _above(db: Database, number: int | None) -> set[int]:
    """A session, and all that it belongs to."""
    found: set[int] = set()
    while number is not None and number not in found:
        found.add(number)
        number = next((up for (up,) in db.rows(_PARENT, (number,))), None)
    return found
