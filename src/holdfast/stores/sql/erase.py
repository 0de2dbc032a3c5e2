"""Erasing a session: its rows, what only it used, and nothing of what others share with it."""

from __future__ import annotations

from typing import Any

from holdfast.failpoints import failpoint
from holdfast.model.span import Span, Spans, clip
from holdfast.model.store import Erased, OfBackups
from holdfast.stores.sql.blobs import drop_unused
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.files import contents_of
from holdfast.stores.sql.keys import MOST_ENTRIES, part_place, parts_of, place
from holdfast.stores.sql.lineage import unknown
from holdfast.stores.sql.notes import erase_notes


def erase(db: Database, id: str, backups: OfBackups = "rewrite") -> Erased:
    """Erase a session in one transaction; forks of it get their own copy of the beginning first.

    What its rows do not tell of, backups and the pages of a large index, is left to a job.
    """
    with db.writing():
        found = db.rows("SELECT n, parent, fork FROM sessions WHERE id = ?", (id,))
        if not found:
            raise unknown(id)
        number, parent, fork = found[0]
        failpoint("erase.before_copy")
        copied = _hand_over(db, number, parent, fork)
        entries, parts = _counted(db, number)
        failpoint("erase.before_delete")
        erase_notes(db, id, number)
        blobs = [*_blobs(db, number), *contents_of(db, "session = ?", (number,))]
        whole = _delete(db, number)
        failpoint("erase.before_sweep")
        swept = _sweep(db, blobs)
        # Last, so that what fails before leaves them; before the commit, so that none is forgotten.
        gone = db.discard(id, number, only_junk=backups == "rewrite")
        holding = db.holding(id, number) if backups == "rewrite" else ()
        if holding or not whole:
            db.run("INSERT INTO erasures VALUES (?, ?, '', 0, ?)", (number, id, 2 if whole else 0))
    held = [db.settle(), "" if whole else _INDEXED]
    return Erased(
        session=id, entries=entries, parts=parts, blobs=swept, copied=copied, backups=gone,
        holding=holding, held="; ".join(filter(None, held)),
    )  # fmt: skip


_INDEXED = "the search index, which is large, holds its words until a job has merged it"


def _blobs(db: Database, number: int) -> list[bytes]:
    """What the session has in blobs."""
    within = parts_of(place(number, 0), place(number, MOST_ENTRIES))
    of_session = "SELECT DISTINCT blob FROM parts WHERE place BETWEEN ? AND ? AND blob IS NOT NULL"
    return [blob for (blob,) in db.rows(of_session, within)]


def _sweep(db: Database, blobs: list[bytes]) -> int:
    """Remove those of these blobs that nothing refers to any more; how many went."""
    gone = 0
    for blob in blobs:
        gone += drop_unused(db, blob)
    return gone


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
            "INSERT INTO note_cursors SELECT ?, min(seq, ?) FROM note_cursors WHERE session = ? "
            "ON CONFLICT DO NOTHING",
            (child, shared, number),
        )
        db.run(
            "INSERT INTO file_changes (session, at, created, before, after, root, data) "
            "SELECT ?, at, created, before, after, root, data FROM file_changes "
            "WHERE session = ? AND at <= ? ORDER BY number",
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


def _delete(db: Database, number: int) -> bool:
    """Delete all rows of a session; whether its words are gone from the index as well."""
    entries = place(number, 0), place(number, MOST_ENTRIES)
    within = parts_of(*entries)
    one: tuple[Any, ...] = (number,)
    whole = db.forget_wholly(number, *within)
    for sql, values in (
        ("DELETE FROM counts WHERE part BETWEEN ? AND ?", within),
        ("DELETE FROM parts WHERE place BETWEEN ? AND ?", within),
        ("DELETE FROM markers WHERE place BETWEEN ? AND ?", entries),
        ("DELETE FROM entries WHERE place BETWEEN ? AND ?", entries),
        ("DELETE FROM keys WHERE session = ?", one),
        ("DELETE FROM calls WHERE place BETWEEN ? AND ?", entries),
        ("DELETE FROM givens WHERE session = ?", one),
        ("DELETE FROM jobs WHERE session = ?", one),
        ("DELETE FROM origins WHERE session = ?", one),
        ("DELETE FROM sources WHERE session = ?", one),
        ("DELETE FROM awaited WHERE session = ?", one),
        ("DELETE FROM snapshots WHERE session = ?", one),
        ("DELETE FROM file_changes WHERE session = ?", one),
        ("DELETE FROM sessions WHERE n = ?", one),
    ):
        db.run(sql, values)
    return whole
