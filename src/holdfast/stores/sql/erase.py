"""Erasing a session: its rows, what only it used, and nothing of what others share with it."""

from __future__ import annotations

from typing import Any

from holdfast.failpoints import failpoint
from holdfast.model.span import Span, Spans, clip
from holdfast.model.store import Erased
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.lineage import unknown
from holdfast.stores.sql.places import MOST_ENTRIES, part_place, parts_of, place


def erase(db: Database, id: str) -> Erased:
    """Erase a session in one transaction; forks of it get their own copy of the beginning first."""
    with db.writing():
        found = db.rows("SELECT n, parent, fork FROM sessions WHERE id = ?", (id,))
        if not found:
            raise unknown(db, id)
        number, parent, fork = found[0]
        failpoint("erase.before_copy")
        copied = _hand_over(db, number, parent, fork)
        entries, parts = _counted(db, number)
        failpoint("erase.before_delete")
        _delete(db, number)
        failpoint("erase.before_sweep")
        blobs = sweep(db)
        # Last, so that what fails before leaves them; before the commit, so that none is forgotten.
        backups = db.discard(id, number)
    return Erased(
        session=id, entries=entries, parts=parts, blobs=blobs, copied=copied, backups=backups,
        held=db.settle(),
    )  # fmt: skip


def _hand_over(db: Database, number: int, parent: int | None, fork: int) -> tuple[str, ...]:
    """Give each fork of a session its own copy of what it shares with it."""
    children = db.rows("SELECT n, id, fork FROM sessions WHERE parent = ?", (number,))
    for child, _, shared in children:
        _copy(db, number, child, clip((Span(fork + 1),), 1, shared))
        db.run(
            "INSERT INTO keys SELECT ?, key, first, many FROM keys "
            "WHERE session = ? AND first + many - 1 <= ? ON CONFLICT DO NOTHING",
            (child, number, shared),
        )
        db.run(
            "INSERT INTO snapshots SELECT ?, seq, version, data FROM snapshots "
            "WHERE session = ? AND seq <= ? ON CONFLICT DO NOTHING",
            (child, number, shared),
        )
        db.run(
            "UPDATE sessions SET parent = ?, fork = ?, indexed = ? WHERE n = ?",
            (parent, min(fork, shared), min(fork, shared), child),
        )
    return tuple(id for _, id, _ in children)


def _copy(db: Database, source: int, target: int, spans: Spans) -> None:
    shift = place(target, 0) - place(source, 0)
    for span in spans:
        first, last = place(source, span.first), place(source, span.last)
        for table, columns in _BY_ENTRY.items():
            db.run(_copying(table, "place", columns), (shift, first, last))
        for table, (key, columns) in _BY_PART.items():
            within = (part_place(shift, 0), *parts_of(first, last))
            db.run(_copying(table, key, columns), within)


_BY_ENTRY = {"entries": "id, kind, role, created, completed, hash, data", "markers": "kind, data"}
_BY_PART = {
    "parts": ("place", "kind, size, estimate, blob, data"),
    "counts": ("part", "counter, tokens"),
}


def _copying(table: str, key: str, columns: str) -> str:
    return (
        f"INSERT INTO {table} SELECT {key} + ?, {columns} FROM {table} WHERE {key} BETWEEN ? AND ?"
    )


def _counted(db: Database, number: int) -> tuple[int, int]:
    whole = place(number, 0), place(number, MOST_ENTRIES)
    ((entries,),) = db.rows("SELECT count(*) FROM entries WHERE place BETWEEN ? AND ?", whole)
    ((parts,),) = db.rows(
        "SELECT count(*) FROM parts WHERE place BETWEEN ? AND ?", parts_of(*whole)
    )
    return entries, parts


def _delete(db: Database, number: int) -> None:
    whole = place(number, 0), place(number, MOST_ENTRIES)
    within = parts_of(*whole)
    one: tuple[Any, ...] = (number,)
    db.forget(*within, wholly=True)
    for sql, values in (
        ("DELETE FROM counts WHERE part BETWEEN ? AND ?", within),
        ("DELETE FROM parts WHERE place BETWEEN ? AND ?", within),
        ("DELETE FROM markers WHERE place BETWEEN ? AND ?", whole),
        ("DELETE FROM entries WHERE place BETWEEN ? AND ?", whole),
        ("DELETE FROM keys WHERE session = ?", one),
        ("DELETE FROM calls WHERE session = ?", one),
        ("DELETE FROM givens WHERE session = ?", one),
        ("DELETE FROM jobs WHERE session = ?", one),
        ("DELETE FROM origins WHERE session = ?", one),
        ("DELETE FROM sources WHERE session = ?", one),
        ("DELETE FROM awaited WHERE session = ?", one),
        ("DELETE FROM snapshots WHERE session = ?", one),
        ("DELETE FROM sessions WHERE n = ?", one),
    ):
        db.run(sql, values)


def sweep(db: Database) -> int:
    """Remove blobs that nothing refers to; how many went."""
    unused = "NOT EXISTS (SELECT 1 FROM parts WHERE parts.blob = blobs.hash)"
    ((many,),) = db.rows(f"SELECT count(*) FROM blobs WHERE {unused}")
    if many:
        db.run(f"DELETE FROM blobs WHERE {unused}")
    return many
